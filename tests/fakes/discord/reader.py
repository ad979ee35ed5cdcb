"""What people see of a message on Discord, by its published rules; used by `tests.shown` only.

Discord looks at a position for the first of these that begins there: an escape, a quote, a heading,
small words, an item, code, an address, marks. A mark ends at the next of its kind, lines further
on, too; there are no paragraphs. It knows no tables, images, references and HTML, and shows them.
https://support.discord.com/hc/en-us/articles/210298617-Markdown-Text-101-Chat-Formatting-Bold-Italic-Underline
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

_ESCAPED: Final = re.compile(r"\\([^0-9A-Za-z\s])")
_CODE_BLOCK: Final = re.compile(r"```(?:[\w+\-.#]+\n)?\n*(?P<code>[^\n].*?)\n*```", re.S | re.A)
_CODE: Final = re.compile(r"(?P<ticks>`+)(?P<code>.*?[^`])(?P=ticks)(?!`)", re.S)
_QUOTE: Final = re.compile(r"(?:(?<=\n)|\A) *> ")
_LONG_QUOTE: Final = re.compile(r" *>>> ")
_HEADING: Final = re.compile(r" *#{1,3}[ \t]+(?=\S)")
_SMALL: Final = re.compile(r" *-#[ \t]+(?=\S)")
_ITEM: Final = re.compile(r"(?P<lead>[ \t]*)(?:[-*]|(?P<number>\d{1,9})\.)[ \t]+(?=\S)")
_ADDRESS: Final = re.compile(r"https?://[^\s<]+[^<.,:;\"'\]\s]")
_ANGLED: Final = re.compile(r"<(?P<url>https?://[^\s<>]+)>")
_LABEL: Final = re.compile(r"\[(?P<label>(?:\\.|\[[^\[\]\n]*\]|[^\[\]\\\n])+)\]")
_TARGET: Final = re.compile(
    r"\([ \t]*(?:<(?P<angled>https?://[^\s<>]+)>|(?P<bare>https?://(?:[^\s()]|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?[ \t]*\)"
)
_EMOJI: Final = re.compile(r"<a?:(?P<name>\w+):\d{15,}>", re.A)
_STAR: Final = re.compile(
    r"\*(?=\S)(?P<inside>(?:\*\*|\\.|\s+(?:\\.|[^*\s\\]|\*\*)|[^\s*\\])+?)\*(?!\*)", re.S
)
_UNDERSCORE: Final = re.compile(r"\b_(?P<inside>(?:__|\\.|[^\\_])+?)_\b", re.S)
_PAIRS: Final = (
    re.compile(r"\*\*(?P<inside>(?:\\.|[^\\])+?)\*\*(?!\*)", re.S),
    re.compile(r"__(?P<inside>(?:\\.|[^\\])+?)__(?!_)", re.S),
    _STAR,
    re.compile(r"~~(?P<inside>.+?)~~(?!_)", re.S),
    re.compile(r"\|\|(?P<inside>.+?)\|\|", re.S),
)
_ANY: Final = re.compile(r"[\\`*_~|<\[\n]|https?://|\Z")
_MAX_DEPTH: Final = 20


@dataclass(slots=True)
class Read:
    """Hold the text that people see, and where its links lead."""

    text: str = ""
    targets: list[str] = field(default_factory=list)


def read(content: str) -> Read:
    """Return what people see of the content of a message, with what they uncover in spoilers."""
    read = Read()
    read.text = "".join(_blocks(content, read.targets))
    return read


def _blocks(text: str, targets: list[str]) -> Iterator[str]:
    """Yield what is seen of a text whose first character begins a line."""
    at, number = 0, _Numbers()
    while at < len(text):
        end = _line_end(text, at)
        if found := _LONG_QUOTE.match(text, at):
            yield from _blocks(text[found.end() :], targets)
            return
        if _QUOTE.match(text, at):
            stop = at
            while stop < len(text) and _QUOTE.match(text, stop):
                stop = min(len(text), text.find("\n", stop) % (len(text) + 1) + 1)
            lines = text[at:stop].split("\n")
            yield from _blocks("\n".join(_QUOTE.sub("", line, 1) for line in lines), targets)
            at = stop
            continue
        mark = _HEADING.match(text, at) or _SMALL.match(text, at)
        item = _ITEM.match(text, at)
        if mark or item:
            place = (mark or item).end()  # type: ignore[union-attr]
            if item and not mark:
                yield item["lead"] + number.shown(item)
                end = _whole_line(text, place)
            yield _inline(text[place:end].rstrip("# ") if mark else text[place:end], targets)
            yield "\n"
            at = end + 1
            continue
        stop = _next_block(text, at)
        yield _inline(text[at:stop], targets)
        at = stop


class _Numbers:
    """The numbers of a list, of which Discord shows the first, and counts on."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def shown(self, item: re.Match[str]) -> str:
        depth = len(item["lead"])
        if item["number"] is None:
            self._last.pop(depth, None)
            return "• "
        last = self._last.get(depth)
        self._last[depth] = int(item["number"]) if last is None else last + 1
        return f"{self._last[depth]}. "


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _whole_line(text: str, at: int) -> int:
    """Return where a line ends, with the code that begins in it."""
    while True:
        end, code = _line_end(text, at), text.find("```", at)
        found = _CODE_BLOCK.match(text, code) if 0 <= code < end else None
        if found is None:
            return end
        at = found.end()


def _next_block(text: str, at: int) -> int:
    """Return where the next line begins that is a block of its own, outside of what is whole."""
    place = at
    while place < len(text):
        place = _whole_line(text, place) + 1
        if any(one.match(text, place) for one in (_QUOTE, _LONG_QUOTE, _HEADING, _SMALL, _ITEM)):
            return min(place, len(text))
    return len(text)


def _inline(text: str, targets: list[str], depth: int = 0) -> str:
    parts: list[str] = []
    at = 0
    while at < len(text):
        for rule in _RULES:
            if found := rule(text, at, targets, depth):
                shown, at = found
                parts.append(shown)
                break
        else:
            following = _ANY.search(text, at + 1)
            stop = following.start() if following else len(text)
            parts.append(text[at:stop])
            at = stop
    return "".join(parts)


_Found = tuple[str, int] | None


def _escape(text: str, at: int, _targets: list[str], _depth: int) -> _Found:
    found = _ESCAPED.match(text, at)
    return (found[1], found.end()) if found else None


def _code(text: str, at: int, _targets: list[str], _depth: int) -> _Found:
    if found := _CODE_BLOCK.match(text, at):
        return f"\n{found['code']}\n", found.end()
    found = _CODE.match(text, at)
    return (found["code"], found.end()) if found else None


def _address(text: str, at: int, targets: list[str], _depth: int) -> _Found:
    if found := _ADDRESS.match(text, at):
        targets.append(found[0])
        return found[0], found.end()
    if found := _ANGLED.match(text, at):
        targets.append(found["url"])
        return found["url"], found.end()
    found = _EMOJI.match(text, at)
    return (f":{found['name']}:", found.end()) if found else None


def _masked(text: str, at: int, targets: list[str], depth: int) -> _Found:
    label = _LABEL.match(text, at)
    target = _TARGET.match(text, label.end()) if label else None
    if label is None or target is None or "://" in label["label"] or depth > _MAX_DEPTH:
        return None
    targets.append(target["angled"] or target["bare"])
    return _inline(label["label"], targets, depth + 1), target.end()


def _marked(text: str, at: int, targets: list[str], depth: int) -> _Found:
    if depth > _MAX_DEPTH:
        return None
    begins_word = at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_")
    found = _UNDERSCORE.match(text, at) if begins_word and text[at] == "_" else None
    pairs = (one.match(text, at) for one in _PAIRS)
    found = found or next((one for one in pairs if one), None)
    return (_inline(found["inside"], targets, depth + 1), found.end()) if found else None


_RULES: Final[tuple[Callable[[str, int, list[str], int], _Found], ...]] = (
    _escape,
    _code,
    _address,
    _masked,
    _marked,
)
