"""Parses Slack's events: who wrote what, and whether the message is for the app.

A mention arrives as two events, `message` and `app_mention`, which have the same key. The event
that arrives first counts. An `app_mention` may lack the message's files: if it comes without any,
the message is looked up before it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from channels.commands import after_mention, command_line
from channels.content import Content, with_or_without
from channels.mentions import calls
from channels.message import Author, InboundMessage, unreadable_message
from channels.slack.chat_changes import change_of, notice_of, pressed
from channels.slack.content import (
    of_author,
    of_others,
    own_words,
    pending_files,
    read_with,
    root_of,
)
from channels.slack.event_fields import (
    CHANNEL,
    Raw,
    SlackSelf,
    author_of,
    is_own,
    location_of,
    moment_of,
)
from channels.slack.mrkdwn import mentioned, prose
from channels.slack.name_cache import Names

SUBTYPES: Final = frozenset(
    (None, "bot_message", "file_share", "me_message", "reply_broadcast", "thread_broadcast")
)
"""The subtypes of messages that people and apps write; any other is a notice, recorded by name."""

UNSEEN: Final = ("message_replied",)  # a thread has a reply, which comes by itself
SECRET: Final = frozenset(("token", "response_url", "response_urls"))
"""Fields that are removed before a delivery is stored: whoever has them could pose as Slack."""

BY_COMMAND: Final = "asked by a command"
TOMBSTONE: Final = "tombstone"  # the subtype of a deleted message that has replies

TWIN: Final = "twin"
"""The field of `raw` that says that the message may have files that its event lacks."""

NAMES: Final = "names"
"""The field of `raw` with the ids of whom Slack is being asked for the names."""

PENDING: Final = "files"
"""The field of `raw` with the ids of the files that are yet to be looked up."""

BESIDE: Final = ("attachments", "blocks", "files", "root")
"""Fields beside the text of a message; none of them says whose words it has."""

_NAMES: Final = "console forget handoff help open pair reset rewind start stop"
COMMANDS: Final = {"status": ",tape.info"} | {name: f",{name}" for name in _NAMES.split()}
_LEADING: Final = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^>]*)?>")
# An id in place of a name that was not known yet when the mention was decoded.
_UNNAMED: Final = re.compile(r"(?<=[@#])[A-Z][A-Z0-9]+")


def parse(body: Raw, me: SlackSelf) -> InboundMessage | None:
    """Parse a delivery; None if it has no message; raises an error if a field is malformed."""
    if "command" in body:
        return _commanded(body, me)
    if body.get("type") == "block_actions":
        return pressed(body, me)
    event = body.get("event")
    if body.get("type") != "event_callback" or not isinstance(event, Mapping):
        return None
    return of_event(event, me, str(body.get("event_id") or ""))


def of_event(event: Raw, me: SlackSelf, event_id: str = "") -> InboundMessage | None:
    """Parse an event, or a message from the history with its channel added."""
    kind, subtype = event["type"], event.get("subtype")
    if kind not in ("message", "app_mention"):
        return change_of(event, me, event_id)
    if subtype == "message_changed":
        return _changed(event, me, event_id)
    if subtype == TOMBSTONE:  # in the history
        return _deleted(event, event, me, event_id)
    if subtype == "message_deleted":
        gone = event.get("previous_message") or {}
        return _deleted({**gone, "ts": event["deleted_ts"]}, event, me, event_id)
    if subtype in UNSEEN or is_own(event, me.workspace):
        return None
    if subtype not in SUBTYPES:
        return notice_of(event, me, event_id, str(subtype))
    return _message(event, me, event_id)


def edit_of(event: Raw, me: SlackSelf) -> InboundMessage | None:
    """Return the edit that gave a message from the history its text, or None."""
    is_edited = _is_written(event, me) and bool(event.get("edited"))
    return _edit(event, event, me, "") if is_edited else None


def _is_written(event: Raw, me: SlackSelf) -> bool:
    return event.get("subtype") in SUBTYPES and not is_own(event, me.workspace)


def named_later(message: InboundMessage, names: Names) -> InboundMessage:
    """Return a message with the names that are known by now.

    If others are being looked up still, it is incomplete.
    """
    filled = fill_names(message, names)
    ids = [one for one in _ids_in(filled) if names.is_pending(one)]
    if not ids:
        return filled
    return replace(filled, incomplete=True, raw={**filled.raw, NAMES: ids})


def _ids_in(message: InboundMessage) -> list[str]:
    """Return what may be ids in place of names."""
    excerpts = message.excerpts
    found = [message.sender.name, *(one.author for one in excerpts)]
    texts = [message.text, *(one.text for one in excerpts)]
    if message.chat_kind == "group" and not message.chat_title:
        found.append(message.chat_id)
    if message.quote is not None:
        found.append(message.quote.author)
        texts.append(message.quote.text)
    return list(dict.fromkeys([*found, *(id_ for one in texts for id_ in _UNNAMED.findall(one))]))


def fill_names(message: InboundMessage, names: Names) -> InboundMessage:
    """Replace ids by names that were looked up after the message was parsed."""
    sender, text, title = message.sender, message.text, message.chat_title
    if sender.id and sender.name == sender.id:
        sender = replace(sender, name=names.known(sender.id))
        if message.kind == "change":
            text = text.replace(sender.id, sender.name, 1)
    text, command = _filled(text, names), _filled(message.command, names)
    if message.chat_kind == "group" and not title:
        title = names.known(message.chat_id, "")
    excerpts = tuple(
        replace(one, text=_filled(one.text, names), author=names.known(one.author))
        for one in message.excerpts
    )
    quote = message.quote
    if quote is not None:
        text_of_it, author = _filled(quote.text, names), names.known(quote.author)
        quote = replace(quote, text=text_of_it, author=author)
    filled = replace(
        message,
        sender=sender,
        text=text,
        command=command,
        chat_title=title,
        excerpts=excerpts,
        quote=quote,
    )
    return message if filled == message else filled


def _filled(text: str, names: Names) -> str:
    return _UNNAMED.sub(lambda found: names.known(found[0]), text)


def unreadable(body: Any, why: str, account: str) -> InboundMessage:
    """Return a record of a delivery that cannot be parsed, so that it is stored once."""
    if isinstance(body, Mapping):
        body = {name: held for name, held in body.items() if name not in SECRET}
    named = body.get("event_id") if isinstance(body, Mapping) else None
    key = named if isinstance(named, str) else ""
    return unreadable_message(CHANNEL, body, why, key=key, account=account)


def _message(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    found = with_or_without(BESIDE, lambda one: _read(one, me, event_id), event)
    assert found is not None
    return found


def _read(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    """Parse a message; one that says nothing asks nothing, and is recorded by its kind."""
    raw = own_words(event)
    content = read_with(raw, event, me)
    has_twin = event["type"] == "app_mention" and not event.get("files")
    if content.is_empty and not has_twin:
        return notice_of(event, me, event_id, content.kind)
    addressed, why = _addressed(event, raw, me)
    pending = pending_files(event, me)
    return InboundMessage(
        **location_of(event, me, event_id),
        sender=author_of(event, me),
        text=content.text,
        mentions=content.mentions,
        addressed=addressed,
        why=why,
        follows=not addressed and _may_follow(event, raw, me),
        media=content.media,
        quote=root_of(event, me),
        excerpts=content.excerpts,
        omitted=content.omitted,
        incomplete=bool(pending) or has_twin,
        command=as_command(raw, me),
        raw={
            "team": str(event.get("user_team") or event.get("team") or me.workspace.team),
            **({TWIN: True} if has_twin else {}),
            **({PENDING: pending} if pending else {}),
        },
    )


def _changed(event: Raw, me: SlackSelf, event_id: str) -> InboundMessage | None:
    now, before = event["message"], event.get("previous_message") or {}
    if now.get("subtype") == TOMBSTONE:
        return _deleted({**before, "ts": now["ts"]}, event, me, event_id)
    if not _is_written(now, me):
        return None
    if before and _is_same(now, before):
        # A preview that Slack adds is no change by the author, and has no time.
        edit = _edit(now, event, me, event_id)
        return replace(edit, edited="") if of_others(now) != of_others(before) else None
    # An app may go on with its message without a mark that it was edited.
    may_be_edit = now.get("edited") or (now.get("bot_id") and before)
    return _edit(now, event, me, event_id) if may_be_edit else None


def _is_same(now: Raw, before: Raw) -> bool:
    try:
        return of_author(now) == of_author(before)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return False  # what is malformed is not known to be the same


def _deleted(gone: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    location = location_of(_in_channel_of(event, gone), me, event_id)
    location["ext_id"] = f"{location['ext_id']}/deleted"
    return InboundMessage(**location, sender=Author("", ""), text="", kind="delete")


def _in_channel_of(event: Raw, message: Raw) -> Raw:
    return {**message, "channel": event["channel"], "channel_type": event.get("channel_type")}


def _edit(now: Raw, event: Raw, me: SlackSelf, event_id: str) -> InboundMessage:
    message = _message({**_in_channel_of(event, now), "type": "message"}, me, event_id)
    edited = now.get("edited") or {}
    stamp = str(edited.get("ts") or event.get("event_ts") or event.get("ts") or "")
    said = Content(message.text, message.media, message.excerpts, omitted=message.omitted)
    return replace(
        message,
        kind="edit",
        change="",
        ext_id=f"{message.chat_id}/{message.message_id}/edit/{stamp}-{said.digest()}",
        edited=moment_of(stamp),
    )


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
        text=me.read(text),
        command=me.read(text) if text.startswith(",") else "",
        addressed=True,
        why="command" if text.startswith(",") else BY_COMMAND,
        server_id="" if private else me.workspace.team,
        raw={"team": str(body.get("team_id") or me.workspace.team)},
    )


def _addressed(event: Raw, raw: str, me: SlackSelf) -> tuple[bool, str]:
    if event.get("channel_type") == "im" or str(event["channel"]).startswith("D"):
        return "private" in me.answers, "private chat"
    named = event["type"] == "app_mention" or me.workspace.user in mentioned(raw)
    if "mention" in me.answers and named:
        return True, "mention"
    if "reply" in me.answers and event.get("thread_ts") and _answers_app(event, me):
        return True, "reply"
    if "name" in me.answers and calls(prose(raw), [name for name in me.names if name]):
        return True, "name"
    return False, "said to the channel"


def _answers_app(event: Raw, me: SlackSelf) -> bool:
    """Return whether the thread of a reply begins with a message of the app."""
    if event.get("parent_user_id") == me.workspace.user:
        return True
    root = event.get("root")  # a reply that is broadcast names its parent only in here
    return isinstance(root, Mapping) and is_own(root, me.workspace)


def _may_follow(event: Raw, raw: str, me: SlackSelf) -> bool:
    to_others = any(one != me.workspace.user for one in mentioned(raw))
    in_thread = event.get("thread_ts") not in (None, event["ts"])
    return "thread" in me.answers and in_thread and not to_others


def as_command(raw: str, me: SlackSelf) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or ""."""
    leading = _LEADING.match(raw)
    is_its_own = leading is not None and leading[1] == me.workspace.user
    said = after_mention(raw, leading.end()) if leading is not None and is_its_own else raw
    return me.read(command_line(said))
