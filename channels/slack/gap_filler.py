"""Catches up: reads the messages that were missed in a gap.

Slack redelivers an event at once, after a minute, and after five minutes, and then gives up. Events
that were missed for longer are read from the history.
"""

from __future__ import annotations

from typing import Final, Protocol

import anyio

from channels.backoff import Backoff
from channels.clock import wait_at_most
from channels.connection_state import ConnectionState
from channels.errors import ChannelError, ChannelUnfit
from channels.host import ChannelHost, Cursors

HOLD_BACK_SECONDS: Final = 2.0
"""How long new events wait for those in the gap, in seconds; Slack wants an answer within three."""

RETRY_SECONDS: Final = 15.0
MAX_RETRY_SECONDS: Final = 120.0  # each attempt reads all workspaces

RESEND_SECONDS: Final = 400.0  # seconds after which Slack no longer redelivers an event


class MissedSource(Protocol):  # implemented by the channel
    async def read_missed(self) -> Cursors:
        """Accept the messages since the cursors, and return the cursors; raises ChannelError."""


class GapFiller:
    def __init__(self, host: ChannelHost, state: ConnectionState, source: MissedSource) -> None:
        self._host = host
        self._state = state
        self._source = source
        self._reading = anyio.Lock()
        self._fills: set[anyio.CancelScope] = set()
        self._filled = anyio.Event()
        self._missed = anyio.Event()
        self._retry_seconds = RETRY_SECONDS
        self._backoff = Backoff(RETRY_SECONDS, MAX_RETRY_SECONDS)

    def hold_back(self) -> None:
        """Hold back new events until the gap that has just opened is filled."""
        self._filled = anyio.Event()

    def pass_on(self) -> None:
        """Hold back nothing, since it is another process that fills gaps."""
        self._filled.set()

    async def wait_filled(self) -> None:
        """Wait until the gap is filled, so that new events are stored after the missed ones."""
        if not self._filled.is_set():
            await wait_at_most(self._host.clock, HOLD_BACK_SECONDS, self._filled.wait)

    def missed(self) -> None:
        """Record that an event was not stored, and that Slack may not redeliver it."""
        self._state.missed(self._host.clock.monotonic())
        self._missed.set()

    def start(self) -> anyio.Event:
        """Start filling the gap; the returned event is set when that has succeeded or failed."""
        filled = self._filled

        async def fill() -> None:
            with anyio.CancelScope() as scope:
                self._fills.add(scope)
                await self._read()
            self._fills.discard(scope)
            filled.set()

        self._host.start_soon("slack catch-up", fill)
        return filled

    async def run(self) -> None:
        """Read missed events once others are stored again, or once Slack no longer redelivers.

        In the end nothing is read any more: another process listens, and reads the rest.
        """
        clock = self._host.clock
        try:
            while True:
                await self._missed.wait()
                self._missed = anyio.Event()
                while self._state.missed_since is not None:
                    await clock.sleep(self._retry_seconds)
                    if self._state.is_catch_up_due(clock.monotonic(), RESEND_SECONDS):
                        await self._read()
        finally:
            for fill in self._fills:
                fill.cancel()

    async def _read(self) -> None:
        try:
            async with self._reading:
                gap = self._state.catch_up_begun()
                cursors = await self._source.read_missed()
        except ChannelUnfit:
            return  # ends the whole channel
        except ChannelError:
            pass
        except Exception:
            self._host.log_exception("slack.catch_up_failed")
        else:
            self._backoff.reset()
            self._retry_seconds = RETRY_SECONDS
            self._state.catch_up_finished(gap, cursors)
            return
        self._retry_seconds = self._backoff.next()
        self._state.catch_up_failed(self._host.clock.monotonic())
        self._missed.set()
