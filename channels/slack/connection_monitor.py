"""Detects that the connection was lost, has stalled, or is shared with a second reader."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio

from channels.backoff import Backoff
from channels.clock import wait_at_most
from channels.connection_state import ConnectionState
from channels.errors import ChannelError
from channels.host import FullHost
from channels.slack.gap_filler import RESEND_SECONDS, GapFiller, MissedSource
from channels.slack.self_events import SelfEvents
from channels.slack.troubles import SECOND_READER, STALLED

CATCH_UP_SECONDS: Final = 20.0
"""Maximum seconds that a catch-up delays the report that the channel is ready."""

PROOF_SECONDS: Final = 45.0
"""Seconds within which the connection that replaces a stalled one must deliver an event."""

SENT: Final = "sent"  # the fact that says what another process sent last
RECOUNT_SECONDS: Final = 10.0
MAX_RECOUNT_SECONDS: Final = 120.0


class Connection(Protocol):
    def renew(self, why: str) -> None:
        """Replace the connection; `why` says what is wrong with it, or is "" if it works."""


class MonitoredChannel(MissedSource, Protocol):
    async def probe(self) -> bool:
        """Cause an event that Slack must deliver; return whether that was possible."""


@dataclass(slots=True)
class _SecondReader:
    was_counted: bool = False
    is_reported: bool = False
    is_recounting: bool = False
    backoff: Backoff = field(default_factory=lambda: Backoff(RECOUNT_SECONDS, MAX_RECOUNT_SECONDS))


class ConnectionMonitor:
    def __init__(self, host: FullHost, connection: Connection, channel: MonitoredChannel) -> None:
        self._host = host
        self._connection = connection
        self._channel = channel
        self.state = ConnectionState(host, host)
        self._self_events = SelfEvents(host.clock)
        self._second_reader = _SecondReader()
        self._proved = anyio.Event()
        self._proofs = 0
        self.gaps = GapFiller(host, self.state, channel)

    async def run(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self.gaps.run)
            while True:
                await self._self_events.overdue()
                if not self.state.is_connected or self._is_stalled:
                    continue
                self._proved = anyio.Event()
                self.state.stalled(STALLED.sentence(), self._host.clock.monotonic())
                self._no_events()
                self._connection.renew(STALLED.sentence())

    async def connected(self, connections: int, *, seamless: bool, whole: bool = True) -> None:
        """Catch up, then report the channel ready; after a stall, first wait for an event."""
        self.state.connected(announce=False)
        if not seamless:
            filled = self.gaps.start()
            await wait_at_most(self._host.clock, CATCH_UP_SECONDS, filled.wait)
        elif not whole:
            self.state.open_gap()
            self.gaps.hold_back()
            self.gaps.start()
        if not self.state.is_connected:
            return
        impaired = ""
        if self._is_stalled:
            self._host.start_soon("slack proof", self._prove)
        elif connections > 1 and self._is_shared(seamless=seamless):
            impaired = SECOND_READER.sentence()
        self.state.announce(impaired)
        if connections <= 1:
            self._second_reader.is_reported = False
            self._second_reader.backoff.reset()
        self._second_reader.was_counted = True

    def lost(self, why: str) -> None:
        self.state.lost(why)
        self._no_events()

    def sign_of_life(self) -> None:
        self.state.heard()

    def heard(self, account: str, event: Mapping[str, Any]) -> None:
        self._self_events.heard(account, event)
        if self._is_stalled:
            self._proved.set()

    def sent(self, account: str, channel: str, kind: str) -> None:
        """Record that the app sent a message, whose event Slack must deliver."""
        if self.state.is_connected and not self._is_stalled:
            self._self_events.sent(account, channel, kind)

    async def hear_of_sends(self) -> None:
        """Record what other processes send, whose events come to this one."""
        facts = self._host.facts
        known = facts.get(SENT)
        while True:
            changed = facts.changed()
            now = facts.get(SENT)
            if now not in (None, known) and self.state.is_connected and not self._is_stalled:
                self._self_events.sent_elsewhere(now["account"], now["chat"], now["kind"])
            known = now
            await changed.wait()

    @property
    def _is_stalled(self) -> bool:
        return self.state.stalled_since is not None

    def _no_events(self) -> None:
        # Slack may take a minute to deliver the event of a message that was just sent.
        self._self_events.expect_nothing()
        self.gaps.hold_back()

    def _is_shared(self, *, seamless: bool) -> bool:
        # Only the first reliable count reports the channel down; later counts only warn.
        reader = self._second_reader
        if not reader.is_recounting:
            reader.is_recounting = True
            wait = reader.backoff.next()
            self._host.start_soon("slack readers", lambda: self._recount(wait))
        if not seamless and reader.was_counted:  # Slack may still be counting the lost connection
            return False
        if reader.is_reported:
            self._host.warn(SECOND_READER.sentence())
            return False
        reader.is_reported = True
        return True

    async def _recount(self, wait: float) -> None:
        await self._host.clock.sleep(wait)
        self._second_reader.is_recounting = False
        if self.state.is_connected:
            self._connection.renew("")

    async def _prove(self) -> None:
        """End the stall if an event comes; otherwise reconnect, in the hope of a better server."""
        self._proofs += 1
        proved, proof, clock = self._proved, self._proofs, self._host.clock
        probed = False
        with suppress(ChannelError):
            probed = await self._channel.probe()
        await wait_at_most(clock, PROOF_SECONDS, proved.wait)
        since = self.state.stalled_since
        if since is None or proof != self._proofs:
            return
        given_up = not probed and clock.monotonic() - since > RESEND_SECONDS
        if not (proved.is_set() or given_up):
            self._connection.renew(STALLED.sentence())
            return
        if probed or given_up:
            self._self_events.forgive()
        self.state.proved()
