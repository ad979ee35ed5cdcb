"""Kill points: moments that a fake knows exactly, and at which it ends the gateway."""

from __future__ import annotations

import asyncio

from tests.chaos.gateway import Supervisor
from tests.chaos.plan import Trouble
from tests.chaos.record import Record


class Traps:
    """Which are set, whether a moment is one, and how often each was set and fired."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._set: list[tuple[str, int]] = []

    @property
    def record(self) -> Record:
        """The record of the schedule that is played."""
        return self._supervisor.record

    def add(self, trouble: Trouble) -> None:
        """Set one, for the next moment of its kind but `much`."""
        self.record.traps[trouble.name] += 1
        self._set.append((trouble.name, int(trouble.much)))

    def clear(self) -> None:
        """Take all away."""
        self._set.clear()

    def waits(self, name: str) -> bool:
        """Return whether one is set, whichever its moment; it stays."""
        return any(own == name for own, _left in self._set)

    def has(self, name: str) -> bool:
        """Return whether this moment is one, and use the trap up; the caller must kill."""
        if not self._supervisor.alive:
            return False
        for number, (own, left) in enumerate(self._set):
            if own == name:
                if left:
                    self._set[number] = (own, left - 1)
                else:
                    del self._set[number]
                    return True
        return False

    def springs(self, name: str) -> bool:
        """Kill the gateway if this moment is one; return whether it was."""
        sprung = self.has(name)
        if sprung:
            self.kill(name)
        return sprung

    def strikes(self, name: str, seconds: float = 0.001) -> None:
        """Kill the gateway where this moment is one: at once, after `seconds`, or eight times that.

        Which of the three is taken in turn, so that a trap does not always spring alike.
        """
        if self.has(name):
            self.kill_soon(name, seconds * (len(self.record.kills) % 3) ** 3)

    def kill(self, name: str) -> None:
        """Kill the gateway now, for a trap that was used up."""
        self.record.fired[name] += self._supervisor.kill()

    def kill_soon(self, name: str, seconds: float) -> None:
        """Kill the gateway a moment later, for a trap that was used up."""
        asyncio.get_running_loop().call_later(seconds, self.kill, name)
