"""Parses gateway events into messages, and decides whether a message is for the bot.

The SDK's classes are not used: they drop unknown fields and keep the others in memory, and one
malformed event would stop all later events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from channels.commands import after_mention, command_line
from channels.content import Content, whole_text, with_or_without
from channels.discord.content import digest_of, own_words, previews_of, quote_of, read_content
from channels.discord.guild_cache import GuildCache, GuildChannel, Raw
from channels.discord.identity import (
    DISCORD,
    TOKEN,
    DiscordSelf,
    author_of,
    date_of,
    is_own,
    readable,
    utc_of,
)
from channels.discord.message_types import (
    COMMAND_ANSWER,
    POLL_RESULT,
    REPLY,
    STARTER,
    WRITTEN,
    type_of,
)
from channels.discord.text_files import is_paste, is_unread
from channels.discord.titles import add_title
from channels.mentions import calls
from channels.message import Author, InboundMessage, unreadable_message

CHANNEL: Final = "discord"
OWN_FILE: Final = "own_file"
"""The key in `InboundMessage.raw` of the file that is the message's own text."""

LOADING: Final = 1 << 7
"""The message flag of an app's answer that it has only announced; an update brings its words."""

BESIDE: Final = frozenset(
    (
        *("activity", "application", "attachments", "components", "embeds", "flags"),
        *("message_reference", "message_snapshots", "poll", "referenced_message"),
        *("sticker_items", "stickers"),
    )
)
"""Fields beside the words of a message; none of them says whose words these are."""

_UNASKED: Final = {STARTER: "first message of a thread", POLL_RESULT: "result of a poll"}
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|``.*?``|`[^`\n]*`", re.DOTALL)
_CHUNK: Final = re.compile(r"\S+")
_MENTION: Final = re.compile(r"<@[!&]?\d{1,20}>")
_LEADING: Final = re.compile(r"\s*<@(!?|&)(\d{1,20})>")


def parse(name: str, data: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    """Parse an event; None if it has no message; raises any error if the data is malformed."""
    if name == "MESSAGE_CREATE":
        return message_of(data, me, cache)
    if name == "MESSAGE_UPDATE":
        return with_or_without(BESIDE, lambda raw: _edit(raw, me, cache), data)
    if name == "MESSAGE_DELETE":
        return _deleted(data, cache)
    return None


def message_of(raw: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    """Parse a message from an event or the history.

    None for the bot's own, and for an app's answer that is only announced. What says nothing, and
    what Discord says of a channel, is a `change` with the name of its type.
    """
    return with_or_without(BESIDE, lambda one: _read(one, me, cache), raw)


def _read(raw: Raw, me: DiscordSelf, cache: GuildCache) -> InboundMessage | None:
    sender = _sender(raw, me, cache)
    if is_own(raw, sender, me) or int(raw.get("flags") or 0) & LOADING:
        return None
    content = read_content(raw, me, cache)
    if content.kind:
        return _change(raw, sender, content, cache)
    return _message(raw, sender, content, me, cache)


def _message(
    raw: Raw, sender: Author, content: Content, me: DiscordSelf, cache: GuildCache
) -> InboundMessage:
    words = own_words(raw)
    is_forward = bool(raw.get("message_snapshots")) and not words
    addressed, why, follows = False, _UNASKED.get(type_of(raw), ""), False
    if not why:
        addressed, why = _addressed(raw, words, me, cache, forwarded=is_forward)
        follows = not addressed and not is_forward and _may_follow(raw, words, me, cache)
    text, title = add_title(content.text, raw, sender, cache, asks=addressed or follows)
    # A command's answer refers to the command, which is no message.
    answers = type_of(raw) not in (COMMAND_ANSWER, STARTER)
    quoted = raw.get("referenced_message") if answers else None
    quote = quote_of({**_place(raw), **quoted}, me, cache) if quoted else None
    is_own_file = is_paste(_MENTION.sub("", words), content.media)
    return InboundMessage(
        **_position(raw, cache),
        sender=sender,
        text=text,
        reply_to=_reply_to(raw),
        mentions=content.mentions,
        addressed=addressed,
        why=why,
        follows=follows,
        media=content.media,
        quote=quote,
        excerpts=(*title, *content.excerpts),
        omitted=content.omitted,
        incomplete=content.incomplete or bool(quote and is_unread(quote.media)),
        raw={OWN_FILE: content.media[0].file} if is_own_file else {},
        command=as_command(str(raw.get("content") or ""), raw, me, cache),
    )


def _change(raw: Raw, sender: Author, content: Content, cache: GuildCache) -> InboundMessage:
    name = content.kind.replace("_", " ").capitalize()
    words = whole_text(content)
    # Views show no changes: a reply to one keeps its quote, and an edit that adds words is as new.
    position = {**_position(raw, cache), "message_id": ""}
    return InboundMessage(
        **position,
        sender=sender,
        text=f"{name}: {words}" if words else f"{name}.",
        kind="change",
        change=content.kind,
    )


def heard_in(
    message: InboundMessage, words: str, me: DiscordSelf, cache: GuildCache
) -> InboundMessage:
    """Return a message of a group that its own file may address to the bot."""
    raw = {"channel_id": message.thread_id or message.chat_id, "guild_id": message.server_id}
    if message.addressed or message.chat_kind == "private":
        return message
    addressed, why = _addressed(raw, words, me, cache, forwarded=False)
    if not addressed:
        return message
    return replace(message, addressed=True, why=why, follows=False)


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
    """Parse an edit, in the fields of a new message.

    An update without the time of an edit is none by the author. It may bring the answer that an app
    has announced: that is a new message. Or it adds previews of links: an edit with `edited` empty.
    """
    if raw.get("content") is None or not raw.get("author") or type_of(raw) not in WRITTEN:
        return None  # only a part of the message, or nobody's words
    found = _read(raw, me, cache)
    stamp = utc_of(raw.get("edited_timestamp"))
    if found is None or (not stamp and _is_answer_of_app(raw)):
        return found
    content = read_content(raw, me, cache)
    if not stamp and not previews_of(content):
        return None
    return replace(
        found,
        text="" if content.kind else found.text,
        kind="edit",
        change="",
        message_id=str(int(raw["id"])),
        ext_id=f"{found.ext_id}/edit/{stamp or 'preview'}-{digest_of(content)}",
        edited=stamp,
    )


def _is_answer_of_app(raw: Raw) -> bool:
    return bool(raw.get("interaction_metadata") or raw.get("interaction"))


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
        "date": date_of(raw),
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


def _place(raw: Raw) -> dict[str, Any]:
    return {key: raw[key] for key in ("channel_id", "guild_id") if raw.get(key)}


def _sender(raw: Raw, me: DiscordSelf, cache: GuildCache) -> Author:
    """Return a message's author; a thread's first message is by who made the thread.

    Its payload names the author of the message that the thread is made of, who may be the bot.
    """
    found = author_of(raw)
    if type_of(raw) != STARTER or not (found.is_bot or found.id == me.id):
        return found
    owner = cache.channel(str(raw["channel_id"]), str(raw.get("guild_id") or "")).owner
    return Author(owner, DISCORD.name) if owner else found


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
    if "name" in me.answers and calls(TOKEN.sub(" ", spoken), [name for name in me.names if name]):
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
    return readable(command_line(said), raw, me, cache)


def _may_follow(raw: Raw, content: str, me: DiscordSelf, cache: GuildCache) -> bool:
    channel = cache.channel(str(raw["channel_id"]), str(raw.get("guild_id") or ""))
    to_others = _MENTION.search(content) or raw.get("mention_everyone") or _reply_to(raw)
    return "thread" in me.answers and channel.is_thread and not to_others


def _mentions_me(raw: Raw, spoken: str, me: DiscordSelf, cache: GuildCache) -> bool:
    # The event of an edit may lack the list of mentions.
    named = raw.get("mentions")
    is_listed = named is None or any(str(user.get("id")) == me.id for user in named)
    guild = str(raw.get("guild_id") or "")
    for kind, number, _emoji in TOKEN.findall(spoken):
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
    return str(int(reference["message_id"])) if type_of(raw) == REPLY else None


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
