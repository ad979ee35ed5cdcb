"""Kills, stops, freezes and database restarts in a fleet: `python -m tests.fleet --help`.

Ingress processes and workers share one PostgreSQL. Telegram, Discord and Slack, the people there
and the model are in this process, which stays. In the end every question must have one answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.fleet.members import Role
from tests.fleet.run import Outcome, Run, Shape
from tests.fleet.troubles import Counts
from tests.fleet.verdicts import COUNTS
from tests.postgres import Server, server

DURABLE: Final = ("synchronous_commit=on",)
"""What was committed must stand after the server has crashed; only the machine does not."""

LONG: Final = Shape(
    seconds=1620.0,
    rate=3.0,
    patience=300.0,
    waits=420.0,
    counts=Counts(kill=200, stop=60, restart=20, freeze=30, cut=60, swallow=30),
)
_EVENT: Final = re.compile(r'"event":"([^"]+)".*"level":"(warning|error|critical)"')
_TRACEBACK: Final = "Traceback (most recent call last)"
REFUSED: Final = "warning fence.refused"
MAX_EVENTS: Final = 25
HELD_BACK_SECONDS: Final = 10.0


def main() -> None:
    """Play what the command line asks for; print the table, and what is behind each failure."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no process is left behind
    shape = _shape(options)
    keep = Path(tempfile.mkdtemp(prefix="tapeway-fleet-"))
    with server(DURABLE) as own:
        outcome = asyncio.run(_play(shape, own, keep))
    print(report(outcome))
    if options.keep:
        print(f"the processes' logs: {keep}")
        return
    if outcome.failed:
        print(f"FAILED; seed {shape.seed}; the processes' logs: {keep}")
        sys.exit(1)
    shutil.rmtree(keep, ignore_errors=True)


async def _play(shape: Shape, own: Server, keep: Path) -> Outcome:
    return await Run(shape, own, keep).play()


def report(outcome: Outcome) -> str:
    """Return the table, the troubles, the warnings of the processes, and the ways of failures."""
    head = f"{'':10}" + "".join(f"{name:>13}" for name in (*COUNTS, "given up"))
    lines = ["", head]
    sums: Counter[str] = Counter()
    for one in outcome.judged:
        counts = {**one.verdict.counts, "given up": one.verdict.errors + one.verdict.held}
        sums.update(counts)
        lines.append(_row(one.channel, counts))
    lines += [_row("all", sums), ""]
    done = ", ".join(f"{count} x {kind}" for kind, count in outcome.troubles.items())
    load = os.getloadavg()[0]
    said = events(outcome.logs)
    lines += [
        _verdict(sums, said),
        f"{done}; {outcome.seconds:.0f} s; load {load:.1f} on {os.cpu_count()} cores",
    ]
    if outcome.pace.held_back > HELD_BACK_SECONDS:
        cut_short = "; some of it was left out" if outcome.pace.given_up else ""
        lines.append(
            f"the machine is slow: {outcome.pace.held_back:.0f} s longer; the database answers"
            f" after {outcome.slowest:.1f} s at most{cut_short}"
        )
    lines += ["the processes said:", *_most(said), ""]
    lines += [f"! {note}" for note in outcome.notes]
    for one in outcome.judged:
        lines += [f"{'!' if one.failed else '.'} {one.channel}: {n}" for n in one.verdict.notes]
        lines += one.ways
    return "\n".join(lines)


def _verdict(sums: Counter[str], said: Counter[str]) -> str:
    return (
        f"{sums['lost'] + sums['given up']} lost, {sums['disorder']} out of order,"
        f" {sums['outside'] + sums['acted_twice']} doubled outside the declared window and"
        f" {sums['inside']} inside; {said[REFUSED]} writes refused by the fence"
    )


def _row(name: str, counts: Counter[str] | dict[str, int]) -> str:
    return f"{name:10}" + "".join(f"{counts[column]:>13}" for column in (*COUNTS, "given up"))


def events(logs: Sequence[Path]) -> Counter[str]:
    """Return how often the processes warned of what."""
    found: Counter[str] = Counter()
    for log in logs:
        text = log.read_text(errors="replace")
        found.update(f"{level} {event}" for event, level in _EVENT.findall(text))
        found[_TRACEBACK] += text.count(_TRACEBACK)
    return found


def _most(found: Counter[str]) -> list[str]:
    return [f"  {count:6} {event}" for event, count in found.most_common(MAX_EVENTS) if count]


def _shape(options: argparse.Namespace) -> Shape:
    shape = LONG if options.long else Shape()
    named = {
        name: value
        for name in ("seconds", "rate", "talk", "lease", "patience", "waits", "seed")
        if (value := getattr(options, name)) is not None
    }
    counts = {
        name: value
        for name in ("kill", "stop", "restart", "freeze", "cut", "swallow")
        if (value := getattr(options, name)) is not None
    }
    roles: tuple[Role, ...] = tuple(options.roles) if options.roles else shape.roles
    return replace(shape, roles=roles, counts=replace(shape.counts, **counts), **named)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fleet", description=__doc__)
    add = parser.add_argument
    add("--long", action="store_true", help="half an hour: 200 kills, 60 stops, 20 restarts")
    add("--roles", nargs="+", choices=("all", "ingress", "worker"), help="the processes")
    add("--seconds", type=float, help="so long people ask and things go wrong")
    add("--rate", type=float, help="questions a second")
    add("--talk", type=int, metavar="N", help="messages that ask nothing, at once, now and then")
    add("--lease", type=float, help="seconds of the leases")
    add("--patience", type=float, metavar="SECONDS", help="while nothing changes in the end")
    add("--waits", type=float, metavar="SECONDS", help="at most, for a slow machine")
    add("--seed", help="what the run is made of")
    add("--keep", action="store_true", help="keep the processes' logs")
    for name in ("kill", "stop", "restart", "freeze", "cut", "swallow"):
        add(f"--{name}", type=int, metavar="N", help=f"so many times: {name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
