"""Reads embeds, components and polls: cards of apps, previews of links, and votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from channels.discord.guild_cache import Raw
from channels.discord.media import linked
from channels.message import Media

RESULT: Final = "poll_result"
MAX_DEPTH: Final = 8  # Discord nests components four deep

_NO_WORDS: Final = frozenset(
    {"id", "type", "custom_id", "sku_id", "style", "value", "url", "proxy_url", "content_type"}
)
"""Keys of a component whose strings only programs read."""

_FILES: Final = frozenset({"media", "file"})
_FIRST: Final = ("label", "title", "name", "content", "description", "placeholder")
"""Keys of a component's words in the order in which people see them; others come after them."""


def is_preview(embed: Raw, text: str, *, by_app: bool) -> bool:
    """Return whether Discord made an embed from a link, which only apps can do otherwise.

    A page may describe itself in a `rich` embed, too; an app's own one names no provider.
    """
    kind = embed.get("type", "rich")
    if kind == RESULT:
        return False
    if not by_app or kind != "rich":
        return True
    url = str(embed.get("url") or "")
    return bool(embed.get("provider")) or (bool(url) and url in text)


def card_text(embed: Raw) -> str:
    """Return the words of an embed, line by line."""
    if embed.get("type") == RESULT:
        return _result(embed)
    return "\n".join(line for line in _card(embed) if line)


def card_media(embed: Raw) -> Iterator[Media]:
    for name in ("image", "thumbnail", "video"):
        item = embed.get(name)
        if item:
            yield linked("video" if name == "video" else "image", name, item)


def components_text(components: Any) -> str:
    """Return the words of a message's components, also of kinds that are not known."""
    return "\n".join(_words(components, 0))


def components_media(components: Any) -> Iterator[Media]:
    """Yield the files and images that components show."""
    for item in _items(components, 0):
        mime = str(item.get("content_type") or "")
        kind = mime.partition("/")[0]
        is_seen = kind in ("image", "video")
        yield linked("video" if kind == "video" else "image", kind if is_seen else "image", item)


def poll_text(poll: Raw) -> str:
    """Return a poll's question, and its answers with their votes."""
    lines = [_poll_words(poll.get("question"))]
    counts = (poll.get("results") or {}).get("answer_counts") or ()
    votes = {one.get("id"): one.get("count") for one in counts}
    for one in poll.get("answers") or ():
        count = votes.get(one.get("answer_id"))
        lines.append(f"- {_poll_words(one.get('poll_media'))}{_counted(count)}")
    return "\n".join(line for line in lines if line)


def poll_media(poll: Raw) -> Media:
    many = ", several may be chosen" if poll.get("allow_multiselect") else ""
    ends = f", until {poll['expiry']}" if poll.get("expiry") else ""
    return Media("other", "poll", detail=f"{len(poll.get('answers') or ())} answers{many}{ends}")


def labeled(label: str, url: str) -> str:
    """Return a label with the address behind it as Markdown."""
    return f"[{label}]({url})" if label and url else label or url


def _card(embed: Raw) -> Iterator[str]:
    yield str((embed.get("provider") or {}).get("name") or "")
    author = embed.get("author") or {}
    yield labeled(str(author.get("name") or ""), str(author.get("url") or ""))
    yield labeled(str(embed.get("title") or ""), str(embed.get("url") or ""))
    yield str(embed.get("description") or "")
    for one in embed.get("fields") or ():
        yield f"{one.get('name', '')}: {one.get('value', '')}"
    yield str((embed.get("footer") or {}).get("text") or "")


def _result(embed: Raw) -> str:
    """Return what a poll's result says; its fields are named, not numbered."""
    said = {str(one.get("name")): str(one.get("value")) for one in embed.get("fields") or ()}
    question, total = said.get("poll_question_text", ""), said.get("total_votes", "0")
    won = said.get("victor_answer_text") or said.get("victor_answer_emoji_name")
    votes = said.get("victor_answer_votes", "0")
    end = f"{won!r} won with {votes} of {total} votes" if won else f"no winner, {total} votes"
    return f"The poll has ended: {question}\n{end}"


def _poll_words(media: Any) -> str:
    said = media or {}
    return " ".join(part for part in (_emoji(said.get("emoji")), said.get("text")) if part)


def _counted(count: Any) -> str:
    return "" if count is None else f" ({count} votes)"


def _emoji(emoji: Any) -> str:
    name = str((emoji or {}).get("name") or "")
    return f":{name}:" if name and (emoji or {}).get("id") else name


def _objects(node: Any, depth: int) -> Iterator[Raw]:
    """Yield the objects at a place: itself, or those of a list; none that stands too deep."""
    if depth > MAX_DEPTH:
        return
    if isinstance(node, list):
        for one in node:
            yield from _objects(one, depth)
    elif isinstance(node, Mapping):
        yield node


def _words(node: Any, depth: int) -> Iterator[str]:
    for one in _objects(node, depth):
        yield from _of_component(one, depth)


def _of_component(node: Raw, depth: int) -> Iterator[str]:
    said = [str(node[key]) for key in _keys(node) if isinstance(node[key], str) and node[key]]
    said = [labeled(next(iter(said), ""), str(node.get("url") or "")), *said[1:]]
    shown = " ".join(part for part in (_emoji(node.get("emoji")), *said[:1]) if part)
    yield from (part for part in (shown, *said[1:]) if part)
    for key, inner in node.items():
        if key in _FILES and isinstance(inner, Mapping):
            continue  # an item of media, which has no words of its own
        if key != "emoji" and isinstance(inner, list | Mapping):
            yield from _words(inner, depth + 1)


def _keys(node: Raw) -> list[str]:
    first = [key for key in _FIRST if key in node]
    return first + [key for key in node if key not in _NO_WORDS and key not in first]


def _items(node: Any, depth: int) -> Iterator[Raw]:
    for one in _objects(node, depth):
        named = {name: one[name] for name in ("name", "size", "description") if name in one}
        for key, inner in one.items():
            if key in _FILES and isinstance(inner, Mapping):
                yield {**inner, **named}
            else:
                yield from _items(inner, depth + 1)
