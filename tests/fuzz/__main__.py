"""Search each parser for minutes, and measure it on 64 KB: `python -m tests.fuzz --seconds 600`.

A failure is printed with its smallest input, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.fuzz.parsers import PARSERS, Parser

LARGE = 64_000
SHAPES = (
    *("*a ", "**a", "`a ", "[", "[a](", ">", "- ", "```\n", "|a|b|\n|-|-|\n", "<a", "<!--", "_a_b"),
    *(
        "![a](b)",
        "[a]: b\n",
        "$a$b",
        "||a",
        "&amp;",
        "\\*",
        "1. a\n",
        "a ",
        "e\u0301",
        "\u4e2d",
        "{",
    ),
    *(
        "http://a_b~",
        "data: {}\n\n",
        ",a=b ",
        '"',
        "\x00",
        "> - > - a\n",
        "@",
        "a" * 64,
        "[a]",
        "?a=b&",
    ),
)
OF_TEXT = ("stream", "command", "markdown", "url", "html", "redaction")


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=float, default=600.0, help="a parser (600)")
    options.add_argument("--only", nargs="+", choices=PARSERS, default=list(PARSERS))
    chosen = options.parse_args()
    return max([_searched(name, PARSERS[name], chosen.seconds) for name in chosen.only], default=0)


def _searched(name: str, parser: Parser, seconds: float) -> int:
    until, tried, slowest = time.monotonic() + seconds, 0, 0.0

    @settings(
        max_examples=500, deadline=None, database=None, derandomize=False,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(parser.inputs)
    def search(given: Any) -> None:
        nonlocal tried, slowest
        tried += 1
        slowest = max(slowest, _seconds(parser, given))

    try:
        while time.monotonic() < until:
            search()
    except Exception as cause:
        print(
            f"{name}: {type(cause).__name__}: {cause}", *getattr(cause, "__notes__", ()), sep="\n"
        )
        return 1
    large = _large(parser) if name in OF_TEXT else 0.0
    print(
        f"{name:10} {tried:8} inputs, slowest {slowest:.3f} s; 64 KB {large:.3f} s of CPU",
        flush=True,
    )
    return 0


def _large(parser: Parser) -> float:
    return max(_seconds(parser, (shape * LARGE)[:LARGE]) for shape in SHAPES)


def _seconds(parser: Parser, given: Any) -> float:
    begun = time.thread_time()
    with contextlib.suppress(*parser.refuses):
        parser.parse(given)
    return time.thread_time() - begun


if __name__ == "__main__":
    sys.exit(main())
