"""Attach the enabled channels, so that they can send, and keep those running that listen.

Of several processes over one database, only the one with a channel's lease runs it. A channel that
fails is restarted with backoff and jitter; other channels are not affected. A misconfigured channel
reports how to fix the settings and is not restarted, unless it is replaced by one that has others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from channels.backoff import Backoff
from channels.base import Channel
from channels.errors import ChannelError, ChannelUnfit, SendDelayed
from channels.host import FullHost
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.sharing.platforms.poller import PollerLeases
from gateway.supervision.known_bots import KnownBots
from gateway.supervision.status import StatusBoard

FIRST_WAIT_SECONDS: Final = 1.0
MAX_WAIT_SECONDS: Final = 60.0
STOP_SECONDS: Final = 2.0  # seconds that a channel has to end by itself
CALM_SECONDS: Final = 60.0  # seconds of uptime after which the restart backoff is reset


@dataclass(slots=True, eq=False)
class _Supervised:
    """A channel that is kept running."""

    channel: Channel
    stopping: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class ChannelManager:
    """Supervises channels; `_make_host` returns the host for one start of a channel.

    `_leases` decide which process listens; without, it is this one. `_bots` remember whose messages
    a channel has.
    """

    _clock: Clock
    _channels: Sequence[Channel]
    _status: StatusBoard
    _make_host: Callable[[Channel], FullHost]
    _leases: PollerLeases | None = None
    _bots: KnownBots | None = None
    _supervised: dict[str, _Supervised] = field(default_factory=dict)
    _group: TaskGroup | None = None
    _stopped: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        """Run until `stop`, and until all channels have ended."""
        async with anyio.create_task_group() as self._group:
            for channel in self._channels:
                self.start(channel)
            await self._stopped.wait()

    async def stop(self) -> None:
        self._stopped.set()
        for one in list(self._supervised.values()):
            await self._stop(one)

    async def end(self, name: str) -> None:
        """Have a channel listen no more; it can still send."""
        one = self._supervised.get(name)
        if one is None:
            return
        await self._stop(one)
        with anyio.move_on_after(STOP_SECONDS):
            await one.over.wait()
        one.scope.cancel()
        await one.over.wait()

    async def attach(self, channel: Channel) -> None:
        """Have a channel send that is about to be started; if it cannot, `start` tries again.

        From now on its state is reported, in the place of one of its name that has ended.
        """
        self._status.begin(channel)
        with suppress(Exception):
            await channel.attach(self._make_host(channel))

    def leave_out(self, name: str) -> None:
        """Report a channel no more that has ended, until one of its name starts."""
        self._supervised.pop(name, None)
        self._status.leave_out(name)

    def start(self, channel: Channel) -> None:
        """Keep a channel running whose state is reported already, until all are stopped."""
        if self._group is not None and not self._stopped.is_set():
            one = self._supervised[channel.name] = _Supervised(channel)
            self._group.start_soon(self._run, one, name=f"channel {channel.name}")

    async def _stop(self, one: _Supervised) -> None:
        one.stopping = True
        try:
            await one.channel.stop()
        except Exception as cause:
            get_log().error("channel.stop_failed", channel=one.channel.name, exc_info=cause)

    async def _run(self, one: _Supervised) -> None:
        try:
            with one.scope:
                await self._supervise(one)
        finally:
            one.over.set()

    async def _supervise(self, one: _Supervised) -> None:
        channel = one.channel
        backoff = Backoff(FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS, jitter=0.5)
        while not one.stopping:
            started = self._clock.monotonic()
            try:
                await channel.attach(self._make_host(channel))
                if self._bots is not None:
                    await self._bots.meet(channel)
                if await self._listen(channel) and not one.stopping:
                    raise RuntimeError("the channel ended by itself")
            except ChannelUnfit as unfit:
                self._status.change(channel.name, "unfit", str(unfit))
                get_log().error("channel.unfit", channel=channel.name, remedy=str(unfit))
                return
            except Exception as cause:
                if self._clock.monotonic() - started > CALM_SECONDS:
                    backoff.reset()
                pause = backoff.next()
                if isinstance(cause, SendDelayed):
                    pause = max(pause, cause.retry_after)
                self._failed(channel.name, cause, pause)
                await self._clock.sleep(pause)
        self._status.change(channel.name, "stopped")

    async def _listen(self, channel: Channel) -> bool:
        """Run a channel while this process may; return whether it ended by itself."""
        if self._leases is None or channel.runs_everywhere:
            await channel.run()
            return True
        waits = partial(self._status.listens_elsewhere, channel.name)
        return await self._leases.while_held(channel.name, channel.run, waits)

    def _failed(self, name: str, cause: Exception, pause: float) -> None:
        again_in = round(pause, 1)
        if isinstance(cause, ChannelError):
            self._status.change(name, "waiting", str(cause))
            get_log().warning("channel.down", channel=name, again_in=again_in, why=str(cause))
        else:
            # The status is public, and the text of an unknown error may contain a secret.
            self._status.change(name, "waiting", f"it failed ({type(cause).__name__})")
            get_log().error("channel.failed", channel=name, again_in=again_in, exc_info=cause)
