"""Say how many messages wait to be placed on their tapes, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.logs import get_log
from gateway.services import Services
from gateway.wording import counted
from tape.entry import parse_date
from tape.errors import TapeError

MANY: Final = 10_000
"""Messages above which the log says once a minute how many wait."""

LOG_SECONDS: Final = 60.0

NOTED_SECONDS: Final = 10.0
"""Seconds for which the oldest message has waited before anybody has to know."""


@dataclass(slots=True, eq=False)
class WaitingWatch:
    """Looks from time to time at what waits; `_placed` counts what this process has placed."""

    _services: Services
    _placed: Callable[[], int]
    messages: int = 0  # accepted messages of running channels that are not on their tapes
    seconds: float = 0.0  # since the oldest of them was accepted
    _logged_at: float = float("-inf")
    _logged: int = 0  # placed until then

    async def run(self) -> None:
        """Look until cancelled."""
        clock = self._services.clock
        self._logged_at, self._logged = clock.monotonic(), self._placed()
        while True:
            await clock.sleep(self._services.intervals.waiting)
            try:
                await self.look()
            except TapeError as away:
                get_log().info("intake.not_counted", why=str(away))

    async def look(self) -> None:
        """Count what waits, and write a line into the log each minute while that is much."""
        channels = self._services.router.channels
        found = await self._services.ledger.waiting.unplaced()
        own = [one for one in found if one.account_id.partition(":")[0] in channels]
        self.messages = sum(one.messages for one in own)
        oldest = min((one.oldest for one in own), default="")
        now = self._services.clock.now()
        self.seconds = max(0.0, (now - parse_date(oldest)).total_seconds()) if oldest else 0.0
        self._log()

    def _log(self) -> None:
        now, placed = self._services.clock.monotonic(), self._placed()
        passed = now - self._logged_at
        if passed < LOG_SECONDS:
            return
        rate = (placed - self._logged) / passed
        self._logged_at, self._logged = now, placed
        if self.messages > MANY:
            left = round(self.messages / rate) if rate else None
            numbers = {"messages": self.messages, "per_second": round(rate, 1), "seconds": left}
            get_log().warning("intake.waiting", **numbers)

    @property
    def is_noted(self) -> bool:
        """Whether what waits has waited for so long that somebody has to know."""
        return self.seconds >= NOTED_SECONDS

    def notes(self) -> list[str]:
        """Return a sentence that says what waits, if it has waited for a while."""
        if not self.is_noted:
            return []
        waits = "waits" if self.messages == 1 else "wait"
        many = f"{counted(self.messages, 'message')} of running channels {waits}"
        return [f"{many} to be placed on their tapes, the oldest for {self.seconds:.0f} s"]
