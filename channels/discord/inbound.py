"""From an event of the gateway to a message: who says what, and whether the bot is asked.

Events are read as they come, without the SDK's classes: those drop what they do not know, keep the
rest in memory, and one that cannot be read would stop what comes after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from discord.utils import snowflake_time

from channels.discord.guild_cache import GuildCache, GuildChannel
from channels.discord.media import cards, media_of
from channels.mentions import calls
from channels.message import Author, InboundMessage, Quote

Raw = Mapping[str, Any]

CHANNEL: Final = "discord"
SAID: Final = frozenset({0, 19, 20, 23})
"""The types of messages that somebody wrote: plain ones, replies, and what commands answered."""

SYSTEM: Final = frozenset({*range(1, 19), 21, 22, *range(24, 60)})
"""Those that Discord itself writes: who joined, what was pinned, which thread began."""

FORWARD: Final = 1
LONGEST_QUOTE: Final = 1000
_OURS: Final = re.compile(r",[a-z]", re.IGNORECASE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|``.*?``|`[^`\n]*`", re.DOTALL)
_CHUNK: Final = re.compile(r"\S+")
_TOKEN: Final = re.compile(r"<(?:(@!?|@&|#)(\d{1,20})|a?:(\w+):\d{1,20})>")
_MENTION: Final = re.compile(r"<@[!&]?\d{1,20}>")


@dataclass(frozen=True, slots=True)
class DiscordSelf:
    """The bot as Discord knows it, what it is called, and what it answers."""

    id: str
    name: str = ""
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()


def parse(name: str, data: Raw, me: DiscordSelf, places: GuildCache) -> InboundMessage | None:
    """Read an event; None for what concerns nobody here. Whatever cannot be read raises."""
    if name == "MESSAGE_CREATE":
        return said(data, me, places)
    if name == "MESSAGE_UPDATE":
        return _edit(data, me, places)
    if name == "MESSAGE_DELETE":
        return _deleted(data, places)
    return None


def said(raw: Raw, me: DiscordSelf, places: GuildCache) -> InboundMessage | None:
    """Read a message, from an event or from the history."""
    kind = int(raw.get("type") or 0)
    sender = _sender(raw)
    if _is_own(raw, sender, me) or kind in SYSTEM:
        return None
    content, forwarded = _content(raw)
    quoted = raw.get("referenced_message") if kind != 20 else None
    asked, why = _addressed(raw, content, me, places, forwarded=forwarded is not None)
    follows = not asked and forwarded is None and _may_follow(raw, content, me, places)
    return InboundMessage(
        **_place(raw, places),
        sender=sender,
        text=_readable(content, raw, me, places),
        reply_to=_reply_to(raw),
        mentions=tuple(f"@{user['id']}" for user in raw.get("mentions") or ()),
        addressed=asked,
        why=why,
        follows=follows,
        media=_media(raw),
        quote=_quote(quoted, me, places) if quoted else None,
        forwarded=forwarded,
    )


def unreadable(name: str, data: Any, why: str) -> InboundMessage:
    """Keep an event that cannot be read, so that it comes once and is never lost."""
    try:
        text = json.dumps({"t": name, "d": data}, default=str)
    except (RecursionError, ValueError):
        text = '"what is too deep to be written down"'
    return InboundMessage(
        channel=CHANNEL,
        chat_id="unreadable",
        ext_id=f"unreadable/{sha256(text.encode('utf-8', 'replace')).hexdigest()[:20]}",
        message_id="",
        sender=Author("", ""),
        text="",
        date=datetime.now(UTC).isoformat(),
        kind="unreadable",
        why=why,
        raw={"json": text},
    )


def changed(
    room: GuildChannel, change: str, text: str, stamp: str, places: GuildCache
) -> InboundMessage:
    """Tell that something happened to a chat."""
    return InboundMessage(
        channel=CHANNEL,
        chat_id=room.id,
        chat_kind="private" if room.is_private else "group",
        chat_title=places.title(room),
        ext_id=f"{room.id}/{change}/{stamp}",
        message_id="",
        sender=Author("", "Discord"),
        text=text,
        date=datetime.now(UTC).isoformat(),
        kind="change",
        change=change,
    )


def _edit(raw: Raw, me: DiscordSelf, places: GuildCache) -> InboundMessage | None:
    """Read an edit; the preview of a link, which comes in the same way, changes nothing."""
    stamp = raw.get("edited_timestamp")
    if not stamp or raw.get("content") is None or not raw.get("author"):
        return None
    sender = _sender(raw)
    if _is_own(raw, sender, me) or int(raw.get("type") or 0) not in SAID:
        return None
    place = _place(raw, places)
    text = _readable(str(raw["content"]), raw, me, places)
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    place["ext_id"] = f"{place['ext_id']}/edit/{_date(stamp, '')}-{mark}"
    return InboundMessage(**place, sender=sender, text=text, kind="edit")


def _deleted(raw: Raw, places: GuildCache) -> InboundMessage:
    """Read that a message is gone; who deleted it is not told."""
    place = _place(raw, places)
    place["ext_id"] = f"{place['ext_id']}/deleted"
    return InboundMessage(**place, sender=Author("", ""), text="", kind="delete")


def _place(raw: Raw, places: GuildCache) -> dict[str, Any]:
    """Return which message of which chat it is."""
    number, message_id = str(int(raw["channel_id"])), str(int(raw["id"]))
    return {
        **where(places.room(number, str(raw.get("guild_id") or "")), places),
        "ext_id": f"{number}/{message_id}",
        "message_id": message_id,
        "date": _date(raw.get("timestamp"), message_id),
    }


def where(room: GuildChannel, places: GuildCache) -> dict[str, Any]:
    """Return which chat a channel is, or is a thread of."""
    return {
        "channel": CHANNEL,
        "chat_id": room.chat,
        "chat_kind": "private" if room.is_private else "group",
        "chat_title": places.title(room),
        "thread_id": room.id if room.is_thread else None,
    }


def _date(stamp: Any, number: str) -> str:
    if stamp:
        return datetime.fromisoformat(str(stamp)).astimezone(UTC).isoformat()
    return snowflake_time(int(number)).isoformat()


def _sender(raw: Raw) -> Author:
    user = raw["author"]
    nick = (raw.get("member") or {}).get("nick")
    is_bot = bool(user.get("bot") or raw.get("webhook_id"))
    return Author(str(int(user["id"])), str(nick or name_of(user)), is_bot)


def name_of(user: Raw) -> str:
    """Return what people call somebody."""
    return str(user.get("global_name") or user.get("username") or user["id"])


def _is_own(raw: Raw, sender: Author, me: DiscordSelf) -> bool:
    return sender.id == me.id or (
        bool(raw.get("webhook_id")) and raw.get("application_id") == me.id
    )


def _content(raw: Raw) -> tuple[str, Quote | None]:
    """Return the text, and whose words it is where it was forwarded."""
    text = str(raw.get("content") or "")
    if int((raw.get("message_reference") or {}).get("type") or 0) == FORWARD:
        snapshots = [one.get("message") or {} for one in raw.get("message_snapshots") or ()]
        return "\n".join(_text(one) for one in snapshots), Quote("somebody")
    is_bot = bool((raw.get("author") or {}).get("bot") or raw.get("webhook_id"))
    return (_text(raw) if is_bot or not text else text), None


def _text(raw: Raw) -> str:
    return "\n".join(part for part in (str(raw.get("content") or ""), cards(raw)) if part)


def _media(raw: Raw) -> Any:
    found = list(media_of(raw))
    for one in raw.get("message_snapshots") or ():
        found += media_of(one.get("message") or {})
    return tuple(found)


def _addressed(
    raw: Raw, content: str, me: DiscordSelf, places: GuildCache, *, forwarded: bool
) -> tuple[bool, str]:
    """Tell whether the bot is asked, and by which rule."""
    server = str(raw.get("guild_id") or "")
    if places.room(str(raw["channel_id"]), server).is_private:
        return ("private" in me.answers, "private chat")
    if forwarded:
        return False, "forwarded"
    if _OURS.match(content):
        return True, "command"
    heard = prose(content)
    if "mention" in me.answers and _mentions_me(raw, heard, me, places):
        return True, "mention"
    if "reply" in me.answers and _replies_to(raw, me):
        return True, "reply"
    if "name" in me.answers and calls(_TOKEN.sub(" ", heard), [name for name in me.names if name]):
        return True, "name"
    return False, "said to the channel"


def _may_follow(raw: Raw, content: str, me: DiscordSelf, places: GuildCache) -> bool:
    """Tell whether a message is for the bot if its thread is a conversation with it."""
    room = places.room(str(raw["channel_id"]), str(raw.get("guild_id") or ""))
    to_others = _MENTION.search(content) or raw.get("mention_everyone") or _reply_to(raw)
    return "thread" in me.answers and room.is_thread and not to_others


def _mentions_me(raw: Raw, heard: str, me: DiscordSelf, places: GuildCache) -> bool:
    """Tell whether the bot is mentioned, itself or by the role that came with it."""
    named = raw.get("mentions")
    is_listed = named is None or any(str(user.get("id")) == me.id for user in named)
    server = str(raw.get("guild_id") or "")
    for kind, number, _emoji in _TOKEN.findall(heard):
        if kind in ("@", "@!") and number == me.id and is_listed:
            return True
        if kind == "@&" and places.calls_me(number, server):
            return True
    return False


def _replies_to(raw: Raw, me: DiscordSelf) -> bool:
    quoted = raw.get("referenced_message") or {}
    author = str((quoted.get("author") or {}).get("id") or "")
    return _reply_to(raw) is not None and author == me.id


def _reply_to(raw: Raw) -> str | None:
    reference = raw.get("message_reference") or {}
    if int(reference.get("type") or 0) != 0 or not reference.get("message_id"):
        return None
    return str(int(reference["message_id"])) if int(raw.get("type") or 0) == 19 else None


def _quote(raw: Raw, me: DiscordSelf, places: GuildCache) -> Quote:
    """Return what a message replies to."""
    author = _sender(raw)
    text = _readable(_text(raw), raw, me, places)[:LONGEST_QUOTE]
    return Quote(author.name, author.id, text, _is_own(raw, author, me))


def _readable(content: str, raw: Raw, me: DiscordSelf, places: GuildCache) -> str:
    """Return a text with names in the place of Discord's numbers."""
    if "<" not in content:
        return content
    names = {str(user["id"]): name_of(user) for user in raw.get("mentions") or ()}
    names[me.id] = me.name or (me.names[0] if me.names else me.id)
    server = places.servers.get(str(raw.get("guild_id") or ""))
    roles = server.roles if server is not None else {}

    def named(found: re.Match[str]) -> str:
        kind, number, emoji = found.groups()
        if emoji:
            return f":{emoji}:"
        if kind == "#":
            room = places.rooms.get(number)
            return f"#{room.name}" if room is not None and room.name else found[0]
        name = roles.get(number) if kind == "@&" else names.get(number)
        return f"@{name}" if name else found[0]

    return _TOKEN.sub(named, content)


def prose(text: str) -> str:
    """Return a text without its code and links."""
    # Chunk by chunk: one pattern for all would begin anew at every letter of a long one.
    return "".join(_without_links(_CODE.sub(" ", text)))


def _without_links(text: str) -> Iterator[str]:
    at = 0
    for found in _CHUNK.finditer(text):
        yield text[at : found.start()]
        yield " " if "://" in found[0] else found[0]
        at = found.end()
    yield text[at:]
