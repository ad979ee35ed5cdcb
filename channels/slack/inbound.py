"""Parses Slack's events: who wrote what, and whether the message is for the app.

A mention arrives as two events, `message` and `app_mention`, which have the same key. The event
that arrives first counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from channels.commands import after_mention, command_line
from channels.mentions import calls
from channels.message import Author, InboundMessage, Quote, unreadable_message
from channels.slack.format import ACTION
from channels.slack.media import Raw, media_of
from channels.slack.mrkdwn import decode, mentioned, prose
from channels.slack.name_cache import Names
from channels.slack.workspaces import Workspace

CHANNEL: Final = "slack"
TS: Final = re.compile(r"\d{1,12}\.\d{1,6}")
MAX_QUOTE: Final = 1000  # characters

SUBTYPES: Final = frozenset((None, "bot_message", "file_share", "me_message", "thread_broadcast"))
"""The subtypes of messages that people and apps write; others are notices, such as a new topic."""

SECRET: Final = frozenset(("token", "response_url", "response_urls"))
"""Fields that are removed before a delivery is stored: whoever has them could pose as Slack."""

BY_COMMAND: Final = "asked by a command"
STOP: Final = ",stop"
TOMBSTONE: Final = "tombstone"  # the subtype of a deleted message that has replies
LOCATION: Final = ("channel", "account", "chat_id", "chat_kind", "chat_title", "date", "server_id")
"""Fields that a stop command copies from the message whose answer it stops."""

_NAMES: Final = "console forget handoff help open pair reset rewind start stop"
COMMANDS: Final = {"status": ",tape.info"} | {name: f",{name}" for name in _NAMES.split()}
_LEADING: Final = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^>]*)?>")
# An id in place of a name that was not known yet when the mention was decoded.
_UNNAMED: Final = re.compile(r"(?<=[@#])[A-Z][A-Z0-9]+")
_MEMBERSHIP: Final = {
    "member_joined_channel": ("added", "{} added the app to the channel."),
    "channel_left": ("removed", "{} removed the app from the channel."),
    "group_left": ("removed", "{} removed the app from the channel."),
}


@dataclass(frozen=True, slots=True)
class SlackSelf:
    """The app's identity and names in a workspace, and the rules by which it answers."""

    workspace: Workspace
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def parse(body: Raw, me: SlackSelf) -> InboundMessage | None:
    """Parse a delivery; None if it has no message; raises an error if a field is malformed."""
    if "command" in body:
        return _commanded(body, me)
    if body.get("type") == "block_actions":
        return _pressed(body, me)
    event = body.get("event")
    if body.get("type") != "event_callback" or not isinstance(event, Mapping):
        return None
    return of_event(event, me, str(body.get("event_id") or ""))


def of_event(event: Raw, me: SlackSelf, event_id: str = "") -> InboundMessage | None:
    """Parse an event, or a message from the history with its channel added."""
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
    return _message(event, me, event_id) if _is_written(event, me) else None


def edit_of(event: Raw, me: SlackSelf) -> InboundMessage | None:
    """Return the edit that gave a message from the history its text, or None."""
    return _edit(event, event, me, "") if _is_edited(event, me) else None


def ts_of(event: Raw) -> str:
    """Return the timestamp that orders an event in its channel, or "" if it has none."""
    found = event.get("ts") or event.get("event_ts")
    return found if isinstance(found, str) and TS.fullmatch(found) else ""


def _is_written(event: Raw, me: SlackSelf) -> bool:
    return event.get("subtype") in SUBTYPES and not is_own(event, me.workspace)


def is_own(event: Raw, workspace: Workspace) -> bool:
    is_bot = bool(workspace.bot) and event.get("bot_id") == workspace.bot
    return is_bot or event.get("user") == workspace.user


def fill_names(message: InboundMessage, names: Names) -> InboundMessage:
    """Replace ids by names that were looked up after the message was parsed."""
    sender, text, title = message.sender, message.text, message.chat_title
    if sender.id and sender.name == sender.id:
        sender = replace(sender, name=names.known(sender.id))
        if message.kind == "change":
            text = text.replace(sender.id, sender.name, 1)
    text, command = (
        _UNNAMED.sub(lambda found: names.known(found[0]), one) for one in (text, message.command)
    )
    if message.chat_kind == "group" and not title:
        title = names.known(message.chat_id, "")
    if (sender, text, title) == (message.sender, message.text, message.chat_title):
        return message
    return replace(message, sender=sender, text=text, command=command, chat_title=title)


def unreadable(body: Any, why: str, account: str) -> InboundMessage:
    """Return a record of a delivery that cannot be parsed, so that it is stored once."""
    if isinstance(body, Mapping):
        body = {name: held for name, held in body.items() if name not in SECRET}
    named = body.get("event_id") if isinstance(body, Mapping) else None
    key = named if isinstance(named, str) else ""
    return unreadable_message(CHANNEL, body, why, key=key, account=account)


def _message(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    raw = str(event.get("text") or "")
    attached, forwarded, quote = _shared(event)
    addressed, why = _addressed(event, raw, me)
    return InboundMessage(
        **_location(event, me, event_id),
        sender=_sender(event, me),
        text=_read(raw, me) or attached,
        mentions=tuple(mentioned(raw)),
        addressed=addressed,
        why=why,
        follows=not addressed and _may_follow(event, raw, me),
        media=media_of(event, me.workspace.account),
        forwarded=None if raw.strip() else forwarded,
        quote=quote if raw.strip() else None,
        command=as_command(raw, me),
        raw={"team": str(event.get("user_team") or event.get("team") or me.workspace.team)},
    )


def _changed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    # When Slack adds a link preview it reports a change as well, which is not an edit.
    now, before = event["message"], event.get("previous_message") or {}
    if now.get("subtype") == TOMBSTONE:
        return _deleted({**before, "ts": now["ts"]}, event, me, event_id)
    is_same = "text" in before and before["text"] == now.get("text")
    return _edit(now, event, me, event_id) if _is_edited(now, me) and not is_same else None


def _is_edited(message: Raw, me: SlackSelf) -> bool:
    return _is_written(message, me) and bool(message.get("edited"))


def _deleted(gone: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    location = _location(_in_channel_of(event, gone), me, event_id)
    location["ext_id"] = f"{location['ext_id']}/deleted"
    return InboundMessage(**location, sender=Author("", ""), text="", kind="delete")


def _in_channel_of(event: Raw, message: Raw) -> Raw:
    return {**message, "channel": event["channel"], "channel_type": event.get("channel_type")}


def _edit(now: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    location = _location(_in_channel_of(event, now), me, event_id)
    raw = str(now.get("text") or "")
    digest = sha256(raw.encode("utf-8", "replace")).hexdigest()[:8]
    location["ext_id"] = f"{location['ext_id']}/edit/{now['edited'].get('ts', '')}-{digest}"
    return InboundMessage(**location, sender=_sender(now, me), text=_read(raw, me), kind="edit")


def _commanded(body: Raw, me: SlackSelf) -> InboundMessage:
    written = str(body.get("text") or "").strip()
    word, _, rest = written.partition(" ")
    command = COMMANDS.get(word.lower(), "") if written else ",help"
    question = rest.strip() if word.lower() == "ask" and rest.strip() else written
    text = f"{command} {rest}".strip() if command else question
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
        command=_read(text, me) if text.startswith(",") else "",
        addressed=True,
        why="command" if text.startswith(",") else BY_COMMAND,
        server_id="" if private else me.workspace.team,
        raw={"team": str(body.get("team_id") or me.workspace.team)},
    )


def _pressed(body: Raw, me: SlackSelf) -> InboundMessage | None:
    actions = (one for one in body["actions"] if str(one.get("action_id")).startswith(ACTION))
    action = next(actions, None)
    if action is None:
        return None
    place, below, user = body.get("container") or {}, body.get("message") or {}, body["user"]
    chat_id, user_id, stamp = str(body["channel"]["id"]), str(user["id"]), str(action["action_ts"])
    thread = below.get("thread_ts") or place.get("thread_ts")
    location = _location({"channel": chat_id, "ts": stamp}, me, "")
    ts = str(below.get("ts") or place["message_ts"])
    location |= {
        "ext_id": f"press/{chat_id}/{stamp}/{user_id}",
        "message_id": ts,
        "thread_id": str(thread) if thread and thread != ts else None,
    }
    sender = Author(user_id, me.workspace.names.person(user_id))
    return InboundMessage(
        **location, sender=sender, text="", kind="press", press=str(action.get("value") or "")
    )


def stop_of(location: Mapping[str, Any], sender: Author, stopped: str) -> InboundMessage:
    """Return the command of a Stop button; `stopped` is the timestamp of the stopped answer."""
    fields = {**location, "ext_id": f"{location['chat_id']}/stop/{stopped}", "message_id": ""}
    return InboundMessage(
        **fields,
        sender=sender,
        text=STOP,
        command=STOP,
        addressed=True,
        why="the Stop of an answer",
    )


def _stopped(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    location = _location({"ts": event["event_ts"], **event}, me, event_id)
    user_id = str(event.get("user") or "")
    streams = event.get("streaming_message_ts") or [f"{event['thread_ts']}/{event['event_ts']}"]
    return stop_of(location, Author(user_id, me.workspace.names.person(user_id)), str(streams[0]))


def _membership(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    if event["type"] == "member_joined_channel" and event.get("user") != me.workspace.user:
        return None
    change, sentence = _MEMBERSHIP[event["type"]]
    who = str(event.get("inviter") or event.get("actor_id") or "")
    sender = Author(who, me.workspace.names.person(who) if who else "Somebody")
    return _change(
        event, event["channel"], change, sentence.format(sender.name), sender, me, event_id
    )


def _renamed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    channel = event["channel"]
    name = str(channel.get("name") or "")
    me.workspace.names.learn(str(channel["id"]), name)
    text = f"The channel has a new name: {name}."
    return _change(event, channel["id"], "renamed", text, Author("", "Somebody"), me, event_id)


def _change(
    event: Raw, chat_id: str, change: str, text: str, sender: Author, me: SlackSelf, event_id: str
) -> InboundMessage:
    stamp = str(event.get("event_ts") or event_id)
    location = _location({"channel": chat_id, "ts": stamp}, me, event_id)
    location |= {"ext_id": f"{chat_id}/{change}/{stamp}", "message_id": ""}
    return InboundMessage(**location, sender=sender, text=text, kind="change", change=change)


def _location(event: Raw, me: SlackSelf, event_id: str) -> dict[str, Any]:
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


def _sender(event: Raw, me: SlackSelf) -> Author:
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


def _read(text: str, me: SlackSelf) -> str:
    names = me.workspace.names
    return decode(text, names.person, names.channel)


def _addressed(event: Raw, raw: str, me: SlackSelf) -> tuple[bool, str]:
    if event.get("channel_type") == "im" or str(event["channel"]).startswith("D"):
        return "private" in me.answers, "private chat"
    named = event["type"] == "app_mention" or me.workspace.user in mentioned(raw)
    if "mention" in me.answers and named:
        return True, "mention"
    in_own_thread = event.get("thread_ts") and event.get("parent_user_id") == me.workspace.user
    if "reply" in me.answers and in_own_thread:
        return True, "reply"
    if "name" in me.answers and calls(prose(raw), [name for name in me.names if name]):
        return True, "name"
    return False, "said to the channel"


def _may_follow(event: Raw, raw: str, me: SlackSelf) -> bool:
    to_others = any(one != me.workspace.user for one in mentioned(raw))
    in_thread = event.get("thread_ts") not in (None, event["ts"])
    return "thread" in me.answers and in_thread and not to_others


def as_command(raw: str, me: SlackSelf) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or ""."""
    leading = _LEADING.match(raw)
    is_own = leading is not None and leading[1] == me.workspace.user
    said = after_mention(raw, leading.end()) if leading is not None and is_own else raw
    return _read(command_line(said), me)


def _shared(event: Raw) -> tuple[str, Quote | None, Quote | None]:
    """Return the attachments' text, and a shared message both as a forward and as a quote."""
    found = event.get("attachments")
    attachments = [one for one in found if isinstance(one, Mapping)] if found else []
    for one in attachments:
        if one.get("is_share") or one.get("is_msg_unfurl"):
            text = str(one.get("text") or one.get("fallback") or "")[:MAX_QUOTE]
            author = str(one.get("author_name") or one.get("author_subname") or "somebody")
            quote = Quote(author, str(one.get("author_id") or ""), text)
            return text, quote, quote
    texts = [str(one.get("text") or one.get("fallback") or "") for one in attachments]
    return "\n".join(text for text in texts if text), None, None
