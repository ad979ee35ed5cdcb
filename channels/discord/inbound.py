"""Parses gateway events into messages, and decides whether a message is for the bot.

The SDK's classes are not used: they drop unknown fields and keep the others in memory, and one
malformed event would stop all later events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from discord.utils import snowflake_time

from channels.commands import after_mention, command_line
from channels.discord.guild_cache import GuildCache, GuildChannel, Raw
from channels.discord.media import cards, media_of
from channels.mentions import calls
from channels.message import Author, InboundMessage, Quote, unreadable_message

CHANNEL: Final = "discord"
WRITTEN_TYPES: Final = frozenset({0, 19, 20, 23})
"""Types of messages that people and bots write: plain messages, replies, command answers."""

SYSTEM_TYPES: Final = frozenset({*range(1, 19), 21, 22, *range(24, 60)})
"""Types of messages that Discord writes: a person joined, a message was pinned, a thread began."""

DISCORD: Final = Author("", "Discord")
FORWARD: Final = 1
MAX_QUOTE: Final = 1000
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|``.*?``|`[^`\n]*`", re.DOTALL)
_CHUNK: Final = re.compile(r"\S+")
_TOKEN: Final = re.compile(r"<(?:(@!?|@&|#)(\d{1,20})|a?:(\w+):\d{1,20})>")
_MENTION: Final = re.compile(r"<@[!&]?\d{1,20}>")
_LEADING: Final = re.compile(r"\s*<@(!?|&)(\d{1,20})>")


@dataclass(frozen=True, slots=True)
class DiscordSelf:
    """The bot's identity on Discord, what people call it, and the rules by which it answers."""

    id: str
    name: str = ""
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()


def parse(name: str, data: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    """Parse an event; None if it has no message; raises any error if the data is malformed."""
    if name == "MESSAGE_CREATE":
        return message_of(data, me, cache)
    if name == "MESSAGE_UPDATE":
        return _edit(data, me, cache)
    if name == "MESSAGE_DELETE":
        return _deleted(data, cache)
    return None


def message_of(raw: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    """Parse a message from an event or the history; None for the bot's own and for Discord's."""
    kind = int(raw.get("type") or 0)
    sender = _sender(raw)
    if _is_own(raw, sender, me) or kind in SYSTEM_TYPES:
        return None
    content, forwarded = _content(raw)
    # A command's answer (20) refers to the command, which is no message.
    quoted = raw.get("referenced_message") if kind != 20 else None
    addressed, why = _addressed(raw, content, me, cache, forwarded=forwarded is not None)
    follows = not addressed and forwarded is None and _may_follow(raw, content, me, cache)
    return InboundMessage(
        **_position(raw, cache),
        sender=sender,
        text=_readable(content, raw, me, cache),
        reply_to=_reply_to(raw),
        mentions=tuple(f"@{user['id']}" for user in raw.get("mentions") or ()),
        addressed=addressed,
        why=why,
        follows=follows,
        media=_media(raw),
        quote=_quote(quoted, me, cache) if quoted else None,
        forwarded=forwarded,
        command="" if forwarded else as_command(content, raw, me, cache),
    )


def unreadable(name: str, data: Any, why: str) -> InboundMessage:
    """Return a record of an event that cannot be parsed; equal data gives an equal key."""
    return unreadable_message(CHANNEL, {"t": name, "d": data}, why)


def chat_change(
    channel: GuildChannel,
    change: str,
    text: str,
    stamp: str,
    cache: GuildCache,
    by: Author = DISCORD,
) -> InboundMessage:
    return InboundMessage(
        **where(channel, cache),
        ext_id=f"{channel.id}/{change}/{stamp}",
        message_id="",
        sender=by,
        text=text,
        date=datetime.now(UTC).isoformat(),
        kind="change",
        change=change,
    )


def _edit(raw: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    """Parse an edit, or return None if the update only adds a link's preview."""
    stamp = raw.get("edited_timestamp")
    if not stamp or raw.get("content") is None or not raw.get("author"):
        return None
    sender = _sender(raw)
    if _is_own(raw, sender, me) or int(raw.get("type") or 0) not in WRITTEN_TYPES:
        return None
    position = _position(raw, cache)
    text = _readable(str(raw["content"]), raw, me, cache)
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    position["ext_id"] = f"{position['ext_id']}/edit/{_date(stamp, '')}-{digest}"
    return InboundMessage(**position, sender=sender, text=text, kind="edit")


def _deleted(raw: Raw, cache: GuildCache) -> InboundMessage:
    position = _position(raw, cache)
    position["ext_id"] = f"{position['ext_id']}/deleted"
    return InboundMessage(**position, sender=Author("", ""), text="", kind="delete")


def _position(raw: Raw, cache: GuildCache) -> dict[str, Any]:
    number, message_id = str(int(raw["channel_id"])), str(int(raw["id"]))
    return {
        **where(cache.channel(number, str(raw.get("guild_id") or "")), cache),
        "ext_id": f"{number}/{message_id}",
        "message_id": message_id,
        "date": _date(raw.get("timestamp"), message_id),
    }


def where(channel: GuildChannel, cache: GuildCache) -> dict[str, Any]:
    return {
        "channel": CHANNEL,
        "chat_id": channel.chat,
        "chat_kind": "private" if channel.is_private else "group",
        "chat_title": cache.title(channel),
        "thread_id": channel.id if channel.chat != channel.id else None,
        "server_id": channel.guild,
        "parent_id": channel.parent if channel.is_private_thread else "",
    }


def _date(stamp: Any, number: str) -> str:
    if stamp:
        return datetime.fromisoformat(str(stamp)).astimezone(UTC).isoformat()
    return snowflake_time(int(number)).isoformat()


def _sender(raw: Raw) -> Author:
    user = raw["author"]
    nick = (raw.get("member") or {}).get("nick")
    hook = bool(raw.get("webhook_id"))
    is_bot = bool(user.get("bot")) or hook
    name = str(nick or name_of(user))
    return Author(str(int(user["id"])), name, is_bot, acts_as="other" if hook else "person")


def name_of(user: Raw) -> str:
    return str(user.get("global_name") or user.get("username") or user["id"])


def _is_own(raw: Raw, sender: Author, me: DiscordSelf) -> bool:
    is_own_hook = bool(raw.get("webhook_id")) and raw.get("application_id") == me.id
    return sender.id == me.id or is_own_hook


def _content(raw: Raw) -> tuple[str, Quote | None]:
    """Return the text and, if the message was forwarded, a quote whose text is empty."""
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
    raw: Raw, content: str, me: DiscordSelf, cache: GuildCache, *, forwarded: bool
) -> tuple[bool, str]:
    guild = str(raw.get("guild_id") or "")
    if cache.channel(str(raw["channel_id"]), guild).is_private:
        return ("private" in me.answers, "private chat")
    if forwarded:
        return False, "forwarded"
    spoken = without_code(content)
    if "mention" in me.answers and _mentions_me(raw, spoken, me, cache):
        return True, "mention"
    if "reply" in me.answers and _replies_to(raw, me):
        return True, "reply"
    if "name" in me.answers and calls(_TOKEN.sub(" ", spoken), [name for name in me.names if name]):
        return True, "name"
    return False, "said to the channel"


def as_command(content: str, raw: Raw, me: DiscordSelf, cache: GuildCache) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or ""."""
    found = _LEADING.match(content)
    guild = str(raw.get("guild_id") or "")
    is_own = found is not None and (
        cache.is_own_role(found[2], guild) if found[1] == "&" else found[2] == me.id
    )
    said = after_mention(content, found.end()) if found is not None and is_own else content
    return _readable(command_line(said), raw, me, cache)


def _may_follow(raw: Raw, content: str, me: DiscordSelf, cache: GuildCache) -> bool:
    channel = cache.channel(str(raw["channel_id"]), str(raw.get("guild_id") or ""))
    to_others = _MENTION.search(content) or raw.get("mention_everyone") or _reply_to(raw)
    return "thread" in me.answers and channel.is_thread and not to_others


def _mentions_me(raw: Raw, spoken: str, me: DiscordSelf, cache: GuildCache) -> bool:
    # The event of an edit may lack the list of mentions.
    named = raw.get("mentions")
    is_listed = named is None or any(str(user.get("id")) == me.id for user in named)
    guild = str(raw.get("guild_id") or "")
    for kind, number, _emoji in _TOKEN.findall(spoken):
        if kind in ("@", "@!") and number == me.id and is_listed:
            return True
        if kind == "@&" and cache.is_own_role(number, guild):
            return True
    return False


def _replies_to(raw: Raw, me: DiscordSelf) -> bool:
    quoted = raw.get("referenced_message") or {}
    author = str((quoted.get("author") or {}).get("id") or "")
    return _reply_to(raw) is not None and author == me.id


def _reply_to(raw: Raw) -> str | None:
    # Pins, threads and forwards have references, too; only a reply (19) answers a message.
    reference = raw.get("message_reference") or {}
    if int(reference.get("type") or 0) != 0 or not reference.get("message_id"):
        return None
    return str(int(reference["message_id"])) if int(raw.get("type") or 0) == 19 else None


def _quote(raw: Raw, me: DiscordSelf, cache: GuildCache) -> Quote:
    author = _sender(raw)
    text = _readable(_text(raw), raw, me, cache)[:MAX_QUOTE]
    return Quote(author.name, author.id, text, _is_own(raw, author, me))


def _readable(content: str, raw: Raw, me: DiscordSelf, cache: GuildCache) -> str:
    if "<" not in content:
        return content
    names = {str(user["id"]): name_of(user) for user in raw.get("mentions") or ()}
    names[me.id] = me.name or (me.names[0] if me.names else me.id)
    guild = cache.guilds.get(str(raw.get("guild_id") or ""))
    roles = guild.roles if guild is not None else {}
    place = str(raw.get("channel_id"))

    def named(found: re.Match[str]) -> str:
        kind, number, emoji = found.groups()
        if emoji:
            return f":{emoji}:"
        if kind == "#":
            channel = cache.channels.get(number)
            is_foreign = channel is not None and channel.is_private_thread and number != place
            if channel is None or not channel.name or is_foreign:
                return found[0]  # the name of a private thread is known inside it only
            return f"#{channel.name}"
        name = roles.get(number) if kind == "@&" else names.get(number)
        return f"@{name}" if name else found[0]

    return _TOKEN.sub(named, content)


def without_code(text: str) -> str:
    """Return a text without its code and links."""
    # Chunk by chunk: a pattern for the whole text would restart at every letter of a long text.
    return "".join(_without_links(_CODE.sub(" ", text)))


def _without_links(text: str) -> Iterator[str]:
    at = 0
    for found in _CHUNK.finditer(text):
        yield text[at : found.start()]
        yield " " if "://" in found[0] else found[0]
        at = found.end()
    yield text[at:]
