"""What goes wrong in a run, and at which moments."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

from tests.fakes.cutting_proxy import CuttingProxy
from tests.fleet import stalls
from tests.fleet.members import Disruption, Kind, Member
from tests.fleet.pace import Pace
from tests.fleet.stalls import Stall
from tests.postgres import Server


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each kind happens."""

    kill: int = 20
    stop: int = 6
    restart: int = 3
    freeze: int = 3
    cut: int = 6
    swallow: int = 3

    @property
    def planned(self) -> dict[Kind, int]:
        return cast("dict[Kind, int]", asdict(self))

    def moments(self, chance: random.Random, seconds: float) -> list[tuple[float, Kind]]:
        """Return what happens when: each kind spread over the whole time."""
        return sorted(
            ((number + chance.random()) * seconds / count, kind)
            for kind, count in self.planned.items()
            for number in range(count)
        )


class Troublemaker:
    """Does it, to members chosen at random."""

    def __init__(
        self,
        server: Server,
        members: Sequence[tuple[Member, CuttingProxy]],
        chance: random.Random,
        freeze_seconds: float,
        answer_seconds: float,
    ) -> None:
        self._server = server
        self._members = members
        self._chance = chance
        self._freeze_seconds = freeze_seconds
        self._answer_seconds = answer_seconds
        self._restarting = asyncio.Lock()
        self._lasting: list[Disruption] = []  # what is no moment
        self.own_stalls: list[Stall] = []
        self.done: Counter[Kind] = Counter()

    @property
    def disruptions(self) -> list[Disruption]:
        """All that was done so far, in its order."""
        cuts = [
            Disruption("cut", member.name, moment, moment)
            for member, proxy in self._members
            for moment in proxy.cut_at
        ]
        own = [one for member, _proxy in self._members for one in member.disruptions]
        done = [*own, *cuts, *self._lasting, *self._stalls(own)]
        return sorted(done, key=lambda one: one.begun)

    def _stalls(self, own: Sequence[Disruption]) -> list[Disruption]:
        """Return when the machine froze the members, or us and thus the platforms."""
        found = [("", *stall) for stall in self.own_stalls]
        for member, _proxy in self._members:
            found += [(member.name, *stall) for stall in stalls.read(member.stalls)]
        meant = [one for one in own if one.kind == "freeze"]
        return [
            Disruption("stall", name, begun, ended)
            for name, begun, ended in found
            if not any(
                one.member == name and one.begun < ended and begun < one.ended for one in meant
            )
        ]

    async def play(self, moments: Sequence[tuple[float, Kind]], pace: Pace) -> None:
        """Do everything at its moment, as far as the pace allows."""
        async with asyncio.TaskGroup() as group:
            for at, kind in moments:
                if not await pace.until(at):
                    return
                group.create_task(self._do(kind))

    async def _do(self, kind: Kind) -> None:
        if kind == "restart":
            await self._restart()
            return
        running = [one for one in self._members if one[0].pid is not None and not one[0].frozen]
        while not running:
            await asyncio.sleep(0.05)
            running = [one for one in self._members if one[0].pid is not None]
        member, proxy = self._chance.choice(running)
        self.done[kind] += 1
        if kind == "kill":
            member.kill()
        elif kind == "stop":
            member.stop()
        elif kind == "freeze":
            await member.freeze(self._freeze_seconds * self._chance.uniform(0.8, 1.4))
        elif kind == "swallow":
            now = time.monotonic()
            self._lasting.append(
                Disruption("swallow", member.name, now, now + self._answer_seconds)
            )
            proxy.swallow()
        else:
            proxy.cut = self._chance.choice(("before", "after"))

    async def _restart(self) -> None:
        """Restart the server; every second time it crashes and recovers."""
        async with self._restarting:
            trouble = Disruption("restart", "", time.monotonic(), float("inf"))
            self._lasting.append(trouble)
            crashes = self.done["restart"] % 2 == 0
            self.done["restart"] += 1
            await asyncio.to_thread(self._server.stop, "immediate" if crashes else "fast")
            await asyncio.to_thread(self._server.start)
            trouble.ended = time.monotonic()
