"""The options of every command that reads annotated logs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

from bench.irc import WARM, Links, Log, logs, read

PLACE: Final = "a folder of annotated logs, or names in one: 'DIR/*.[0-8]'"


def add_log_options(parser: argparse.ArgumentParser, *, warm: int = WARM) -> None:
    """Add --data, and what overrules the logs' own word."""
    parser.add_argument("--data", nargs="+", required=True, metavar="PLACE", help=PLACE)
    parser.add_argument("--first-line", type=int, help="not the first annotated line, but this one")
    parser.add_argument("--warm", type=int, default=warm, help="lines before the first query")
    parser.add_argument("--links", choices=get_args(Links), help="what the annotation's links are")


def find_logs(places: Sequence[str]) -> list[Path]:
    """Return the logs of places; exit if one has none."""
    for place in places:
        if not logs(place):
            sys.exit(f"{place}: no NAME.ascii.txt with a NAME.annotation.txt beside it")
    return logs(*places)


def find_conversations(options: argparse.Namespace) -> list[Path]:
    """Return the logs that were asked for, without those of replies; exit if none is left."""
    found = find_logs(options.data)
    fitting = [path for path in found if read_as(options, path).links == "conversations"]
    if not fitting:
        places = ", ".join(options.data)
        sys.exit(f"{places}: the links are replies; use python -m bench.replies, or --links")
    return fitting


def read_as(options: argparse.Namespace, path: Path) -> Log:
    """Read a log as the options say."""
    return read(path, options.first_line, options.links)


def refuse_overlap(parts: dict[str, list[Path]]) -> None:
    """Exit if a log is in two parts: it would be judged by what was learned from it."""
    known: dict[Path, str] = {}
    for part, paths in parts.items():
        for path in paths:
            other = known.setdefault(path.resolve(), part)
            if other != part:
                raise SystemExit(f"{path} is in --{other} and in --{part}; a log has one use")
