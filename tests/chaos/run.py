"""Many schedules, some homes side by side: what is wanted, and what came of it."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.chaos.gateway import Launch, forked, fresh
from tests.chaos.oracle import Verdict, judge
from tests.chaos.plan import Plan, Policy, make_plan
from tests.chaos.play import play
from tests.chaos.record import Record
from tests.chaos.stage import stage_of
from tests.chaos.table import Row, points

A_HOME: Final = 8
"""Number of schedules that are played on one home, one after the other."""


HOLD_SHARE: Final = 5
"""Where both policies are played, one in so many schedules is under `hold`."""


class Wanted(NamedTuple):
    """A schedule that is to be played."""

    channel: str
    fault: str
    seed: str
    policy: Policy


def random_plans(
    channel: str, seed: int, first: int, count: int, only: Sequence[str], policies: Sequence[Policy]
) -> list[Wanted]:
    """Return so many schedules from the `first` on: every fault in turn, under the policies."""
    known = stage_of(channel).menu.faults
    faults = [fault for fault in only or known if fault in known]
    both = len(policies) > 1
    wanted = []
    for number in range(first, first + (count if faults else 0)):
        turn, at = divmod(number, len(faults))
        # Another share of the faults in each turn, however many there are.
        holds = both and (turn + at) % HOLD_SHARE == 0
        policy = "hold" if holds else policies[0]
        wanted.append(Wanted(channel, faults[at], f"{seed}.{turn}", policy))
    return wanted


def more_plans(
    channel: str, seed: str, played: Sequence[Row], policies: Sequence[Policy], each: int
) -> list[Wanted]:
    """Return schedules for the kill points that were reached in fewer than `each` of a policy."""
    return [
        Wanted(channel, point, f"{seed}.{number}", policy)
        for policy in policies
        for point, reached in points(channel, policy, played).items()
        for number in range(each - reached)
    ]


@dataclass(frozen=True, slots=True)
class Played:
    """A schedule and what came of it; `home` is empty where nothing is left to look at."""

    plan: Plan
    verdict: Verdict
    traps: Mapping[str, int]
    fired: Mapping[str, int]
    seconds: float
    home: str

    def as_json(self) -> dict[str, Any]:
        """Return what the tables and files tell of it."""
        plan = self.plan
        told = {"channel": plan.channel, "fault": plan.fault, "seed": plan.seed}
        rest = {"notes": self.verdict.notes, "home": self.home, "seconds": round(self.seconds, 2)}
        points = {"policy": plan.policy, "traps": dict(self.traps), "fired": dict(self.fired)}
        return {**told, **points, **self.verdict.counts, **rest}


class Run:
    """Plays schedules; the homes of those that failed are kept.

    Gateways are forks, but in a new interpreter on each `fresh`th home. None is begun on a home
    after `until`. Each begins with so many messages of `talk`, which wait to be placed meanwhile.
    """

    def __init__(
        self, keep: Path, side_by_side: int, a_home: int = A_HOME, fresh: int = 0, talk: int = 0
    ) -> None:
        self._keep = keep
        self._side_by_side = side_by_side
        self._a_home = a_home
        self._fresh = fresh
        self._talk = talk
        self._homes = 0
        self.until = math.inf
        self.played: list[Played] = []

    async def play(self, wanted: Sequence[Wanted]) -> None:
        """Play schedules, those of a channel and a policy together on homes."""
        waiting = self._batches(wanted)
        total = len(self.played) + len(wanted)

        async def work() -> None:
            while waiting and time.monotonic() < self.until:
                batch = waiting.pop(0)
                own = await self._home(batch)
                if len(own) < len(batch):
                    waiting.insert(0, batch[len(own) :])
                self.played.extend(own)
                self._tell(own, total)

        async with asyncio.TaskGroup() as group:
            for _number in range(self._side_by_side):
                group.create_task(work())

    def _batches(self, wanted: Sequence[Wanted]) -> list[list[Wanted]]:
        """Return what each home plays, the channels in turn: one waits while another works."""
        batches: list[tuple[int, list[Wanted]]] = []
        for kind in sorted({(each.channel, each.policy) for each in wanted}):
            own = [each for each in wanted if (each.channel, each.policy) == kind]
            starts = range(0, len(own), self._a_home)
            batches += [
                (at * len(wanted) // len(own), own[at : at + self._a_home]) for at in starts
            ]
        return [batch for _at, batch in sorted(batches, key=lambda each: each[0])]

    async def _home(self, wanted: Sequence[Wanted]) -> list[Played]:
        folder = Path(tempfile.mkdtemp(prefix="chaos-", dir=self._keep))
        stage = stage_of(wanted[0].channel)
        plans = [
            make_plan(stage.menu, each.fault, each.seed, each.policy, first=number * 10)
            for number, each in enumerate(wanted)
        ]
        self._homes += 1
        is_fresh = self._fresh and not self._homes % self._fresh
        launch: Launch = fresh if is_fresh else forked
        records = await play(
            stage,
            plans,
            folder,
            launch,
            lambda record: not judge(record, stage.window, stage.queue).failed,
            self._talk,
        )
        verdicts = [judge(record, stage.window, stage.queue) for record in records]
        failed = any(verdict.failed for verdict in verdicts)
        if failed:
            _leave(folder, records, verdicts)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        return [
            Played(
                record.plan,
                verdict,
                record.traps,
                record.fired,
                record.seconds,
                str(folder) if verdict.failed else "",
            )
            for record, verdict in zip(records, verdicts, strict=True)
        ]

    def _tell(self, own: Sequence[Played], total: int) -> None:
        for each in own:
            if each.verdict.failed:
                notes = "\n".join(f"  ! {note}" for note in each.verdict.notes)
                print(f"\nFAILED: {each.plan.told()}\n{notes}\n  home: {each.home}", flush=True)
        seconds = " ".join(f"{each.plan.fault}:{each.seconds:.0f}s" for each in own)
        failures = sum(each.verdict.failed for each in self.played)
        channel = own[0].plan.channel if own else ""
        told = f"{len(self.played)} of {total}, {failures} failed ({channel} {seconds})"
        print(told, file=sys.stderr, flush=True)


def _leave(folder: Path, records: Sequence[Record], verdicts: Sequence[Verdict]) -> None:
    """Write down beside a home what was played on it, and what was seen."""
    told = [
        {
            "plan": record.plan.as_json(),
            "notes": verdict.notes,
            "texts": record.texts,
            "kills": record.kills,
            "starts": record.starts,
            "sent": [
                (sent.message_id, sent.place, sent.called_at, sent.applied_at, sent.heard)
                for sent in record.sent
            ],
        }
        for record, verdict in zip(records, verdicts, strict=True)
    ]
    (folder / "schedules.json").write_text(json.dumps(told, indent=1))
