"""How often each method may be called: Slack counts by method, workspace and minute."""

from __future__ import annotations

from typing import Final

from channels.pacing import Budget, Clock, Gate, Priority
from channels.slack.api_methods import METHODS

WINDOW: Final = 61.0
"""A little more than Slack's minute: clocks and networks are not exact."""

PER_MINUTE: Final = {1: 1, 2: 20, 3: 50, 4: 100}


class Budgets:
    """The methods' budgets in one workspace."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: dict[str, Gate] = {}

    def wait(self, method: str, priority: Priority) -> float:
        """Return the seconds until a method may be called; none or less: now."""
        return self._gate(method).wait(self._clock.monotonic(), priority)

    async def take(self, method: str, priority: Priority) -> None:
        """Wait until a method may be called, and count it as called."""
        while (wait := self.wait(method, priority)) > 0:
            await self._clock.sleep(wait)
        self._gate(method).write(self._clock.monotonic())

    def close(self, method: str, seconds: float) -> None:
        """Let nobody call a method for so long: Slack said so."""
        self._gate(method).close(self._clock.monotonic() + seconds)

    def _gate(self, method: str) -> Gate:
        gate = self._gates.get(method)
        if gate is None:
            tier = METHODS[method].tier if method in METHODS else 0
            budget = Budget(0.0, PER_MINUTE[tier], WINDOW) if tier else Budget()
            gate = self._gates[method] = Gate(budget)
        return gate
