"""What every event of Slack has: the app that it is for, its place, its time and its author."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from channels.message import Author
from channels.slack.mrkdwn import decode
from channels.slack.workspaces import Workspace

Raw = Mapping[str, Any]

CHANNEL: Final = "slack"
TS: Final = re.compile(r"\d{1,12}\.\d{1,6}")


@dataclass(frozen=True, slots=True)
class SlackSelf:
    """The app's identity and names in a workspace, and the rules by which it answers."""

    workspace: Workspace
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def read(self, text: str) -> str:
        """Return a text in Slack's markup as people see it."""
        names = self.workspace.names
        return decode(text, names.person, names.channel)


def ts_of(event: Raw) -> str:
    """Return the timestamp that orders an event in its channel, or "" if it has none."""
    found = event.get("ts") or event.get("event_ts")
    return found if isinstance(found, str) and TS.fullmatch(found) else ""


def moment_of(seconds: Any) -> str:
    """Return a time in seconds, as number or text, in ISO 8601; "" if it is none."""
    try:
        return datetime.fromtimestamp(float(seconds), UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def is_own(event: Raw, workspace: Workspace) -> bool:
    is_bot = bool(workspace.bot) and event.get("bot_id") == workspace.bot
    return is_bot or event.get("user") == workspace.user


def location_of(event: Raw, me: SlackSelf, event_id: str) -> dict[str, Any]:
    """Return the fields that say where and when; raises an error if a field is malformed."""
    chat_id, ts = event["channel"], event["ts"]
    if not (isinstance(chat_id, str) and chat_id and isinstance(ts, str) and TS.fullmatch(ts)):
        raise ValueError("it has no channel or no stamp")
    private = event.get("channel_type") == "im" or chat_id.startswith("D")
    thread = event.get("thread_ts")
    name = me.workspace.names.channel(chat_id) if not private else ""
    return {
        "channel": CHANNEL,
        "account": me.workspace.account,
        "chat_id": chat_id,
        "chat_kind": "private" if private else "group",
        "chat_title": name if name != chat_id else "",
        "ext_id": f"{chat_id}/{ts}",
        "alt_id": str(event.get("client_msg_id") or event_id) or None,
        "message_id": ts,
        "thread_id": str(thread) if thread and thread != ts else None,
        "date": datetime.fromtimestamp(float(ts), UTC).isoformat(),
        # Opening a workspace opens its channels, not the direct messages of everybody in them.
        "server_id": "" if private else me.workspace.team,
    }


def author_of(event: Raw, me: SlackSelf) -> Author:
    profile = event.get("bot_profile") or {}
    bot_id = str(event.get("bot_id") or "")
    user_id = str(event.get("user") or "")
    if bot_id:
        named = event.get("username") or profile.get("name")
        name = str(named or user_id or bot_id)
        return Author(user_id or bot_id, name, is_bot=True, acts_as="other")
    person = event.get("user_profile") or {}
    me.workspace.names.learn(
        user_id, str(person.get("display_name") or person.get("real_name") or "")
    )
    name = me.workspace.names.person(user_id)
    is_slackbot = user_id == "USLACKBOT"  # whose answers are written by people, as a webhook's are
    return Author(user_id, name, is_bot=is_slackbot, acts_as="other" if is_slackbot else "person")
