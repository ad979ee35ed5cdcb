"""Detects a stalled connection by means of the app's own messages.

A connection may answer every ping but deliver no events for hours; in a quiet workspace that looks
normal. But wherever Slack delivers other people's messages, it also delivers the app's own within
moments. If the event of one of the app's messages does not arrive, the connection has stalled.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from math import inf
from typing import Any, Final

import anyio

from channels.clock import Clock

ECHO_SECONDS: Final = 4.0
"""Maximum seconds until the event of one of the app's own messages arrives."""

MAX_CHANNELS: Final = 2_000


class SelfEvents:
    """Tracks the app's own messages whose event has not arrived yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None  # when the earliest of these messages was sent
        self._sent = anyio.Event()
        self._kind = self._overdue_kind = ""
        self._heard: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._without_event: set[str] = set()
        self._early: set[tuple[str, str]] = set()  # where an event came before Slack's answer
        self._heard_at = -inf

    def sent(self, account: str, channel: str, kind: str) -> None:
        is_delivered = (account, channel) in self._heard and kind not in self._without_event
        if (account, channel) in self._early:
            self._early.discard((account, channel))
        elif is_delivered and self._since is None:
            self._since, self._kind = self._clock.monotonic(), kind
            self._sent.set()

    def sent_elsewhere(self, account: str, channel: str, kind: str) -> None:
        """Record a message that another process sent, unless its event may have come already."""
        if self._clock.monotonic() - self._heard_at > ECHO_SECONDS:
            self.sent(account, channel, kind)

    def heard(self, account: str, event: Mapping[str, Any]) -> None:
        """Record that an event arrived, which proves that events are delivered."""
        self._heard_at = self._clock.monotonic()
        was_expected, self._since = self._since is not None, None
        if event.get("type") == "message" and isinstance(event.get("channel"), str):
            if event.get("bot_id") and not was_expected:
                self._early.add((account, event["channel"]))
            self._heard[account, event["channel"]] = None
            while len(self._heard) > MAX_CHANNELS:
                self._heard.popitem(last=False)

    async def overdue(self) -> None:
        """Wait until an expected event is overdue."""
        while True:
            await self._sent.wait()
            self._sent = anyio.Event()
            while self._since is not None:
                await self._clock.sleep(ECHO_SECONDS / 8)
                if self._is_overdue():
                    self._overdue_kind = self._kind
                    return

    def _is_overdue(self) -> bool:
        since = self._since
        return since is not None and self._clock.monotonic() - since >= ECHO_SECONDS

    def expect_nothing(self) -> None:
        self._since = None
        self._early.clear()

    def forgive(self) -> None:
        """Stop expecting events of the overdue kind, since other events arrived without it."""
        if self._overdue_kind == "stream":  # Slack always delivers posts and edits
            self._without_event.add(self._overdue_kind)
        self._since = None
