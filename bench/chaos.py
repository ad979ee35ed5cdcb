"""Short random schedules against the real gateway: `python -m bench.chaos --help`.

The gateway is the real process; Telegram and the model are fakes in this one, which stay when it
is killed. After each schedule every question must have exactly one complete answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.chaos_oracle import Verdict, judge
from bench.chaos_plan import FAULTS, Plan, Policy, make_plan
from bench.chaos_stage import play
from bench.figures import progress

COLUMNS: Final = (
    "asked",
    "kills",
    "lost",
    "outside",
    "inside",
    "orphans",
    "disorder",
    "acted_twice",
    "held",
    "errors",
)

A_HOME: Final = 8
"""So many schedules are played on one home, one after the other: a start takes seconds."""

Wanted = tuple[str, str, Policy]
"""A fault, a seed and a policy."""


@dataclass(frozen=True, slots=True)
class Played:
    """A schedule and what came of it; `home` is empty where nothing is left to look at."""

    plan: Plan
    verdict: Verdict
    seconds: float
    home: str


async def play_all(
    plans: Sequence[Wanted],
    side_by_side: int,
    keep: Path,
    a_home: int = A_HOME,
    seconds: float = math.inf,
) -> list[Played]:
    """Play schedules, some homes side by side; the homes of those that failed are kept.

    None is begun on another home after so many seconds.
    """
    until = time.monotonic() + seconds
    played: list[Played] = []
    waiting = list(reversed(plans))

    async def work() -> None:
        while waiting and time.monotonic() < until:
            some = [waiting.pop() for _number in range(min(a_home, len(waiting)))]
            own = await _play(some, keep)
            waiting.extend(reversed(some[len(own) :]))
            played.extend(own)
            for each in own:
                if each.verdict.failed:
                    _tell(each)
            counts = " ".join(f"{each.plan.fault}:{each.seconds:.0f}s" for each in own)
            progress(f"{len(played)} of {len(plans)} schedules ({counts})")

    async with asyncio.TaskGroup() as group:
        for _number in range(side_by_side):
            group.create_task(work())
    return played


async def _play(wanted: Sequence[Wanted], keep: Path) -> list[Played]:
    folder = Path(tempfile.mkdtemp(prefix="chaos-", dir=keep))
    plans = [make_plan(*each, first=number * 10) for number, each in enumerate(wanted)]
    records = await play(plans, folder, lambda record: not judge(record).failed)
    verdicts = [judge(record) for record in records]
    failed = verdicts[-1].failed
    if failed:
        last = records[-1]
        told = {"plan": last.plan.as_json(), "notes": verdicts[-1].notes, "texts": last.texts}
        (folder / "schedule.json").write_text(json.dumps(told, indent=1))
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return [
        Played(record.plan, verdict, record.seconds, str(folder) if verdict.failed else "")
        for record, verdict in zip(records, verdicts, strict=True)
    ]


def _tell(played: Played) -> None:
    notes = "\n".join(f"  ! {note}" for note in played.verdict.notes)
    print(f"\nFAILED: {played.plan.told()}\n{notes}\n  home: {played.home}", flush=True)


def table(played: list[Played], seed: int) -> str:
    """Return a line a fault, and the sum."""
    names = ("schedules", *COLUMNS)
    lines = [f"{'fault':18}" + "".join(f"{name:>12}" for name in names)]
    for fault in [*FAULTS, ""]:
        own = [each for each in played if fault in ("", each.plan.fault)]
        if own:
            sums = [len(own), *(sum(getattr(e.verdict, name) for e in own) for name in COLUMNS)]
            lines.append(f"{fault or 'all':18}" + "".join(f"{count:>12}" for count in sums))
    return "\n".join([*lines, f"seed {seed}"])


def main() -> None:
    """Play what the command line asks for; print the table, and write the JSON."""
    options = _options()
    faults = options.only or list(FAULTS)
    policy: Policy = options.policy
    plans: list[Wanted] = [
        (faults[number % len(faults)], f"{options.seed}.{number // len(faults)}", policy)
        for number in range(options.schedules)
    ]
    if options.plan:
        plans = [(faults[0], options.plan, policy)] * options.schedules
    keep = Path(tempfile.mkdtemp(prefix="tapeway-chaos-"))
    begun = time.monotonic()
    played = asyncio.run(
        play_all(plans, options.side_by_side, keep, options.a_home, options.seconds)
    )
    print(table(played, options.seed))
    print(f"{time.monotonic() - begun:.0f} s")
    if options.json:
        options.json.write_text(json.dumps([_as_json(each) for each in played], indent=1))
    if any(each.verdict.failed for each in played):
        sys.exit(1)
    shutil.rmtree(keep, ignore_errors=True)


def _as_json(played: Played) -> dict[str, Any]:
    counts = {name: getattr(played.verdict, name) for name in COLUMNS}
    plan = {"fault": played.plan.fault, "seed": played.plan.seed, "policy": played.plan.policy}
    return plan | counts | {"notes": played.verdict.notes, "home": played.home}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="what the schedules are made of")
    parser.add_argument("--schedules", type=int, default=len(FAULTS) * 2, metavar="N")
    parser.add_argument(
        "--only", nargs="+", choices=FAULTS, metavar="FAULT", help=", ".join(FAULTS)
    )
    parser.add_argument("--policy", choices=("resend", "hold"), default="resend")
    parser.add_argument("--plan", metavar="SEED", help="the one schedule of a seed as it is told")
    parser.add_argument("--side-by-side", type=int, default=2, metavar="N", help="gateways at once")
    parser.add_argument("--a-home", type=int, default=A_HOME, metavar="N", help="schedules each")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin none after so long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what came of each there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
