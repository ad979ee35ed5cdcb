"""From an update of the Bot API to a message: who says what, and whether the bot is asked.

Updates are read as they come, without the SDK's classes: a field that is new, missing or of another
type must not stop what comes after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from channels.mentions import calls, mentions
from channels.message import REST, Author, InboundMessage, Quote
from channels.telegram.media import media_of

Raw = Mapping[str, Any]

CHANNEL: Final = "telegram"
MESSAGES: Final = ("message", "channel_post")
EDITS: Final = ("edited_message", "edited_channel_post")
ALLOWED_UPDATES: Final = (*MESSAGES, *EDITS, "my_chat_member", "stopped_message_generation")

COMMANDS: Final = {
    "start": "say hello",
    "help": "what I can do here",
    "stop": "end the answer that I am writing for you",
    "reset": "begin afresh: what was said before is out of my sight",
}
LONG_PASTE: Final = 4000
"""A client tears a text of more than 4096 apart; a message of nearly so much may be such a part."""

LONGEST_QUOTE: Final = 1000

_NOT_PROSE: Final = frozenset(
    ("code", "pre", "url", "text_link", "email", "mention", "text_mention", "bot_command")
)
_COMMAND: Final = re.compile(r"/([a-z0-9_]{1,32})(?:@(\w+))?(?=\s|$)", re.IGNORECASE)
_OURS: Final = re.compile(r",[a-z]", re.IGNORECASE)
_AWAY: Final = ("left", "kicked")

_CHANGES: Final = {
    "forum_topic_closed": "The topic was closed.",
    "forum_topic_reopened": "The topic was opened again.",
    "new_chat_title": "The chat has a new name: {}.",
}
_SILENT: Final = frozenset(
    (
        "new_chat_members",
        "left_chat_member",
        "new_chat_photo",
        "delete_chat_photo",
        "group_chat_created",
        "supergroup_chat_created",
        "channel_chat_created",
        "message_auto_delete_timer_changed",
        "pinned_message",
        "forum_topic_created",
        "forum_topic_edited",
        "general_forum_topic_hidden",
        "general_forum_topic_unhidden",
        "video_chat_scheduled",
        "video_chat_started",
        "video_chat_ended",
        "video_chat_participants_invited",
        "boost_added",
        "chat_background_set",
        "write_access_allowed",
        "users_shared",
        "chat_shared",
        "connected_website",
        "proximity_alert_triggered",
    )
)
"""Service messages of which nothing needs to be told."""


@dataclass(frozen=True, slots=True)
class TelegramSelf:
    """The bot as Telegram knows it, what it is called, and what it answers."""

    id: int
    username: str
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()


def parse(update: Raw, me: TelegramSelf) -> InboundMessage | None:
    """Read an update; None for what concerns nobody here. Whatever cannot be read raises."""
    for kind in MESSAGES:
        if kind in update:
            return _message(update[kind], me, update)
    for kind in EDITS:
        if kind in update:
            return _edit(update[kind], me, update)
    if "my_chat_member" in update:
        return _membership(update["my_chat_member"], update)
    if "stopped_message_generation" in update:
        return _stopped(update["stopped_message_generation"], update)
    return None


def unreadable(update: Any, why: str) -> InboundMessage:
    """Keep an update that cannot be read, so that it comes once and is never lost."""
    try:
        text = json.dumps(update, default=str)
    except (RecursionError, ValueError):
        text = '"what is too deep to be written down"'
    number = update.get("update_id") if isinstance(update, Mapping) else None
    named = str(number) if isinstance(number, int) else sha256(text.encode()).hexdigest()[:20]
    private = _private_chat(update)
    return InboundMessage(
        channel=CHANNEL,
        chat_id=private or "unreadable",
        chat_kind="private" if private else "group",
        ext_id=f"unreadable/{named}",
        message_id="",
        sender=Author(private, ""),
        text="",
        date=datetime.now(UTC).isoformat(),
        kind="unreadable",
        why=why,
        raw={"json": text},
    )


def _private_chat(update: Any) -> str:
    """Return the private chat in which somebody wrote what cannot be read; "" for anything else."""
    message = update.get("message") if isinstance(update, Mapping) else None
    chat = message.get("chat") if isinstance(message, Mapping) else None
    if not isinstance(chat, Mapping) or chat.get("type") != "private":
        return ""
    number = chat.get("id")
    return str(number) if isinstance(number, int) and not isinstance(number, bool) else ""


def _message(raw: Raw, me: TelegramSelf, update: Raw) -> InboundMessage | None:
    sender = _sender(raw)
    if sender.id == str(me.id):
        return None
    told = _change(raw, update)
    if told is not None or _SILENT & raw.keys():
        return told
    text, entities = _text(raw)
    media = media_of(raw)
    asked, why = _addressed(raw, text, entities, me)
    command = _as_command(text, me) if asked and not _forwarded(raw) else None
    return InboundMessage(
        **_place(raw, update),
        sender=sender,
        text=command or text,
        reply_to=_reply_to(raw),
        mentions=tuple(_mentioned(text, entities)),
        addressed=asked,
        why="command" if command else why,
        media=media,
        quote=_quote(raw, me),
        forwarded=_forwarded(raw),
        joins=_joins(raw, text),
        follows=not asked and _may_follow(raw, entities, me),
    )


def _edit(raw: Raw, me: TelegramSelf, update: Raw) -> InboundMessage | None:
    sender = _sender(raw)
    if sender.id == str(me.id):
        return None
    text, _entities = _text(raw)
    place = _place(raw, update)
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    place["ext_id"] = f"{place['ext_id']}/edit/{int(raw.get('edit_date') or 0)}-{mark}"
    return InboundMessage(**place, sender=sender, text=text, kind="edit")


def _membership(raw: Raw, update: Raw) -> InboundMessage | None:
    """Read that the bot was added, removed, blocked or unblocked."""
    was, away = (_is_away(raw[f"{when}_chat_member"]) for when in ("old", "new"))
    if was == away:
        return None
    sender = _sender(raw)
    private = raw["chat"]["type"] == "private"
    text = f"{sender.name} {_MEMBERSHIP[(private, away)]}"
    change = "removed" if away else "added"
    if raw["chat"]["type"] == "channel":  # a greeting there would go to all its readers
        change = f"{change}_as_admin"
    return _change_of(raw, update, change, text, sender)


def _is_away(member: Raw) -> bool:
    return member["status"] in _AWAY or member.get("is_member") is False


_MEMBERSHIP: Final = {
    (False, False): "added the bot to the group.",
    (False, True): "removed the bot from the group.",
    (True, False): "began to talk to the bot.",
    (True, True): "blocked the bot.",
}


def _stopped(raw: Raw, update: Raw) -> InboundMessage:
    """Read that somebody pressed the Stop of a draft: the same as the command."""
    sender = _sender({"from": raw.get("from") or raw.get("user") or raw.get("chat")})
    chat = raw.get("chat") or {"id": int(sender.id), "type": "private"}
    number = int(update["update_id"])
    place = _place({"chat": chat, "message_id": 0, "date": raw.get("date")}, update)
    place["ext_id"] = f"{place['chat_id']}/stop/{number}"
    place["message_id"] = ""
    return InboundMessage(
        **place, sender=sender, text=",stop", addressed=True, why="the Stop of a draft"
    )


def _change(raw: Raw, update: Raw) -> InboundMessage | None:
    sender = _sender(raw)
    if raw.get("migrate_to_chat_id"):
        return _migrated(raw, update, sender, str(int(raw["migrate_to_chat_id"])))
    if raw.get("migrate_from_chat_id"):
        # The same, told in the new group: whichever of the two comes first counts.
        old = {**raw, "chat": {**raw["chat"], "id": raw["migrate_from_chat_id"]}}
        return _migrated(old, update, sender, str(int(raw["chat"]["id"])))
    for name, sentence in _CHANGES.items():
        if name in raw:
            return _change_of(raw, update, name, sentence.format(raw[name]), sender)
    return None


def _migrated(raw: Raw, update: Raw, sender: Author, to_chat: str) -> InboundMessage:
    text = f"The group has become a supergroup; its id is now {to_chat}."
    told = _change_of(raw, update, "migrated", text, sender, to_chat)
    return replace(told, ext_id=f"{told.chat_id}/migrated/{to_chat}")


def _change_of(
    raw: Raw, update: Raw, change: str, text: str, sender: Author, to_chat: str = ""
) -> InboundMessage:
    place = _place({"message_id": 0, **raw}, update)
    stamp = raw.get("message_id") or update.get("update_id")
    place["ext_id"] = f"{place['chat_id']}/{change}/{stamp}"
    place["message_id"] = str(raw.get("message_id") or "")
    return InboundMessage(
        **place, sender=sender, text=text, kind="change", change=change, to_chat=to_chat
    )


def _place(raw: Raw, update: Raw) -> dict[str, Any]:
    """Return which message of which chat it is."""
    chat = raw["chat"]
    chat_id, message_id = str(int(chat["id"])), str(int(raw["message_id"]))
    private = chat.get("type", "private" if int(chat["id"]) > 0 else "group") == "private"
    number = update.get("update_id")
    return {
        "channel": CHANNEL,
        "chat_id": chat_id,
        "chat_kind": "private" if private else "group",
        "chat_title": "" if private else str(chat.get("title") or chat.get("username") or ""),
        "ext_id": f"{chat_id}/{message_id}",
        "alt_id": str(number) if number is not None else None,
        "message_id": message_id,
        "thread_id": _thread(raw),
        "date": _date(raw.get("date")),
    }


def _thread(raw: Raw) -> str | None:
    """Return the topic; in a forum what has none is in General, whose id is 1."""
    if raw.get("is_topic_message") and raw.get("message_thread_id"):
        return str(int(raw["message_thread_id"]))
    return "1" if raw["chat"].get("is_forum") and raw["chat"].get("type") != "private" else None


def _date(stamp: Any) -> str:
    moment = datetime.fromtimestamp(stamp, UTC) if stamp else datetime.now(UTC)
    return moment.isoformat()


def _sender(raw: Raw) -> Author:
    """Return who wrote: an anonymous admin and a linked channel write as a chat."""
    chat = raw.get("sender_chat")
    if chat:
        name = str(chat.get("title") or chat.get("username") or chat["id"])
        return Author(str(int(chat["id"])), name)
    user = raw.get("from")
    if not user:
        chat = raw["chat"]
        return Author(str(int(chat["id"])), str(chat.get("title") or chat["id"]))
    handle = user.get("username")
    return Author(
        str(int(user["id"])),
        _name(user),
        bool(user.get("is_bot")),
        handle if isinstance(handle, str) else "",
    )


def _name(user: Raw) -> str:
    full = " ".join(str(user[key]) for key in ("first_name", "last_name") if user.get(key))
    return full or str(user.get("username") or user.get("title") or user["id"])


def _text(raw: Raw) -> tuple[str, Sequence[Raw]]:
    if raw.get("text") is not None:
        return str(raw["text"]), raw.get("entities") or ()
    return str(raw.get("caption") or ""), raw.get("caption_entities") or ()


def _addressed(raw: Raw, text: str, entities: Sequence[Raw], me: TelegramSelf) -> tuple[bool, str]:
    """Tell whether the bot is asked, and by which rule."""
    if raw["chat"].get("type") == "private":
        return ("private" in me.answers, "private chat")
    forwarded = _forwarded(raw) is not None
    command = None if forwarded else _COMMAND.match(text)
    if command:
        return _commanded(command, me)
    if not forwarded and _OURS.match(text):
        return True, "command"
    if not forwarded and "mention" in me.answers and _mentions_me(text, entities, me):
        return True, "mention"
    if "reply" in me.answers and _replies_to(raw, me):
        return True, "reply"
    if (
        not forwarded
        and "name" in me.answers
        and calls(prose(text, entities), [name for name in me.names if name])
    ):
        return True, "name"
    return False, "forwarded" if forwarded else "said to the group"


def _may_follow(raw: Raw, entities: Sequence[Raw], me: TelegramSelf) -> bool:
    """Tell whether a message is for the bot if its topic is a conversation with it."""
    thread = _thread(raw)
    to_others = any(entity.get("type") in ("mention", "text_mention") for entity in entities)
    return "topic" in me.answers and thread not in (None, "1") and not to_others


def _commanded(command: re.Match[str], me: TelegramSelf) -> tuple[bool, str]:
    """Judge a command of a group: without @name it may be any bot's, so ours must be known."""
    to = command[2]
    if to is not None:
        ours = _is_mine(to, me)
        return ours, "command" if ours else "a command for another bot"
    known = command[1].lower() in COMMANDS
    return known, "command" if known else "a command that is not one of ours"


def _as_command(text: str, me: TelegramSelf) -> str | None:
    """Return the line that begins with a comma for a command in Telegram's own way."""
    command = _COMMAND.match(text)
    if command is None or (command[2] and not _is_mine(command[2], me)):
        return None
    return f",{command[1].lower()}{text[command.end() :]}"


def _mentions_me(text: str, entities: Sequence[Raw], me: TelegramSelf) -> bool:
    if not entities:
        return bool(me.username) and mentions(_outside_code(text), me.username)
    for entity in entities:
        if entity.get("type") == "text_mention" and entity.get("user", {}).get("id") == me.id:
            return True
        if entity.get("type") == "mention" and _is_mine(_slice(text, entity)[1:], me):
            return True
    return False


def _is_mine(username: str, me: TelegramSelf) -> bool:
    """Tell whether a username is the bot's; a server that does not tell it leaves `...bot`."""
    if not me.username:
        return username.lower().endswith("bot")
    return username.lower() == me.username.lower()


def _mentioned(text: str, entities: Iterable[Raw]) -> Iterable[str]:
    for entity in entities:
        if entity.get("type") == "mention":
            yield _slice(text, entity)
        elif entity.get("type") == "text_mention":
            yield str(entity["user"]["id"])


def _replies_to(raw: Raw, me: TelegramSelf) -> bool:
    replied = raw.get("reply_to_message") or {}
    return _reply_to(raw) is not None and (replied.get("from") or {}).get("id") == me.id


def _reply_to(raw: Raw) -> str | None:
    """Return the message replied to; what only opens a topic is not one."""
    replied = raw.get("reply_to_message")
    if not replied or "forum_topic_created" in replied:
        return None
    if raw.get("is_topic_message") and replied["message_id"] == raw.get("message_thread_id"):
        return None
    return str(int(replied["message_id"]))


def _quote(raw: Raw, me: TelegramSelf) -> Quote | None:
    """Return what a message replies to: the words that the person chose, or the whole."""
    replied = raw.get("reply_to_message") if _reply_to(raw) else raw.get("external_reply")
    if not replied:
        return None
    chosen = (raw.get("quote") or {}).get("text")
    text = str(chosen or _text(replied)[0])[:LONGEST_QUOTE]
    if replied.get("from") or replied.get("sender_chat"):
        author = _sender({"chat": raw["chat"], **replied})
        ours = author.id == str(me.id)
        return Quote(author.name, author.id, text, ours, chosen is not None)
    origin = _origin(replied.get("origin") or {})
    return Quote(origin.author, origin.author_id, text) if origin else None


def _forwarded(raw: Raw) -> Quote | None:
    """Return whose words are forwarded."""
    if raw.get("forward_origin"):
        return _origin(raw["forward_origin"]) or Quote("somebody")
    old = raw.get("forward_from") or raw.get("forward_from_chat")
    if old:
        return Quote(_name(old), str(old["id"]))
    hidden = raw.get("forward_sender_name")
    return Quote(str(hidden)) if hidden else None


def _origin(origin: Raw) -> Quote | None:
    user = origin.get("sender_user") or origin.get("sender_chat") or origin.get("chat")
    if user:
        return Quote(_name(user), str(user["id"]))
    name = origin.get("sender_user_name")
    return Quote(str(name)) if name else None


def _joins(raw: Raw, text: str) -> str:
    if raw.get("media_group_id"):
        return f"album:{raw['media_group_id']}"
    long = utf16_length(text) >= LONG_PASTE and not text.startswith((",", "/"))
    return REST if long and not _forwarded(raw) else ""


def prose(text: str, entities: Sequence[Raw]) -> str:
    """Return a text without its code, links and mentions."""
    if not entities:
        return _outside_code(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept, at = bytearray(), 0
    for entity in sorted(entities, key=lambda one: int(one.get("offset", 0))):
        if entity.get("type") in _NOT_PROSE:
            start = int(entity["offset"]) * 2
            if start > at:
                kept += units[at:start] + b" \x00"
            at = max(at, start + int(entity["length"]) * 2)
    kept += units[at:]
    return kept.decode("utf-16-le", "replace")


_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CHUNK: Final = re.compile(r"\S+")
_URL: Final = re.compile(r"://\S")
_ADDRESS: Final = re.compile(r"(?<!\w)\w+\.\w{2,}/\S*")


def _outside_code(text: str) -> str:
    """Return a text of a server that marks nothing, without what looks like code or a link."""
    # Chunk by chunk: one pattern for all would begin anew at every letter of a long one.
    rest = _CHUNK.sub(lambda one: " " if _URL.search(one[0]) else one[0], _CODE.sub(" ", text))
    return _ADDRESS.sub(" ", rest)


def _slice(text: str, entity: Raw) -> str:
    """Return what an entity covers; its offsets count UTF-16 units."""
    start = int(entity["offset"]) * 2
    units = text.encode("utf-16-le", "surrogatepass")
    return units[start : start + int(entity["length"]) * 2].decode("utf-16-le", "replace")


def utf16_length(text: str) -> int:
    """Return the length of a text as Telegram counts it."""
    return len(text) + sum(char > "\uffff" for char in text)
