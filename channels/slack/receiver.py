"""Parses deliveries, orders their messages, and stores them before Slack gets its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, Protocol

from channels.errors import ChannelError
from channels.host import ChannelHost
from channels.message import InboundMessage
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.event_fields import Raw, SlackSelf, ts_of
from channels.slack.inbound import BY_COMMAND, parse, unreadable
from channels.slack.reorder import ReorderBuffer
from channels.slack.workspaces import Workspace, Workspaces

ACCESS_LOST: Final = ("tokens_revoked", "app_uninstalled")
IN_CHANNEL: Final = '{"response_type": "in_channel"}'
"""Makes Slack show a slash command in the channel, which would otherwise see only the answer."""

RATE_LIMITED: Final = (
    "Slack drops events because the app gets more than 30,000 an hour. I read the missing messages"
    " from the history."
)
UNKNOWN_WORKSPACE: Final = "I dropped an event from a workspace that the app has no token for."


class EventSink(Protocol):  # implemented by the channel
    def identity(self, workspace: Workspace) -> SlackSelf:
        """Return the app's identity in a workspace."""

    async def accept(self, messages: Sequence[InboundMessage]) -> None:
        """Store messages; raises ChannelError."""

    def access_lost(self, workspace: Workspace) -> None:
        """Check whether the app was removed from a workspace."""


class EventReceiver:
    def __init__(
        self,
        host: ChannelHost,
        workspaces: Workspaces,
        monitor: ConnectionMonitor,
        sink: EventSink,
        hold: float,
    ) -> None:
        self._host = host
        self._workspaces = workspaces
        self._monitor = monitor
        self._sink = sink
        self._reorder = ReorderBuffer(hold, host.clock, sink.accept)

    def warn(self, text: str) -> None:
        self._host.warn(text)

    async def take(self, body: Raw) -> str | None:
        """Store a delivery; return the answer to Slack, or None if Slack must redeliver it."""
        return await self._or_missed(self._take(body))

    async def keep_unreadable(self, body: Any) -> bool:
        """Store a delivery that Bolt could not parse; return whether that succeeded."""
        self._host.log_exception("slack.delivery_unreadable")
        workspace = self._workspaces.of_body(body) if isinstance(body, Mapping) else None
        account = workspace.account if workspace is not None else ""
        message = unreadable(body, "Slack's delivery does not have the documented form", account)
        return await self._or_missed(self._put(message, "")) is not None

    async def _or_missed(self, work: Awaitable[str]) -> str | None:
        try:
            return await work
        except ChannelError:
            pass  # the host itself reports why it cannot store anything
        except Exception:
            self._host.log_exception("slack.delivery_failed")
        self._monitor.gaps.missed()
        return None

    async def _take(self, body: Raw) -> str:
        if body.get("type") == "app_rate_limited":
            self._host.warn(RATE_LIMITED)
            self._monitor.gaps.missed()
            self._monitor.state.accepted()
            return ""
        workspace = self._workspaces.of_body(body)
        if workspace is None:
            self._host.warn(UNKNOWN_WORKSPACE)
            return ""
        given = body.get("event")
        event = given if isinstance(given, Mapping) else {}
        self._monitor.heard(workspace.account, event)
        if event.get("type") in ACCESS_LOST:
            self._sink.access_lost(workspace)
            return ""
        message = self._parse(body, workspace)
        if message is None:
            return ""
        ts = ts_of(event)
        if ts:
            await self._monitor.gaps.wait_filled()
        return await self._put(message, "" if message.kind == "unreadable" else ts)

    async def _put(self, message: InboundMessage, ts: str) -> str:
        await self._reorder.put(message, ts)
        by_command = message.why == BY_COMMAND and message.chat_kind == "group"
        return IN_CHANNEL if by_command else ""

    def _parse(self, body: Raw, workspace: Workspace) -> InboundMessage | None:
        try:
            return parse(body, self._sink.identity(workspace))
        except Exception as cause:
            self._host.log_exception("slack.event_unreadable")
            why = f"{type(cause).__name__}: {cause}"
            return unreadable(body, why, workspace.account)
