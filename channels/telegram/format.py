"""Renders Markdown as text with entities, in pieces that Telegram accepts.

A message has at most 4096 UTF-16 units and 100 entities. Entity offsets count UTF-16 units, and
entities may nest but not overlap: https://core.telegram.org/bots/api#messageentity
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import Span, render_spans, to_text
from channels.markdown.split import Measure, first, split
from channels.telegram.fields import utf16_length

LIMIT: Final = 4096
MAX_ENTITIES: Final = 100
_MAX_SHRINKAGE: Final = 3  # a visible character takes at most this many Markdown characters
_MAX_URL: Final = 2000
_KINDS: Final = {
    "bold": "bold",
    "italic": "italic",
    "strike": "strikethrough",
    "spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "quote": "blockquote",
    "link": "text_link",
}
_CODE: Final = ("code", "pre")
_STYLES: Final = ("bold", "italic", "strike", "spoiler")
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
GAP: Final = "\u200b"  # an invisible character that breaks a mention
_MENTION: Final = re.compile(r"(?<!\w)@(?=([a-z]\w{3,31})\b)", re.IGNORECASE | re.ASCII)
_HOST: Final = r"(?:[a-z0-9][a-z0-9-]{0,60}(?<!-)\.){1,6}"
_ADDRESS: Final = re.compile(
    r"(?<![^\s(<'\"\u3001\u3002\u300c\u300e\u3010\uff01\uff08\uff0c\uff1a\uff1b\uff1f])"
    rf"(?:https?://(?!teiegram\.){_HOST}[a-z]{{2,20}}|(?=[a-z]){_HOST}(?:ai|app|au|be|br|ca|ch|cn|co"
    r"|com|de|dev|edu|es|eu|fr|gg|gov|in|info|io|it|jp|kr|me|net|nl|org|ru|to|tv|uk|us|xyz))"
    r"(?::[1-9]\d{0,3})?[/?#][\w.~%/?#=&+:;!$,@-]{0,300}",
    re.IGNORECASE | re.ASCII,
)
"""What Telegram surely takes for an address, and finds no mention in.

It is less than what Telegram links: an address with a bracket, or whose host may not exist, is left
out. https://github.com/tdlib/td/blob/master/td/telegram/MessageEntity.cpp
"""

_ENDING: Final = re.compile(
    r"\.(?:am|as|cc|md|mk|ml|mm|mov|pl|pm|ps|py|rs|sc|sh|so|st|sv|tf|zip)(?![\w/@-]|\.\w)", re.ASCII
)
_FILE: Final = re.compile(rf"(?<![\w./@:#-])(?:[\w-]+/)*[\w-][\w.-]*{_ENDING.pattern}", re.ASCII)
"""A file's name that ends as the domains of a country do: Telegram would link it to a stranger."""

_ASTRAL: Final = re.compile(r"[\U00010000-\U0010ffff]")

Entity = dict[str, Any]
Rendered = tuple[str, list[Entity]]


def render_partial(markdown: str, limit: int = LIMIT, *, private: bool = False) -> Rendered:
    """Return the first message of an unfinished text, with its open marks closed; see `render`."""
    shown = begun(markdown, size, limit)
    return render(shown, private=private) if shown else ("", [])


def begun(markdown: str, measure: Measure, limit: int = LIMIT) -> str:
    """Return the Markdown of the first message of an unfinished text, its open marks closed."""
    return first(close_open_marks(markdown[: _MAX_SHRINKAGE * limit]), limit, measure)


def plain(markdown: str, *, private: bool = False) -> list[Rendered]:
    """Return a text as one or more messages without entities; see `render`."""

    def text_of(piece: str) -> str:
        text = to_text(clean(piece)).strip()
        return text if private else _quiet(text, [])[0]

    texts = map(text_of, split(markdown, LIMIT, lambda piece: utf16_length(text_of(piece))))
    return [(text, []) for text in texts if text]


def clean(markdown: str) -> str:
    """Return a Markdown text without characters that Telegram refuses."""
    return _UNFIT.sub("", markdown.replace("\r\n", "\n"))


def size(markdown: str) -> int:
    """Return a rendered text's length in units, or more than LIMIT if it has too many entities."""
    text, entities = render(markdown)
    return max(utf16_length(text), -(-len(entities) * LIMIT // MAX_ENTITIES))


@lru_cache(maxsize=16)  # cached, since a piece is measured and then sent
def drawn(markdown: str, private: bool) -> tuple[str, tuple[Span, ...]]:
    """Return a text of any length, and its marks."""
    found = render_spans(clean(markdown), linkable=linkable)
    text = found.text.strip()
    marks = [*found.marks, *_files(found.text, found.marks)]
    marks = _fit(marks, len(found.text) - len(found.text.lstrip()), len(text))
    return (text, tuple(marks)) if private else _quiet(text, marks)


def _files(text: str, marks: list[Span]) -> Iterator[Span]:
    """Yield the names of files as code, which Telegram does not link."""
    if _ENDING.search(text) is None:  # which is found much faster than a name
        return
    taken = sorted((one for one in marks if one.kind in (*_CODE, "link")), key=_outer_first)
    bounds = {at for one in marks for at in (one.start, one.end)}
    for found in _FILE.finditer(text):
        name = Span("code", *found.span())
        if bounds.isdisjoint(range(name.start + 1, name.end)) and not _inside(name, taken):
            yield name


def _quiet(text: str, marks: list[Span]) -> tuple[str, tuple[Span, ...]]:
    """Break each mention by an invisible character, except in code, where it alerts nobody."""
    named = [Span("code", *found.span(1)) for found in _MENTION.finditer(text)]
    quiet = sorted(_quiet_places(text, marks), key=_outer_first) if named else []
    cuts = [one.start for one in named if not _inside(one._replace(start=one.start - 1), quiet)]
    if not cuts:
        return text, tuple(marks)
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    moved = (
        mark._replace(
            start=mark.start + bisect_left(cuts, mark.start),
            end=mark.end + bisect_left(cuts, mark.end),
        )
        for mark in marks
    )
    return GAP.join(pieces), tuple(moved)


def _quiet_places(text: str, marks: list[Span]) -> Iterator[Span]:
    """Yield where Telegram finds no mention: code, and addresses that no mark cuts."""
    yield from (mark for mark in marks if mark.kind in _CODE)
    bounds = {at for one in marks if one.kind in (*_CODE, "link") for at in (one.start, one.end)}
    for found in _ADDRESS.finditer(text):
        if bounds.isdisjoint(range(found.start() + 1, found.end())):
            yield Span("code", *found.span())


def render(markdown: str, *, private: bool = False) -> Rendered:
    """Return a text of any length with its entities as the Bot API expects them.

    In a `private` chat nobody else can be alerted, and names stay as they were written.
    """
    text, marks = drawn(markdown, private)
    astral = [found.start() for found in _ASTRAL.finditer(text)] if not text.isascii() else []
    return text, [_entity(mark, astral) for mark in marks]


def _entity(mark: Span, astral: list[int]) -> Entity:
    start = mark.start + bisect_left(astral, mark.start)
    end = mark.end + bisect_left(astral, mark.end)
    entity: Entity = {"type": _KINDS[mark.kind], "offset": start, "length": end - start}
    if mark.kind == "link":
        entity["url"] = mark.value
    elif mark.kind == "pre" and mark.value:
        entity["language"] = mark.value
    return entity


def linkable(url: str) -> bool:
    """Return whether Telegram links a label to an address; it drops others with their URL."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if len(url) > _MAX_URL or not url.isprintable() or " " in url:
        return False
    if parts.scheme == "tg":
        return host not in ("", "user")  # a link to a user alerts that person
    return parts.scheme in ("http", "https") and "." in host and all(host.split("."))


def _fit(marks: Iterable[Span], trimmed: int, size: int) -> list[Span]:
    moved = [
        mark._replace(start=max(0, mark.start - trimmed), end=min(size, mark.end - trimmed))
        for mark in marks
    ]
    kept = sorted((mark for mark in moved if mark.end > mark.start), key=_outer_first)
    if any(mark.kind == "spoiler" for mark in kept):
        kept = sorted(_hidden(kept), key=_outer_first)
    links = [mark for mark in kept if mark.kind == "link"]
    code = [mark for mark in kept if mark.kind in _CODE and not _inside(mark, links)]
    quotes = [mark for mark in kept if mark.kind == "quote"]
    fitted = [*links, *quotes, *code]
    for kind in _STYLES:
        reached = 0
        for mark in kept:
            if mark.kind == kind and mark.end > reached:  # text in a bold heading is bold already
                fitted += _without(mark, code)
                reached = mark.end
    return sorted(fitted, key=_outer_first)


def _hidden(marks: list[Span]) -> Iterator[Span]:
    """Yield spoilers that cover a link whole, and what of the other marks Telegram has with them.

    Code is none of it: Telegram would show it. Nor is a style that a spoiler begins or ends in.
    """
    spoilers = _disjoint(mark for mark in marks if mark.kind == "spoiler")
    cut = [one for one in marks if one.kind == "link" and _is_cut(one, spoilers)]
    spoilers = _disjoint(sorted([*spoilers, *cut], key=_outer_first))
    yield from spoilers
    for mark in marks:
        at = bisect_left(spoilers, mark.end, key=lambda one: one.start) - 1
        in_one = at >= 0 and spoilers[at].end > mark.start
        is_kept = not in_one if mark.kind in _CODE else not _is_cut(mark, spoilers)
        if mark.kind != "spoiler" and is_kept:
            yield mark


def _disjoint(marks: Iterable[Span]) -> list[Span]:
    """Return spoilers where some marks are; those that overlap become one."""
    found: list[Span] = []
    for mark in marks:
        if found and mark.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, mark.end))
        else:
            found.append(Span("spoiler", mark.start, mark.end))
    return found


def _is_cut(mark: Span, spoilers: list[Span]) -> bool:
    """Return whether one of disjoint spoilers covers an end of a mark, and not the whole."""
    for place in (mark.start, mark.end):
        at = bisect_left(spoilers, place, key=lambda one: one.start) - 1
        if at >= 0 and spoilers[at].end > place:
            one = spoilers[at]
            if one.start > mark.start or one.end < mark.end:
                return True
    return False


def _outer_first(mark: Span) -> tuple[int, int]:
    return mark.start, -mark.end


def _inside(mark: Span, others: list[Span]) -> bool:
    at = bisect_left(others, mark.start + 1, key=lambda other: other.start) - 1
    return at >= 0 and mark.end <= others[at].end


def _without(mark: Span, code: list[Span]) -> Iterable[Span]:
    start = mark.start  # code cannot contain other entities
    for hole in code[bisect_left(code, mark.start, key=lambda other: other.start) :]:
        if hole.start >= mark.end:
            break
        if hole.start > start:
            yield mark._replace(start=start, end=hole.start)
        start = hole.end
    if start < mark.end:
        yield mark._replace(start=start)
