"""Parses what a message replies to and forwards: whose it is, its words and its attachments."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from channels.content import Content, passed_on, whole_text
from channels.message import Excerpt, Media, Quote
from channels.telegram.addressing import TelegramSelf, replied
from channels.telegram.chat_changes import sentence_of
from channels.telegram.content import read_content
from channels.telegram.details import detail_of
from channels.telegram.entities import with_addresses
from channels.telegram.fields import Raw, author_of, called, name_of, part, parts, signed, string
from channels.telegram.rich_blocks import read_rich

MAX_QUOTE: Final = 1000  # maximum number of characters kept of a quoted message


def quote_of(raw: Raw, me: TelegramSelf) -> Quote | None:
    """Return what a message replies to, also in another chat or topic, or a story."""
    if part(raw, "reply_to_story"):
        return _story(part(raw, "reply_to_story"))
    found = replied(raw)
    if not found:
        return None
    whose = _author(raw, found, me)
    content, chosen = read_content(found), _chosen(raw, found)
    # Our own text is known; beside it stand only the buttons that we put there.
    if whose is not None and whose.ours:
        content = replace(content, excerpts=())
    by = whose.author_id if whose is not None else ""
    said = _passed_on(_said(content, chosen), found, by, me)
    text = said or sentence_of(found, content.kind)
    media = (*content.media, *(one for it in content.excerpts for one in it.media))
    if whose is None:
        if not text and not media:
            return None
        whose = Quote("somebody")
    # Telegram itself adds the beginning of what cannot be seen from there.
    by_author = bool(chosen) and (
        not raw.get("quote") or part(raw, "quote").get("is_manual") is True
    )
    return Quote(whose.author, whose.author_id, text[:MAX_QUOTE], whose.ours, by_author, media)


def _said(content: Content, chosen: str) -> str:
    """Return the words of a message, or those chosen of them, with whose they are."""
    if not chosen:
        return whole_text(content)
    is_by_others = bool(content.excerpts) and not content.text.strip()
    return passed_on(replace(content.excerpts[0], text=chosen)) if is_by_others else chosen


def _passed_on(said: str, found: Raw, by: str, me: TelegramSelf) -> str:
    """Return the words of a message, with who wrote them if it was not who sent it."""
    origin = forwarded(found, me)
    if origin is None or origin.author_id == by:  # as the posts of a channel in its group are
        return said
    return passed_on(Excerpt("forwarded message", said, origin.author, ours=origin.ours))


def forwarded(raw: Raw, me: TelegramSelf) -> Quote | None:
    """Return who wrote a forwarded message first, or None if it is not forwarded."""
    origin = _forwarded(raw)
    return origin and replace(origin, ours=origin.author_id == str(me.id))


def _forwarded(raw: Raw) -> Quote | None:
    if raw.get("forward_origin"):
        return _origin(part(raw, "forward_origin")) or Quote("somebody")
    old = raw.get("forward_from") or raw.get("forward_from_chat")
    if old:
        name = name_of(old)
        return Quote(
            signed(name, {"author_signature": raw.get("forward_signature")}), str(old["id"])
        )
    hidden = raw.get("forward_sender_name")
    return Quote(str(hidden)) if hidden else None


def _author(raw: Raw, found: Raw, me: TelegramSelf) -> Quote | None:
    if found.get("from") or found.get("sender_chat"):
        author = author_of({"chat": raw["chat"], **found})
        return Quote(author.name, author.id, ours=author.id == str(me.id))
    origin = _origin(part(found, "origin"))
    if origin is None:
        return None
    return Quote(origin.author, origin.author_id, ours=origin.author_id == str(me.id))


def _origin(origin: Raw) -> Quote | None:
    user = origin.get("sender_user") or origin.get("sender_chat") or origin.get("chat")
    if user:
        return Quote(signed(name_of(user), origin), str(user["id"]))
    name = origin.get("sender_user_name")
    return Quote(str(name)) if name else None


def _chosen(raw: Raw, found: Raw) -> str:
    """Return the words that the author chose: a part of the text, a task or an option."""
    quote = part(raw, "quote")
    if text := with_addresses(string(quote, "text"), quote.get("entities")).text:
        return text
    if rich := quote.get("rich_texts"):
        return read_rich({"blocks": [{"type": "paragraph", "text": rich}]})[0].text
    wanted = raw.get("reply_to_checklist_task_id")
    tasks = parts(part(found, "checklist"), "tasks") if wanted is not None else ()
    option = raw.get("reply_to_poll_option_id")
    options = parts(part(found, "poll"), "options") if option is not None else ()
    said = [string(one, "text") for one in tasks if one.get("id") == wanted]
    said += [string(one, "text") for one in options if one.get("persistent_id") == option]
    return next(iter(said), "")


def _story(story: Raw) -> Quote:
    chat = part(story, "chat")
    media = Media("other", "story", detail=detail_of("story", story))
    return Quote(called(chat), str(chat.get("id") or ""), media=(media,))
