"""Retry writes while the database or the disk is unavailable, without a restart.

Until a write succeeds, no new message is acknowledged and the gateway reports "not ready".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio

from channels.backoff import Backoff
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.settings.intervals import Intervals
from gateway.storage.ballast import Ballast
from tape.errors import StoreUnavailable

T = TypeVar("T")

MAX_WAIT_SECONDS: Final = 15.0

FULL: Final = (
    "the disk is full: answers in progress are finished, nothing new is accepted; free some space"
)


class WriteGuard:
    """Tracks whether the database accepts writes; `probe` makes a small write to find out."""

    def __init__(
        self,
        clock: Clock,
        ballast: Ballast,
        probe: Callable[[], Awaitable[None]],
        spawn: Spawn,
        intervals: Intervals,
    ) -> None:
        self._clock = clock
        self.ballast = ballast
        self._probe = probe
        self._spawn = spawn
        self._intervals = intervals
        self._since: float | None = None
        self._ending = False
        self._waits: set[anyio.CancelScope] = set()
        self.why = ""

    def end(self) -> None:
        """Stop waiting for the database: this process ends, and the next resumes open work."""
        self._ending = True
        for wait in self._waits:
            wait.cancel()

    def away_for(self) -> float | None:
        """Return for how many seconds the database has been unavailable; None if it is not."""
        return None if self._since is None else self._clock.monotonic() - self._since

    async def once(self, write: Callable[[], Awaitable[T]]) -> T:
        """Make a write without retrying; raises StoreUnavailable."""
        if self.ballast.given_up:
            raise StoreUnavailable(FULL)
        try:
            done = await write()
        except StoreUnavailable as cause:
            self._failed(cause)
            raise
        self._wrote()
        return done

    async def retrying(self, what: str, write: Callable[[], Awaitable[T]]) -> T:
        """Retry a write until it succeeds; raises StoreUnavailable only when the process ends."""
        backoff = Backoff(self._intervals.first_retry, MAX_WAIT_SECONDS)
        while True:
            try:
                done = await write()
            except StoreUnavailable as cause:
                if not backoff.tries:
                    get_log().error("store.unavailable", waiting=what, why=cause)
                freed = self._failed(cause)
                if self._ending:
                    raise
                wait = backoff.next()
                await self._pause(0 if freed else wait)
            else:
                self._wrote()
                if backoff.tries:
                    get_log().info("store.back", written=what)
                return done

    async def _pause(self, seconds: float) -> None:
        with anyio.CancelScope() as wait:
            self._waits.add(wait)
            try:
                await self._clock.sleep(seconds)
            finally:
                self._waits.discard(wait)

    def _wrote(self) -> None:
        if self._since is not None and (not self.ballast.given_up or self.ballast.take()):
            self._since, self.why = None, ""
            get_log().info("store.writable")
            for wait in self._waits:
                wait.cancel()

    def _failed(self, cause: StoreUnavailable) -> bool:
        freed = cause.full and self.ballast.give_up()
        if freed:
            get_log().error("disk.full", what=FULL)
        self.why = FULL if cause.full or self.ballast.given_up else str(cause)
        if self._since is None:
            self._since = self._clock.monotonic()
            self._spawn("persist", self._probe_until_back)
        return freed

    async def _probe_until_back(self) -> None:
        while self._since is not None:
            await self._clock.sleep(self._intervals.probe)
            try:
                await self._probe()
            except StoreUnavailable as cause:
                self._failed(cause)
            else:
                self._wrote()
