"""Text and its entities as Telegram keeps them; offsets and lengths are UTF-16 units."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tests.fakes.base.http import JsonObject

# Telegram may cut these at the borders of others, and so never has to refuse them.
SPLITTABLE: Final = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
QUOTES: Final = frozenset({"blockquote", "expandable_blockquote"})
CODE: Final = frozenset({"code", "pre"})
DETECTED: Final = frozenset(
    {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card"}
)
KNOWN: Final = SPLITTABLE | QUOTES | CODE | DETECTED | {"text_link", "text_mention", "custom_emoji"}
_HOST: Final = re.compile(r"[^.\s]+(\.[^.\s]+)+")
_TRIMMED: Final = " \n\t\r\v\f"
_FOUND: Final = re.compile(
    r"(?P<email>(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})"
    r"|(?P<url>https?://[^\s<>\"]*[^\s<>\".,;:!?)'\]]"
    r"|(?<![\w.@/-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|me|am|cc|md|pl|py|rs|sh)\b(?:/[^\s<>\"]*[^\s<>\".,;:!?)])?)"
    r"|(?<![\w@/])(?P<mention>@[A-Za-z][A-Za-z0-9_]{2,31})(?!\w)"
    r"|(?<![\w/@.])(?P<bot_command>/[A-Za-z0-9_]{1,64}(?:@[A-Za-z][A-Za-z0-9_]{2,31})?)(?![\w/])"
)


class BadEntity(ValueError):
    """Say what is wrong with an entity, in the server's words."""


@dataclass(frozen=True, slots=True)
class Text:
    """Hold a text, its entities, and its length in UTF-16 units."""

    text: str
    entities: list[JsonObject]
    length: int


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def checked(text: str, entities: list[object]) -> Text:
    """Return the text trimmed, with its entities in order and well nested.

    Raises BadEntity. Splittable entities that overlap are cut at each other's borders; of two
    others that overlap the later is dropped; within code and pre there is nothing else.
    """
    try:
        borders = _borders(text)
    except UnicodeEncodeError as error:
        raise BadEntity("strings must be encoded in UTF-8") from error
    found = [_valid(entity, borders) for entity in entities]
    kept = _nested([entity for entity in found if entity is not None])
    return _trimmed(text, kept)


@dataclass(frozen=True, slots=True)
class _Borders:
    """Know where characters begin; `inside` are the middles of surrogate pairs."""

    length: int
    inside: frozenset[int]


def _borders(text: str) -> _Borders:
    length = units(text)
    if length == len(text):
        return _Borders(length, frozenset())
    position, inside = 0, set()
    for character in text:
        if character > "\uffff":
            inside.add(position + 1)
            position += 1
        position += 1
    return _Borders(length, frozenset(inside))


def _valid(entity: object, borders: _Borders) -> JsonObject | None:
    """Return an entity that lies within the text; None for one of no length."""
    if not isinstance(entity, dict):
        raise BadEntity("can't parse MessageEntity: expected an Object")
    if entity.get("type") not in KNOWN:
        raise BadEntity("can't parse MessageEntity: Unsupported type specified")
    start, length = _number(entity, "offset"), _number(entity, "length")
    if start < 0:
        raise BadEntity("receive an entity with incorrect offset")
    if length <= 0:
        return None
    end = start + length
    _check_span(start, end, borders)
    if entity["type"] == "text_link":
        _check_link(entity.get("url"))
    return entity


def _number(entity: JsonObject, name: str) -> int:
    value = entity.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadEntity(f'can\'t parse MessageEntity: Field "{name}" must be of type Number')
    return value


def _check_span(start: int, end: int, borders: _Borders) -> None:
    if start >= borders.length:
        raise BadEntity(f"entity begins after the end of the text at UTF-16 offset {start}")
    if start in borders.inside:
        raise BadEntity(f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}")
    if end > borders.length:
        raise BadEntity(
            f"entity beginning at UTF-16 offset {start} ends after the end of the text at "
            f"UTF-16 offset {end}"
        )
    if end in borders.inside:
        raise BadEntity(
            f"entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at "
            f"UTF-16 offset {end}"
        )


def _check_link(url: object) -> None:
    if not isinstance(url, str):
        raise BadEntity("can't parse MessageEntity: Can't find field \"url\"")
    if not is_link(url):
        raise BadEntity(f"entity URL '{url}' is invalid: Wrong HTTP URL")


def is_link(url: str) -> bool:
    """Return whether Telegram takes a text for the target of a link."""
    try:
        parts = urlsplit(url if "://" in url or url.startswith("tg:") else f"http://{url}")
    except ValueError:
        return False
    if parts.scheme in ("tg", "ton"):
        return True
    named = _HOST.fullmatch(parts.hostname or "") is not None
    return parts.scheme in ("http", "https") and named and not re.search(r"\s", url)


def _span(entity: JsonObject) -> tuple[int, int]:
    start = entity["offset"]
    return start, start + entity["length"]


def _order(entity: JsonObject) -> tuple[int, int, int]:
    start, end = _span(entity)
    rank = 0 if entity["type"] in QUOTES else 2 if entity["type"] in SPLITTABLE else 1
    return start, -end, rank


def _nested(entities: list[JsonObject]) -> list[JsonObject]:
    if len(entities) < 2:
        return entities
    whole = _apart(entities)
    code = [_span(entity) for entity in whole if entity["type"] in CODE]
    soft = [entity for entity in entities if entity["type"] in SPLITTABLE]
    cuts = sorted({border for entity in [*whole, *soft] for border in _span(entity)})
    pieces = [piece for entity in soft for piece in _cut(entity, [*whole, *soft], cuts, code)]
    return sorted([*whole, *pieces], key=_order)


def _apart(entities: list[JsonObject]) -> list[JsonObject]:
    """Return the unsplittable entities without those that begin within an earlier one."""
    kept: list[JsonObject] = []
    quote_end = end = 0
    for entity in sorted(entities, key=_order):
        start, stop = _span(entity)
        if entity["type"] in QUOTES and start >= max(quote_end, end):
            quote_end = stop
            kept.append(entity)
        elif entity["type"] not in QUOTES | SPLITTABLE and start >= end:
            if start < quote_end < stop:
                continue
            end = stop
            kept.append(entity)
    return kept


def _cut(
    entity: JsonObject, others: list[JsonObject], cuts: list[int], code: list[tuple[int, int]]
) -> Iterable[JsonObject]:
    start, end = _span(entity)
    spans = [_span(other) for other in others]
    crossed = any(a < start < b < end or start < a < end < b for a, b in spans)
    touched = any(a < end and start < b for a, b in code)
    if not crossed and not touched:
        return [entity]
    inner = [start, *(cut for cut in cuts if start < cut < end), end]
    pieces = itertools.pairwise(inner)
    free = [(a, b) for a, b in pieces if not any(c <= a and b <= d for c, d in code)]
    return [entity | {"offset": a, "length": b - a} for a, b in free]


def _trimmed(text: str, entities: list[JsonObject]) -> Text:
    short = text.rstrip(_TRIMMED)
    bare = short.lstrip(_TRIMMED)
    length = units(bare)
    if bare == text:
        return Text(text, entities, length)
    # What is trimmed is one unit a character.
    shift = len(short) - len(bare)
    moved = [_moved(entity, shift, length) for entity in entities]
    return Text(bare, [entity for entity in moved if entity["length"] > 0], length)


def _moved(entity: JsonObject, shift: int, length: int) -> JsonObject:
    start, end = _span(entity)
    start, end = max(start - shift, 0), min(end - shift, length)
    return entity | {"offset": start, "length": end - start}


def detected(text: str, mentions: Mapping[str, JsonObject] | None = None) -> list[JsonObject]:
    """Return the entities that the server finds in a person's text.

    `mentions` maps words of the text to the users they name without a username (text_mention).
    """
    found = [
        _entity(match.lastgroup or "", text, match.start(), match.end())
        for match in _FOUND.finditer(text)
    ]
    for word, user in (mentions or {}).items():
        at = text.find(word)
        if at >= 0:
            found.append(_entity("text_mention", text, at, at + len(word)) | {"user": user})
    return sorted(found, key=_order)


def alerted(text: str, entities: Sequence[JsonObject]) -> list[str]:
    """Return whom a message alerts: by a link, by a name that is no link, or by @username.

    The server looks for usernames in every text, but not in code.
    """
    code = [it for it in entities if it["type"] in ("code", "pre")]
    found = [str(it["user"]["id"]) for it in entities if it["type"] == "text_mention"]
    links = [str(it.get("url", "")) for it in entities]
    found += [url for url in links if url.startswith("tg://user")]
    for it in detected(text):
        inside = any(0 <= it["offset"] - mark["offset"] < mark["length"] for mark in code)
        if it["type"] == "mention" and not inside:
            start = it["offset"] * 2
            covered = text.encode("utf-16-le")[start : start + it["length"] * 2]
            found.append(covered.decode("utf-16-le"))
    return found


def _entity(kind: str, text: str, start: int, end: int) -> JsonObject:
    return {"type": kind, "offset": units(text[:start]), "length": units(text[start:end])}
