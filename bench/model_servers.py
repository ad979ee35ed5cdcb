"""Model servers of every kind, and what a person sees of each: `python -m bench.model_servers`.

A real gateway runs between a person in a room and a scripted server, which sends what a provider
sends; with --foreign, between a person and servers that nobody here wrote. The table says what the
person saw and what the tape holds.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import structlog

from bench.figures import progress
from bench.foreign_servers import SCENARIOS as FOREIGN
from bench.foreign_servers import play_foreign
from tests.model_servers.catalog import SCENARIOS
from tests.model_servers.play import play
from tests.model_servers.scenario import Outcome, Scenario, faults

MAX_CELL: Final = 160
"""Maximum characters of what a person saw, in the table."""

HEAD: Final = ("part", "scenario", "what the person saw", "what the tape holds", "calls", "holds")


Playing = Callable[[Path], Awaitable[Outcome]]
"""Plays a scenario in a new home."""


async def run(chosen: Iterable[tuple[Scenario, Playing]]) -> list[tuple[str, ...]]:
    """Play scenarios one after another; return a row for each."""
    rows = []
    for scenario, playing in chosen:
        begun = time.monotonic()
        with TemporaryDirectory(prefix="tapeway-bench-") as home:
            outcome = await playing(Path(home))
        wrong = faults(scenario, outcome)
        took = time.monotonic() - begun
        progress(f"{'NO ' if wrong else 'yes'} {took:5.2f} s  {scenario.name} {wrong or ''}")
        rows.append(row_of(scenario, outcome, wrong))
    return rows


def playing_of(folder: Path | None) -> list[tuple[Scenario, Playing]]:
    """Return the scenarios: of our own server, or of those in a folder."""
    if folder is None:
        return [(one, partial(play, one)) for one in SCENARIOS]
    tools = folder.absolute()
    return [(one.scenario, partial(play_foreign, one, tools=tools)) for one in FOREIGN]


def row_of(scenario: Scenario, outcome: Outcome, wrong: Sequence[str]) -> tuple[str, ...]:
    """Return a scenario's row of the table."""
    seen = " / ".join(map(_short, outcome.seen))
    tape = _folded(outcome.tape().split(" "))
    calls = str(len(outcome.requests)) if outcome.requests else "-"
    return scenario.part, scenario.name, seen, tape, calls, "NO" if wrong else "yes"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CELL else f"{line[:MAX_CELL]}..."


def _folded(names: Sequence[str]) -> str:
    """Return names in a line; one that repeats at once stands there once, with its number."""
    found: list[list[str]] = []
    for name in names:
        if found and found[-1][0] == name:
            found[-1].append(name)
        else:
            found.append([name])
    return " ".join(f"{one[0]} x{len(one)}" if len(one) > 1 else one[0] for one in found)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as a table of Markdown."""
    lines = (HEAD, ("---",) * len(HEAD), *rows)
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return printable.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Play what the command line names, and print the table; exit with 1 if any does not hold."""
    options = _options()
    logging.disable()  # what goes wrong is the point
    structlog.configure(processors=[_drop])
    wanted = options.only.casefold()
    chosen = [
        one
        for one in playing_of(options.foreign)
        if wanted in f"{one[0].part} {one[0].name}".casefold()
    ]
    rows = asyncio.run(run(chosen))
    print(table(rows))
    held = sum(row[-1] == "yes" for row in rows)
    progress(f"{held} of {len(rows)} hold")
    sys.exit(held < len(rows))


def _drop(*_event: object) -> str:
    raise structlog.DropEvent


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.model_servers", description=__doc__)
    parser.add_argument(
        "--foreign", type=Path, metavar="DIR", help="a folder with servers from npm and PyPI"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="of those with this in the name")
    return parser.parse_args()


if __name__ == "__main__":
    main()
