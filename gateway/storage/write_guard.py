"""Trying again what must be written down, for as long as the disk or the database is away.

While it is away nothing new is acknowledged and the gateway is not ready. A small write now and
then finds out when it is back; nothing has to be started again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio

from gateway.background import Spawn
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.storage.ballast import Ballast
from tape.errors import StoreUnavailable

T = TypeVar("T")

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 15.0
PROBE_SECONDS: Final = 2.0

FULL: Final = (
    "the disk is full: what is under way is being finished, nothing new is taken; free some space"
)


class WriteGuard:
    """Knows whether the database takes what is written, and since when it does not.

    `probe` writes something small.
    """

    def __init__(
        self, clock: Clock, ballast: Ballast, probe: Callable[[], Awaitable[None]], spawn: Spawn
    ) -> None:
        self._clock = clock
        self._ballast = ballast
        self._probe = probe
        self._spawn = spawn
        self._since: float | None = None
        self._ending = False
        self._waits: set[anyio.CancelScope] = set()
        self.why = ""

    def end(self) -> None:
        """Wait for the store no longer: the process ends, and what is under way is resumed."""
        self._ending = True
        for wait in self._waits:
            wait.cancel()

    def away_for(self) -> float | None:
        """Return for how many seconds the database has been away; None while it is there."""
        return None if self._since is None else self._clock.monotonic() - self._since

    async def once(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write something new; raises StoreUnavailable where it is not taken now."""
        if self._ballast.given_up:
            raise StoreUnavailable(FULL)
        try:
            done = await write()
        except StoreUnavailable as cause:
            self._failed(cause)
            raise
        self._wrote()
        return done

    async def retrying(self, what: str, write: Callable[[], Awaitable[T]]) -> T:
        """Write what is under way, and again with growing waits while the store is unavailable.

        Raises StoreUnavailable only when the process ends meanwhile.
        """
        wait = FIRST_WAIT
        failed = False
        while True:
            try:
                done = await write()
            except StoreUnavailable as cause:
                if not failed:
                    get_log().error("store.unavailable", waiting=what, why=str(cause))
                freed = self._failed(cause)
                failed = True
                if self._ending:
                    raise
                await self._pause(0 if freed else wait)
                wait = min(wait * 2, LONGEST_WAIT)
            else:
                self._wrote()
                if failed:
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
        """Turn green, unless the ballast is still to be had again."""
        if self._since is not None and (not self._ballast.given_up or self._ballast.take()):
            self._since, self.why = None, ""
            get_log().info("store.writable")

    def _failed(self, cause: StoreUnavailable) -> bool:
        """Turn red, and where the disk is full give the ballast up; tells whether it did."""
        freed = cause.full and self._ballast.give_up()
        if freed:
            get_log().error("disk.full", what=FULL)
        self.why = FULL if cause.full or self._ballast.given_up else str(cause)
        if self._since is None:
            self._since = self._clock.monotonic()
            self._spawn("persist", self._find_out_when_it_is_back)
        return freed

    async def _find_out_when_it_is_back(self) -> None:
        while self._since is not None:
            await self._clock.sleep(PROBE_SECONDS)
            try:
                await self._probe()
            except StoreUnavailable as cause:
                self._failed(cause)
            else:
                self._wrote()
