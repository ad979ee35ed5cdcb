"""Streams: messages to which Slack appends text.

A stream is in a thread and for one person. The stream ends after about five minutes, or when that
person presses Stop. https://docs.slack.dev/reference/methods/chat.startStream
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from channels.errors import SendDelayed, SendRefused, TooLarge
from channels.message import InboundMessage
from channels.pacing import Priority
from channels.slack.api import Refused
from channels.slack.threads import thread_for
from channels.slack.workspaces import Workspace

STOPPED: Final = "stopped_by_user"
ABSENT: Final = frozenset(
    ("unknown_method", "method_deprecated", "not_allowed", "feature_not_enabled", "access_denied")
)
"""Error codes of a server or workspace that does not support streams at all."""


class StreamOver(SendRefused):
    """The stream accepts no more text; `stopped` means that somebody pressed Stop."""

    def __init__(self, *, stopped: bool = False) -> None:
        self.stopped = stopped
        super().__init__("the stream is over")


@dataclass(slots=True)
class Stream:
    workspace: Workspace
    channel: str
    ts: str
    text: str


class Streams:
    """The open streams of this process; maps a message's `ext_id` to the stream that answers it."""

    def __init__(self) -> None:
        self._open: dict[str, Stream] = {}
        self._absent: set[str] = set()

    def is_open(self, message: InboundMessage) -> bool:
        return message.ext_id in self._open

    def stamps_in(self, channel: str) -> list[str]:
        return [one.ts for one in self._open.values() if one.channel == channel]

    def is_possible(self, workspace: Workspace, message: InboundMessage) -> bool:
        return (
            workspace.account not in self._absent
            and thread_for(message) is not None
            and not message.sender.is_bot
            and bool(message.sender.id)
        )

    async def start(self, workspace: Workspace, message: InboundMessage, text: str) -> str | None:
        """Start a stream; return its timestamp, or None if Slack refuses it.

        A workspace that does not support streams is not asked for one again.
        """
        try:
            found = await workspace.api.call(
                "chat.startStream",
                priority=Priority.FIRST_TEXT,
                channel=message.chat_id,
                thread_ts=thread_for(message),
                recipient_team_id=str(message.raw.get("team") or workspace.team),
                recipient_user_id=message.sender.id,
                markdown_text=text,
            )
        except Refused as refused:
            if refused.code in ABSENT:
                self._absent.add(workspace.account)
            return None
        ts = str(found.get("ts") or "")
        if not ts:
            raise SendRefused("Slack did not return the stream's stamp, so that it cannot be ended")
        self._open[message.ext_id] = Stream(workspace, message.chat_id, ts, text)
        return ts

    async def append(self, message: InboundMessage, text: str) -> bool:
        """Append a text's new part; return False if earlier text changed; raises StreamOver."""
        stream = self._open[message.ext_id]
        if not text.startswith(stream.text):
            self.forget(message.ext_id)
            return False
        more = text[len(stream.text) :]
        api = stream.workspace.api
        if not more or not await api.limits.allows("chat.appendStream", Priority.EDIT):
            return True  # the rest is appended next time
        try:
            await api.call(
                "chat.appendStream",
                priority=Priority.EDIT,
                channel=stream.channel,
                ts=stream.ts,
                markdown_text=more,
            )
        except Refused as refused:
            self.forget(message.ext_id)
            raise StreamOver(stopped=refused.code == STOPPED) from None
        except SendDelayed:
            return True
        except BaseException:
            self.forget(message.ext_id)  # an unknown part of the text may have arrived
            raise
        stream.text = text
        return True

    async def finish(self, ext_id: str, ts: str, text: str, metadata: dict[str, Any]) -> bool:
        """End a stream with the complete text; return False if that requires an edit instead."""
        stream = self._open.pop(ext_id, None)
        if stream is None or stream.ts != ts or not text.startswith(stream.text):
            return False
        more = text[len(stream.text) :]
        given = {"markdown_text": more or None, "metadata": metadata}
        try:
            await stop(stream.workspace, stream.channel, ts, **given)
        except (Refused, TooLarge):  # an edit can show what the stream lacks
            return False
        return True

    def forget(self, ext_id: str) -> None:
        """From now on, treat a stream as an ordinary message."""
        self._open.pop(ext_id, None)


async def stop(workspace: Workspace, channel: str, ts: str, **more: Any) -> None:
    await workspace.api.call("chat.stopStream", channel=channel, ts=ts, **more)
