"""What it costs to draw an answer that grows: `python -m bench.rendering --help`.

An answer of 4 KB comes in 200 deltas, in ten seconds, and each target draws what it has of it at
its own interval. The answers begin with a number, so that none is remembered. Printed is the CPU
an answer takes, in ms, the median of the rounds; with --base also the same of another checkout,
measured in turns with this one, and the median of the ratios. Then forty hostile texts of 10 KB:
the longest that a call of each target holds the event loop.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, Protocol

from bench.figures import Bar, Figure, progress, report
from bench.rendering.targets import TARGETS
from bench.rendering.texts import ANSWERS, SHAPES, hostile

HERE: Final = Path(__file__).parents[2]
DELTAS: Final = 200
HOSTILE_DELTAS: Final = 20
ROUNDS: Final = 9
RATIO_BAR: Final = Bar("<", 1.03)
LOOP_BAR: Final = Bar("<", 20)


class Draws(Protocol):
    """Draws an answer; returns seconds of CPU: `cpu` in all, `longest` of a call on the loop."""

    def __call__(self, target: str, text: str, deltas: int) -> dict[str, float]: ...


@contextmanager
def drawing(tree: Path) -> Iterator[Draws]:
    """Yield what draws in a process of its own, with the packages of a checkout."""
    script = Path(__file__).with_name("targets.py")
    process = subprocess.Popen(
        [sys.executable, "-P", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tree)},
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    given, found = process.stdin, process.stdout

    def draw(target: str, text: str, deltas: int) -> dict[str, float]:
        task = {"target": target, "text": text, "deltas": deltas}
        print(json.dumps(task), file=given, flush=True)
        took: dict[str, float] = json.loads(found.readline())
        return took

    with process:
        try:
            yield draw
        finally:
            given.close()


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of CPU of an answer, once a round: of this tree, and of the other one."""

    own: list[float]
    base: list[float]


def costs(target: str, text: str, draws: list[Draws], rounds: int) -> Costs:
    """Draw an answer in turns by each; the first round only warms up."""
    found: list[list[float]] = [[] for _ in draws]
    for number in range(rounds + 1):
        order = list(enumerate(draws))
        for at, draw in order if number % 2 else reversed(order):
            took = draw(target, f"{number}. {target}\n\n{text}", DELTAS)
            if number:
                found[at].append(took["cpu"])
    return Costs(found[0], found[1] if len(found) > 1 else [])


def answer_figures(draws: list[Draws], targets: list[str], rounds: int) -> Iterator[Figure]:
    """Yield what each answer costs each target, and its ratios."""
    for target in targets:
        ratios: list[float] = []
        for name, text in ANSWERS.items():
            progress(f"{target}: {name}")
            found = costs(target, text, draws, rounds)
            yield Figure(f"{target}, {name}: CPU an answer", median(found.own) * 1e3, "ms")
            if found.base:
                pairs = zip(found.own, found.base, strict=True)
                ratios.append(median(own / base for own, base in pairs))
                yield Figure(f"{target}, {name}: before", median(found.base) * 1e3, "ms")
                yield Figure(f"{target}, {name}: ratio", ratios[-1], "x", RATIO_BAR)
        if ratios:
            yield Figure(f"{target}: ratio of the four", sum(ratios) / len(ratios), "x", RATIO_BAR)


def hostile_figures(draw: Draws, targets: list[str], texts: list[str]) -> Iterator[Figure]:
    """Yield the longest that a hostile text holds the event loop, for each target that has one."""
    for target in targets:
        progress(f"{target}: hostile texts")
        draw(target, ANSWERS["English"], HOSTILE_DELTAS)
        took = [
            min(_longest(draw, target, f"{number}\n\n{text}") for number in range(2))
            for text in texts
        ]
        worst = max(range(len(took)), key=took.__getitem__)
        name = f"{target}: longest on the loop of {len(took)} texts ({SHAPES[worst]!r})"
        yield Figure(name, took[worst] * 1e3, "ms", LOOP_BAR)


def _longest(draw: Draws, target: str, text: str) -> float:
    return draw(target, text, HOSTILE_DELTAS)["longest"]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.rendering", description=__doc__)
    parser.add_argument("--base", type=Path, metavar="PATH", help="a checkout to compare with")
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    with drawing(HERE) as own, drawing(given.base or HERE) as base:
        draws = [own, base] if given.base else [own]
        figures = list(answer_figures(draws, given.only, given.rounds))
        figures += hostile_figures(own, given.only, hostile())
    report(figures, given.json)


if __name__ == "__main__":
    main()
