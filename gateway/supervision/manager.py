"""The ChannelManager starts the enabled channels and keeps them running.

A channel that fails is restarted with backoff and jitter; the others are not affected. A channel
that is misconfigured reports the remedy and is not restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import anyio

from channels.backoff import Backoff
from channels.base import Channel
from channels.errors import ChannelError, ChannelUnfit, SendDelayed
from channels.host import FullHost
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.supervision.status import StatusBoard

FIRST_WAIT_SECONDS: Final = 1.0
MAX_WAIT_SECONDS: Final = 60.0
CALM_SECONDS: Final = 60.0
"""Seconds of uptime after which the restart backoff is reset."""


class ChannelManager:
    """Supervises channels; `make_host` returns the host for one start of a channel."""

    def __init__(
        self,
        clock: Clock,
        channels: Sequence[Channel],
        status: StatusBoard,
        make_host: Callable[[Channel], FullHost],
    ) -> None:
        self._clock = clock
        self._channels = channels
        self._status = status
        self._make_host = make_host
        self._stopping = False

    async def run(self) -> None:
        """Run every channel until `stop`."""
        async with anyio.create_task_group() as group:
            for channel in self._channels:
                group.start_soon(self._supervise, channel, name=f"channel {channel.name}")

    async def stop(self) -> None:
        """Stop every channel."""
        self._stopping = True
        for channel in self._channels:
            try:
                await channel.stop()
            except Exception as cause:
                get_log().error("channel.stop_failed", channel=channel.name, exc_info=cause)

    async def _supervise(self, channel: Channel) -> None:
        backoff = Backoff(FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS, jitter=0.5)
        while not self._stopping:
            started = self._clock.monotonic()
            try:
                await channel.start(self._make_host(channel))
                if not self._stopping:
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

    def _failed(self, name: str, cause: Exception, pause: float) -> None:
        again_in = round(pause, 1)
        if isinstance(cause, ChannelError):
            self._status.change(name, "waiting", str(cause))
            get_log().warning("channel.down", channel=name, again_in=again_in, why=str(cause))
        else:
            # The status is public: a foreign error's text may hold a secret, only our own may not.
            self._status.change(name, "waiting", f"it failed ({type(cause).__name__})")
            get_log().error("channel.failed", channel=name, again_in=again_in, exc_info=cause)
