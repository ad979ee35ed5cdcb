"""Short random schedules against the real gateway: `python -m tests.chaos --help`.

The gateway is the real process; the platforms, the people and the model are in this one, which
stays when it is killed. After each schedule every question must have exactly one complete answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.chaos.plan import Policy
from tests.chaos.run import A_HOME, Played, Run, Wanted, more_plans, random_plans
from tests.chaos.stage import CHANNELS, stage_of
from tests.chaos.table import POLICIES, Row, points, table
from tests.kit.burning import burning

MOST_ROUNDS: Final = 5
"""Maximum number of times that schedules are added for kill points that were not reached."""


async def _play(options: argparse.Namespace, keep: Path) -> list[Played]:
    policies = _policies(options)
    async with burning(options.burn):
        run = Run(keep, options.side_by_side, options.a_home, options.fresh, options.talk)
        run.until = time.monotonic() + options.seconds
        await run.play(_wanted(options, policies))
        for number in range(MOST_ROUNDS if options.each_point else 0):
            seed = f"{options.seed}.{options.first}+{number}"
            rows = [each.as_json() for each in run.played]
            more = [
                plan
                for channel in options.channel
                for plan in more_plans(channel, seed, rows, policies, options.each_point)
            ]
            await run.play(more)
    return run.played


def _policies(options: argparse.Namespace) -> tuple[Policy, ...]:
    return POLICIES if options.policy == "both" else (options.policy,)


def _wanted(options: argparse.Namespace, policies: Sequence[Policy]) -> list[Wanted]:
    first, count = options.first, options.schedules
    if options.plan:
        return [Wanted(options.channel[0], options.only[0], options.plan, policies[0])] * count
    return [
        plan
        for channel in options.channel
        for plan in random_plans(channel, options.seed, first, count, options.only, policies)
    ]


def main() -> None:
    """Play what the command line asks for; print the tables, and write the JSON."""
    options = _options()
    # Whoever ends this leaves no gateway behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    keep = Path(tempfile.mkdtemp(prefix="tapeway-chaos-"))
    begun = time.monotonic()
    played = asyncio.run(_play(options, keep))
    rows = [each.as_json() for each in played]
    for channel in options.channel:
        print(table(channel, rows, str(options.seed)), end="\n\n")
    print(f"{time.monotonic() - begun:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    if any(each.verdict.failed for each in played) or _not_reached(options, rows):
        sys.exit(1)
    shutil.rmtree(keep, ignore_errors=True)


def _not_reached(options: argparse.Namespace, rows: Sequence[Row]) -> bool:
    """Return, and print, whether a kill point was reached in too few schedules."""
    few = [
        f"{channel} {point} under {policy}: {reached} of {options.each_point}"
        for channel in options.channel
        for policy in _policies(options)
        for point, reached in points(channel, policy, rows).items()
        if reached < options.each_point
    ]
    print("".join(f"NOT REACHED often enough: {each}\n" for each in few), end="")
    return bool(few)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    add = parser.add_argument
    add("--channel", nargs="+", choices=list(CHANNELS), default=list(CHANNELS))
    add("--seed", type=int, default=1, help="what the schedules are made of")
    add("--schedules", type=int, default=60, metavar="N", help="so many random ones a channel")
    add("--first", type=int, default=0, metavar="N", help="the number of the first of them")
    add("--each-point", type=int, default=0, metavar="N", help="schedules that reach each kill")
    add("--only", nargs="+", default=[], metavar="FAULT", help="not every fault in turn")
    add("--policy", choices=("resend", "hold", "both"), default="both")
    add("--plan", metavar="SEED", help="the one schedule of a seed as it is told, --only its fault")
    add("--side-by-side", type=int, default=6, metavar="N", help="gateways at once")
    add("--a-home", type=int, default=A_HOME, metavar="N", help="schedules each")
    add("--fresh", type=int, default=0, metavar="N", help="each Nth home forks no gateway")
    add("--talk", type=int, default=0, metavar="N", help="messages that wait at each beginning")
    add("--burn", type=int, default=0, metavar="N", help="so many processes compute beside it")
    add("--seconds", type=float, default=math.inf, help="begin none after so long")
    add("--json", type=Path, metavar="FILE", help="write what came of each there")
    options = parser.parse_args()
    known = {fault for channel in options.channel for fault in stage_of(channel).menu.faults}
    if unknown := set(options.only) - known:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return options


if __name__ == "__main__":
    main()
