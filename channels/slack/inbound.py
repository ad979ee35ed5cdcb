"""From what Slack tells to a message: who says what, and whether the app is asked.

A mention comes twice, as `message` and as `app_mention`: both have the same key, and whichever
comes first counts. A field that is new, missing or of another type stops nothing behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from channels.mentions import calls
from channels.message import Author, InboundMessage, Quote
from channels.slack.media import media_of
from channels.slack.mrkdwn import decode, mentioned, prose
from channels.slack.workspaces import Workspace

Raw = Mapping[str, Any]

CHANNEL: Final = "slack"
TS: Final = re.compile(r"\d{1,12}\.\d{1,6}")
LONGEST_QUOTE: Final = 1000

SAID: Final = frozenset((None, "bot_message", "file_share", "me_message", "thread_broadcast"))
"""The subtypes of what somebody says; others tell of a channel's affairs."""

SECRET: Final = frozenset(("token", "response_url", "response_urls"))
"""What is left out of a delivery that is kept as it came: with these others could pose as Slack."""

STONE: Final = "tombstone"
"""What is left of a deleted message under which there are replies."""

COMMANDS: Final = {
    "help": ",help",
    "reset": ",reset",
    "start": ",start",
    "status": ",tape.info",
    "stop": ",stop",
}
_OURS: Final = re.compile(r",[a-z]", re.IGNORECASE)
_LEADING: Final = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^>]*)?>[\s:]*")
_MEMBERSHIP: Final = {
    "member_joined_channel": ("added", "{} added the app to the channel."),
    "channel_left": ("removed", "{} removed the app from the channel."),
    "group_left": ("removed", "{} removed the app from the channel."),
}


@dataclass(frozen=True, slots=True)
class SlackSelf:
    """Who the app is in a workspace, what it is called, and what it answers."""

    workspace: Workspace
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def parse(body: Raw, me: SlackSelf) -> InboundMessage | None:
    """Read what was delivered; None for what concerns nobody here. What cannot be read raises."""
    if "command" in body:
        return _commanded(body, me)
    event = body.get("event")
    if body.get("type") != "event_callback" or not isinstance(event, Mapping):
        return None
    return of_event(event, me, str(body.get("event_id") or ""))


def of_event(event: Raw, me: SlackSelf, event_id: str = "") -> InboundMessage | None:
    """Read an event, or a message of a channel's history with its channel put in."""
    kind = event["type"]
    if kind in _MEMBERSHIP:
        return _membership(event, me, event_id)
    if kind == "agent_session_stopped":
        return _stopped(event, me, event_id)
    if kind in ("channel_rename", "group_rename"):
        return _renamed(event, me, event_id)
    if kind not in ("message", "app_mention"):
        return None
    if event.get("subtype") == "message_changed":
        return _changed(event, me, event_id)
    if event.get("subtype") == "message_deleted":
        gone = event.get("previous_message") or {}
        return _deleted({**gone, "ts": event["deleted_ts"]}, event, me, event_id)
    if event.get("subtype") not in SAID or is_own(event, me.workspace):
        return None
    return _message(event, me, event_id)


def edit_of(event: Raw, me: SlackSelf) -> InboundMessage | None:
    """Return the edit by which a message of a history got its text, where there is one."""
    if event.get("subtype") not in SAID or is_own(event, me.workspace) or not event.get("edited"):
        return None
    return _edit(event, event, me, "")


def ts_of(event: Raw) -> str:
    """Return by which stamp an event is ordered among its channel's; "" where it has none."""
    found = event.get("ts") or event.get("event_ts")
    return found if isinstance(found, str) and TS.fullmatch(found) else ""


def is_own(event: Raw, workspace: Workspace) -> bool:
    """Tell whether the app itself said something."""
    if event.get("user") == workspace.user:
        return True
    return bool(workspace.bot) and event.get("bot_id") == workspace.bot


def unreadable(body: Any, why: str, account: str) -> InboundMessage:
    """Keep what cannot be read, so that it comes once and is never lost."""
    if isinstance(body, Mapping):
        body = {name: held for name, held in body.items() if name not in SECRET}
    try:
        text = json.dumps(body, default=str)
    except (RecursionError, ValueError):
        text = '"what is too deep to be written down"'
    named = body.get("event_id") if isinstance(body, Mapping) else None
    key = named if isinstance(named, str) and named else sha256(text.encode()).hexdigest()[:20]
    return InboundMessage(
        channel=CHANNEL,
        account=account,
        chat_id="unreadable",
        ext_id=f"unreadable/{key}",
        message_id="",
        sender=Author("", ""),
        text="",
        date=datetime.now(UTC).isoformat(),
        kind="unreadable",
        why=why,
        raw={"json": text},
    )


def _message(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    raw = str(event.get("text") or "")
    told, forwarded, quote = _shared(event)
    command = _as_command(raw, me)
    asked, why = _addressed(event, raw, me)
    text = _read(raw, me) or told
    return InboundMessage(
        **_place(event, me, event_id),
        sender=_sender(event, me),
        text=_read(command, me) if command and asked else text,
        mentions=tuple(mentioned(raw)),
        addressed=asked,
        why="command" if command and asked else why,
        follows=not asked and _may_follow(event, raw, me),
        media=media_of(event, me.workspace.account),
        forwarded=None if raw.strip() else forwarded,
        quote=quote if raw.strip() else None,
        raw={"team": str(event.get("user_team") or event.get("team") or me.workspace.team)},
    )


def _changed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    """Read that a message reads otherwise; a preview that Slack puts under it is no edit."""
    now, before = event["message"], event.get("previous_message") or {}
    if now.get("subtype") == STONE:
        return _deleted({**before, "ts": now["ts"]}, event, me, event_id)
    if now.get("subtype") not in SAID or is_own(now, me.workspace) or not now.get("edited"):
        return None
    if "text" in before and before["text"] == now.get("text"):
        return None
    return _edit(now, event, me, event_id)


def _deleted(gone: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    """Read that a message is gone."""
    place = _place(
        {**gone, "channel": event["channel"], "channel_type": event.get("channel_type")},
        me,
        event_id,
    )
    place["ext_id"] = f"{place['ext_id']}/deleted"
    return InboundMessage(**place, sender=Author("", ""), text="", kind="delete")


def _edit(now: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    place = _place(
        {**now, "channel": event["channel"], "channel_type": event.get("channel_type")},
        me,
        event_id,
    )
    raw = str(now.get("text") or "")
    mark = sha256(raw.encode("utf-8", "replace")).hexdigest()[:8]
    place["ext_id"] = f"{place['ext_id']}/edit/{now['edited'].get('ts', '')}-{mark}"
    text = _read(_as_command(raw, me) or raw, me)
    return InboundMessage(**place, sender=_sender(now, me), text=text, kind="edit")


def _commanded(body: Raw, me: SlackSelf) -> InboundMessage:
    """Read a slash command: one of ours, or a question."""
    said = str(body.get("text") or "").strip()
    word, _, rest = said.partition(" ")
    text = COMMANDS.get(word.lower(), "") if said else ",help"
    if text:
        text = f"{text} {rest}".strip()
    else:
        text = rest.strip() if word.lower() == "ask" and rest.strip() else said
    chat_id, user_id = str(body["channel_id"]), str(body["user_id"])
    stamp = str(body.get("trigger_id") or "")
    key = stamp or sha256(repr(sorted(body.items())).encode()).hexdigest()[:20]
    private = chat_id.startswith("D")
    me.workspace.names.learn(user_id, str(body.get("user_name") or ""))
    return InboundMessage(
        channel=CHANNEL,
        account=me.workspace.account,
        chat_id=chat_id,
        chat_kind="private" if private else "group",
        chat_title="" if private else str(body.get("channel_name") or ""),
        ext_id=f"{chat_id}/command/{key}",
        alt_id=stamp or None,
        message_id="",
        date=me.now().isoformat(),
        sender=Author(user_id, me.workspace.names.person(user_id)),
        text=_read(text, me),
        addressed=True,
        why="command" if text.startswith(",") else "asked by a command",
        raw={"team": str(body.get("team_id") or me.workspace.team)},
    )


def stop_of(place: Mapping[str, Any], sender: Author, stopped: str) -> InboundMessage:
    """Return the command that the Stop of an answer is; `stopped` names what was stopped."""
    told = {**place, "ext_id": f"{place['chat_id']}/stop/{stopped}", "message_id": ""}
    return InboundMessage(
        **told, sender=sender, text=",stop", addressed=True, why="the Stop of an answer"
    )


def _stopped(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    """Read that somebody pressed the Stop that Slack shows at an answer."""
    place = _place({"ts": event["event_ts"], **event}, me, event_id)
    user_id = str(event.get("user") or "")
    streams = event.get("streaming_message_ts") or [f"{event['thread_ts']}/{event['event_ts']}"]
    return stop_of(place, Author(user_id, me.workspace.names.person(user_id)), str(streams[0]))


def _membership(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    """Read that the app was added to a channel, or removed from one."""
    if event["type"] == "member_joined_channel" and event.get("user") != me.workspace.user:
        return None
    change, sentence = _MEMBERSHIP[event["type"]]
    who = str(event.get("inviter") or event.get("actor_id") or "")
    sender = Author(who, me.workspace.names.person(who) if who else "Somebody")
    return _told(
        event, event["channel"], change, sentence.format(sender.name), sender, me, event_id
    )


def _renamed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    channel = event["channel"]
    name = str(channel.get("name") or "")
    me.workspace.names.learn(str(channel["id"]), name)
    text = f"The channel has a new name: {name}."
    return _told(event, channel["id"], "renamed", text, Author("", "Somebody"), me, event_id)


def _told(
    event: Raw, chat_id: str, change: str, text: str, sender: Author, me: SlackSelf, event_id: str
) -> InboundMessage:
    stamp = str(event.get("event_ts") or event_id)
    place = _place({"channel": chat_id, "ts": stamp}, me, event_id)
    place |= {"ext_id": f"{chat_id}/{change}/{stamp}", "message_id": ""}
    return InboundMessage(**place, sender=sender, text=text, kind="change", change=change)


def _place(event: Raw, me: SlackSelf, event_id: str) -> dict[str, Any]:
    """Return which message of which conversation it is."""
    chat_id, ts = event["channel"], event["ts"]
    if not (isinstance(chat_id, str) and chat_id and isinstance(ts, str) and TS.fullmatch(ts)):
        raise ValueError("it does not say where and when it was said")
    private = event.get("channel_type") == "im" or chat_id.startswith("D")
    thread = event.get("thread_ts")
    return {
        "channel": CHANNEL,
        "account": me.workspace.account,
        "chat_id": chat_id,
        "chat_kind": "private" if private else "group",
        "chat_title": "" if private else _title(chat_id, me),
        "ext_id": f"{chat_id}/{ts}",
        "alt_id": str(event.get("client_msg_id") or event_id) or None,
        "message_id": ts,
        "thread_id": str(thread) if thread and thread != ts else None,
        "date": datetime.fromtimestamp(float(ts), UTC).isoformat(),
    }


def _title(chat_id: str, me: SlackSelf) -> str:
    name = me.workspace.names.channel(chat_id)
    return "" if name == chat_id else name


def _sender(event: Raw, me: SlackSelf) -> Author:
    """Return who wrote; a bot without a user is known by its own id."""
    profile = event.get("bot_profile") or {}
    bot_id = str(event.get("bot_id") or "")
    user_id = str(event.get("user") or "")
    if bot_id:
        named = event.get("username") or profile.get("name")
        return Author(user_id or bot_id, str(named or user_id or bot_id), is_bot=True)
    person = event.get("user_profile") or {}
    me.workspace.names.learn(
        user_id, str(person.get("display_name") or person.get("real_name") or "")
    )
    name = me.workspace.names.person(user_id)
    return Author(user_id, name, is_bot=user_id == "USLACKBOT")


def _read(text: str, me: SlackSelf) -> str:
    names = me.workspace.names
    return decode(text, names.person, names.channel)


def _addressed(event: Raw, raw: str, me: SlackSelf) -> tuple[bool, str]:
    """Tell whether the app is asked, and by which rule."""
    if event.get("channel_type") == "im" or str(event["channel"]).startswith("D"):
        return "private" in me.answers, "private chat"
    if _as_command(raw, me):
        return True, "command"
    named = event["type"] == "app_mention" or me.workspace.user in mentioned(raw)
    if "mention" in me.answers and named:
        return True, "mention"
    if "reply" in me.answers and _in_own_thread(event, me):
        return True, "reply"
    if "name" in me.answers and calls(prose(raw), [name for name in me.names if name]):
        return True, "name"
    return False, "said to the channel"


def _in_own_thread(event: Raw, me: SlackSelf) -> bool:
    """Tell whether a message stands in the thread of one of the app's."""
    return bool(event.get("thread_ts")) and event.get("parent_user_id") == me.workspace.user


def _may_follow(event: Raw, raw: str, me: SlackSelf) -> bool:
    """Tell whether a message is for the app if its thread is a conversation with it."""
    to_others = any(one != me.workspace.user for one in mentioned(raw))
    in_thread = event.get("thread_ts") not in (None, event["ts"])
    return "thread" in me.answers and in_thread and not to_others


def _as_command(raw: str, me: SlackSelf) -> str | None:
    """Return the line that begins with a comma, also where a mention of the app stands before."""
    leading = _LEADING.match(raw)
    line = raw[leading.end() :] if leading and leading[1] == me.workspace.user else raw.lstrip()
    return line if _OURS.match(line) else None


def _shared(event: Raw) -> tuple[str, Quote | None, Quote | None]:
    """Return what stands beside a text: that of attachments, and whose words are shared."""
    found = event.get("attachments")
    attachments = [one for one in found if isinstance(one, Mapping)] if found else []
    for one in attachments:
        if one.get("is_share") or one.get("is_msg_unfurl"):
            text = str(one.get("text") or one.get("fallback") or "")[:LONGEST_QUOTE]
            author = str(one.get("author_name") or one.get("author_subname") or "somebody")
            quote = Quote(author, str(one.get("author_id") or ""), text)
            return text, quote, quote
    told = [str(one.get("text") or one.get("fallback") or "") for one in attachments]
    return "\n".join(text for text in told if text), None, None
