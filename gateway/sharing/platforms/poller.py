"""Which of several processes listens to a platform: at most one for each channel.

The process with a channel's lease runs the channel's event side, and renews the lease at a third of
its time. By the database's clock the lease ends later than this process believes, since it counts
from before each renewal and stops some seconds early. So two processes never listen at once, except
while one is frozen; the platforms and the inbox bear that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.clock import wait_at_most
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.sharing.bus import Bus, channel_of
from gateway.storage.ledger.rows import run_alone
from tape.errors import TapeError
from tape.store import UnitStore

TOPIC: Final = "pollers"
RENEWALS: Final = 3  # how often a lease is renewed in its time
STOP_EARLY: Final = 1 / 6
"""The part of a lease that is left when the event side stops, so that it has ended in time."""

RETRY_SECONDS: Final = 0.5

GOODBYE_SECONDS: Final = 2.0


@dataclass(eq=False)
class _Lease:
    """A lease of this process; `until` is when it is given up unless it is renewed before."""

    name: str
    until: float
    over: anyio.Event = field(default_factory=anyio.Event)


class PollerLeases:
    """The leases of one process, `owner`; one that does not listen never takes any."""

    def __init__(
        self,
        store: UnitStore,
        bus: Bus,
        clock: Clock,
        owner: str,
        seconds: float,
        *,
        listens: bool = True,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._seconds = seconds
        self._listens = listens
        self._held: dict[str, _Lease] = {}
        self._released = anyio.Event()
        bus.on(TOPIC, lambda _numbers: self._wake())

    async def while_held(
        self, name: str, work: Callable[[], Awaitable[None]], waits: Callable[[str], None]
    ) -> bool:
        """Take a channel's lease, and do some work until it ends or the lease is lost.

        Return whether the work ended by itself; its error is raised. Meanwhile, `waits` gets the
        process that listens, or "", whenever that changes.
        """
        lease = await self._take(name, waits)
        self._held[name] = lease
        get_log().info("poller.taken", channel=name)
        failed: list[Exception] = []
        try:
            async with anyio.create_task_group() as group:

                async def listen() -> None:
                    try:
                        await work()
                    except Exception as cause:  # raised below, not in an exception group
                        failed.append(cause)
                    group.cancel_scope.cancel()

                group.start_soon(listen, name=f"channel {name}")
                group.start_soon(self._renew_often, lease)
                await self._until_over(lease)
                group.cancel_scope.cancel()
        finally:
            del self._held[name]
            await self._release(name)
        if failed:
            raise failed[0]
        return not lease.over.is_set()

    async def confirm(self, name: str) -> None:
        """Return once it is certain that this process may still listen on a channel.

        If it may not, this never returns: the work is cancelled. Without a lease, return at once.
        """
        lease = self._held.get(name)
        if lease is not None:
            while not await self._is_renewed(lease):
                await self._clock.sleep(RETRY_SECONDS)

    async def _take(self, name: str, waits: Callable[[str], None]) -> _Lease:
        shown: str | None = None
        while True:
            released, now = self._released, self._clock.monotonic()
            values = {"name": name, "owner": self._owner, "seconds": self._seconds}
            pause = self._seconds / RENEWALS
            try:
                if self._listens:
                    taken = await run_alone(self._store, "sharing.take_poller", **values)
                    if taken.changed:
                        return _Lease(name, now + self._believed)
                found = await self._store.select("sharing.poller", {"name": name})
            except TapeError as away:
                get_log().warning("poller.unknown", channel=name, why=away)
            else:
                owner = str(found[0]["owner"]) if found else ""
                if owner != shown:
                    waits(owner)
                    shown = owner
                left = float(found[0]["seconds"]) if found else 0.0
                pause = min(pause, left + RETRY_SECONDS) if self._listens else pause
            await wait_at_most(self._clock, pause, released.wait)

    @property
    def _believed(self) -> float:
        return self._seconds * (1 - STOP_EARLY)

    async def _renew_often(self, lease: _Lease) -> None:
        while True:
            await self._clock.sleep(self._seconds / RENEWALS)
            while not await self._is_renewed(lease):
                await self._clock.sleep(RETRY_SECONDS)

    async def _is_renewed(self, lease: _Lease) -> bool:
        """Renew a lease; return False if the database does not answer."""
        now = self._clock.monotonic()
        values = {"name": lease.name, "owner": self._owner, "seconds": self._seconds}
        try:
            renewed = await run_alone(self._store, "sharing.renew_poller", **values)
        except TapeError as away:
            get_log().warning("poller.not_renewed", channel=lease.name, why=away)
            return False
        if not renewed.changed:
            lease.over.set()
            await anyio.sleep_forever()
        lease.until = max(lease.until, now + self._believed)
        return True

    async def _until_over(self, lease: _Lease) -> None:
        while (left := lease.until - self._clock.monotonic()) > 0 and not lease.over.is_set():
            await wait_at_most(self._clock, left, lease.over.wait)
        lease.over.set()
        get_log().warning("poller.lost", channel=lease.name)

    async def _release(self, name: str) -> None:
        values = {"name": name, "owner": self._owner, "topic": channel_of(TOPIC)}
        with anyio.move_on_after(GOODBYE_SECONDS, shield=True):
            try:
                await run_alone(self._store, "sharing.release_poller", **values)
            except TapeError:
                """Another process takes over once the lease is over."""

    def _wake(self) -> None:
        released, self._released = self._released, anyio.Event()
        released.set()
