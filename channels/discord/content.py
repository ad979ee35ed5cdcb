"""Reads what a message says: the one reader of Discord's messages.

New messages, edits, quotes, forwards, first messages of threads, the history and redelivery come
here. What the sender did not write becomes excerpts: forwards, a thread's first message, previews
of links. The embeds and components of an app or webhook are its own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from channels.content import Content, whole_text
from channels.discord.cards import (
    card_media,
    card_text,
    components_media,
    components_text,
    is_preview,
    poll_media,
    poll_text,
)
from channels.discord.guild_cache import GuildCache, Raw
from channels.discord.identity import DiscordSelf, author_of, date_of, is_own, readable, utc_of
from channels.discord.media import address, media_of
from channels.discord.message_types import DEFAULT, READ, STARTER, type_name, type_of
from channels.discord.text_files import is_unread
from channels.message import Excerpt, Media, Quote

MAX_QUOTE: Final = 1000
FORWARDED: Final = "forwarded message"
PREVIEW: Final = "link preview"
FIRST_MESSAGE: Final = "first message of the thread"


def read_content(raw: Raw, me: DiscordSelf, cache: GuildCache) -> Content:
    """Return what a message says; a field that is missing says nothing."""
    excerpts = tuple(_excerpts(raw, me, cache))
    media = _without_copies([*media_of(raw), *_shown(raw)])
    found = Content(
        text=readable(own_words(raw), raw, me, cache),
        media=media,
        excerpts=excerpts,
        mentions=tuple(
            f"@{user['id']}" for user in raw.get("mentions") or () if str(user["id"]) != me.id
        ),
        incomplete=is_unread(media) or any(is_unread(one.media) for one in excerpts),
    )
    is_said = type_of(raw) in READ and not found.is_empty
    return replace(found, kind="" if is_said else type_name(raw)).limited()


def own_words(raw: Raw) -> str:
    """Return the words of a message that its author wrote, with ids in place of names."""
    parts = [str(raw.get("content") or "")]
    parts += [card_text(one) for one in raw.get("embeds") or () if not _is_preview(one, raw)]
    parts.append(components_text(raw.get("components")))
    if raw.get("poll"):
        parts.append(poll_text(raw["poll"]))
    return "\n".join(part for part in parts if part)


def quote_of(raw: Raw, me: DiscordSelf, cache: GuildCache) -> Quote:
    """Return a message as a quote: of what it carries from others, each part is labeled."""
    author, content = author_of(raw), read_content(raw, me, cache)
    media = [*content.media, *(media for one in content.excerpts for media in one.media)]
    if content.kind:
        media.insert(0, _of_discord(content.kind))
    text = whole_text(content)[:MAX_QUOTE]
    return Quote(author.name, author.id, text, is_own(raw, author, me), media=tuple(media))


def _of_discord(kind: str) -> Media:
    return Media("other", "message of Discord", detail=kind)


def digest_of(content: Content) -> str:
    """Return a hash of a content that stays the same when Discord signs its addresses again."""
    excerpts = tuple(
        replace(one, media=tuple(map(_unsigned, one.media))) for one in content.excerpts
    )
    media = tuple(map(_unsigned, content.media))
    return replace(content, media=media, excerpts=excerpts).digest()


def previews_of(content: Content) -> tuple[Excerpt, ...]:
    return tuple(one for one in content.excerpts if one.label == PREVIEW)


def _excerpts(raw: Raw, me: DiscordSelf, cache: GuildCache) -> Iterator[Excerpt]:
    place = {key: raw[key] for key in ("channel_id", "guild_id") if raw.get(key)}
    for one in raw.get("message_snapshots") or ():
        snapshot = {**place, **(one.get("message") or {})}
        yield from _as_excerpts(FORWARDED, snapshot, me, cache)
    started_by = raw.get("referenced_message") if type_of(raw) == STARTER else None
    if started_by:
        copied = str(int(started_by["id"]))
        for one in _as_excerpts(FIRST_MESSAGE, {**place, **started_by}, me, cache):
            yield replace(one, copies=copied)
    for embed in raw.get("embeds") or ():
        if _is_preview(embed, raw):
            text, media = card_text(embed), tuple(card_media(embed))
            if text or media:
                yield Excerpt(PREVIEW, text, media=media, source="page")


def _as_excerpts(label: str, raw: Raw, me: DiscordSelf, cache: GuildCache) -> Iterator[Excerpt]:
    """Yield a message as an excerpt, and then what it carries from others itself."""
    author, content = author_of(raw), read_content(raw, me, cache)
    # A forwarded message has no id, and its date is that of the original.
    date = date_of(raw) if raw.get("id") else utc_of(raw.get("timestamp"))
    ours = bool(author.id) and is_own(raw, author, me)
    media = content.media
    if content.kind and type_of(raw) != DEFAULT and not (content.text or media or content.excerpts):
        media = (_of_discord(content.kind),)  # its name is nobody's words
    yield Excerpt(label, content.text, author.name, author.id, date, media, ours=ours)
    yield from content.excerpts


def _shown(raw: Raw) -> Iterator[Media]:
    for embed in raw.get("embeds") or ():
        if not _is_preview(embed, raw):
            yield from card_media(embed)
    yield from components_media(raw.get("components"))
    if raw.get("poll"):
        yield poll_media(raw["poll"])


def _is_preview(embed: Raw, raw: Raw) -> bool:
    author: Any = raw.get("author")
    # The author of a forwarded message is not known, so its own cards count as an app's.
    by_app = not author or author.get("bot") or raw.get("webhook_id")
    return is_preview(embed, str(raw.get("content") or ""), by_app=bool(by_app))


def _without_copies(media: list[Media]) -> tuple[Media, ...]:
    """Leave out files that components show, which are among the attachments, too."""
    kept: dict[str, Media] = {}
    for number, one in enumerate(media):
        kept.setdefault(address(one.file) or str(number), one)
    return tuple(kept.values())


def _unsigned(media: Media) -> Media:
    return replace(media, file=address(media.file), detail=address(media.detail))
