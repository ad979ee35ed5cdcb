"""The marks within the lines of standard Markdown, for `reader`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final

_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TICKS: Final = re.compile(r"`+")
_ANGLED: Final = re.compile(r"<(?P<url>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_REFERENCE: Final = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_ADDRESS: Final = re.compile(r"https?://[^\s<>]*[^\s<>?!.,:*_~'\"()\]]")
_RUN: Final = re.compile(r"\*+|_+|~+")
_TARGET: Final = re.compile(
    r"\([ \t]*\n?[ \t]*(?:<(?P<angled>(?:[^<>\n\\]|\\.)*)>"
    r"|(?P<bare>(?:[^\s()<\\]|\\.|\((?:[^\s()\\]|\\.)*\))(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)?)"
    r"(?:[ \t\n]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*\n?[ \t]*\)"
)
_NAMED: Final = re.compile(r"\[(?P<label>(?:[^\[\]\\]|\\.)*)\]")
_OTHER: Final = re.compile(r"[\\`<&*_~!\[h\n]|\Z")
_MAX_DEPTH: Final = 12


@dataclass(slots=True)
class _Mark:
    """A run of marks that may open or close; `left` of them are not used."""

    place: int
    char: str
    left: int
    length: int
    opens: bool
    closes: bool


def label_of(text: str) -> str:
    """Return a label in the form in which labels are compared."""
    return " ".join(text.split()).casefold()


class Lines:
    """Reads the lines of a paragraph; `targets` gets the addresses of links."""

    def __init__(self, definitions: Mapping[str, str], targets: list[str]) -> None:
        self._definitions = definitions
        self.targets = targets

    def read(self, text: str, depth: int = 0) -> str:
        """Return what is seen of a text."""
        parts: list[str] = []
        marks: list[_Mark] = []
        at = 0
        while at < len(text):
            shown, stop = self._next(text, at, depth)
            if not shown and stop == at and (run := _RUN.match(text, at)):
                marks.append(_mark(text, run, len(parts)))
                shown, stop = run[0], run.end()
            parts.append(shown)
            at = stop
        for place, used in _used(marks).items():
            parts[place] = parts[place][used:]
        return "".join(parts)

    def _next(self, text: str, at: int, depth: int) -> tuple[str, int]:
        """Return what is seen of what begins at a place, and where it ends; the place for marks."""
        if found := _ESCAPED.match(text, at):
            return found[1], found.end()
        if found := _TICKS.match(text, at):
            end = re.compile(rf"(?<!`){found[0]}(?!`)").search(text, found.end())
            return (text[found.end() : end.start()], end.end()) if end else (found[0], found.end())
        if found := _ANGLED.match(text, at):
            self.targets.append(found["url"])
            return found["url"], found.end()
        if found := _REFERENCE.match(text, at):
            return unescape(found[0]), found.end()
        if (at == 0 or not text[at - 1].isalnum()) and (found := _ADDRESS.match(text, at)):
            self.targets.append(found[0])
            return found[0], found.end()
        image = text.startswith("![", at)
        if (image or text[at] == "[") and depth < _MAX_DEPTH:
            link = self._link(text, at + image, depth)
            if link:
                return link
        if _RUN.match(text, at):
            return "", at
        following = _OTHER.search(text, at + 1)
        stop = following.start() if following else len(text)
        return text[at:stop], stop

    def _link(self, text: str, at: int, depth: int) -> tuple[str, int] | None:
        end = _bracket_end(text, at)
        if end < 0:
            return None
        label = text[at + 1 : end]
        if found := _TARGET.match(text, end + 1):
            target = found["angled"] if found["angled"] is not None else found["bare"] or ""
            self.targets.append(target)
            return self.read(label, depth + 1) or target, found.end()
        named = _NAMED.match(text, end + 1)
        target = self._definitions.get(
            label_of(named["label"] if named and named["label"] else label)
        )
        if target is None:
            return None
        self.targets.append(target)
        return self.read(label, depth + 1), named.end() if named else end + 1


def _bracket_end(text: str, at: int) -> int:
    """Return where the bracket closes that opens at a place, or -1."""
    depth = 0
    place = at
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == "`" and (ticks := _TICKS.match(text, place)):
            end = re.compile(rf"(?<!`){ticks[0]}(?!`)").search(text, ticks.end())
            place = (end.end() if end else ticks.end()) - 1
        elif text[place] == "[":
            depth += 1
        elif text[place] == "]":
            depth -= 1
            if not depth:
                return place
        place += 1
    return -1


def _mark(text: str, run: re.Match[str], place: int) -> _Mark:
    before, after = text[: run.start()][-1:] or " ", text[run.end() :][:1] or " "
    left = not after.isspace() and (not _is_sign(after) or before.isspace() or _is_sign(before))
    right = not before.isspace() and (not _is_sign(before) or after.isspace() or _is_sign(after))
    char, length = run[0][0], len(run[0])
    opens, closes = left, right
    if char == "_":
        opens = left and (not right or _is_sign(before))
        closes = right and (not left or _is_sign(after))
    if char == "~" and length > 2:
        opens = closes = False
    return _Mark(place, char, length, length, opens, closes)


def _is_sign(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _used(marks: list[_Mark]) -> dict[int, int]:
    """Return how many characters of each run are marks that are drawn."""
    used: dict[int, int] = {}
    opened: list[_Mark] = []
    for mark in marks:
        while mark.closes and mark.left:
            at = _opener(opened, mark)
            if at < 0:
                break
            opener = opened[at]
            both = min(mark.left, opener.left)
            take = both if mark.char == "~" else min(2, both)
            del opened[at + 1 :]
            for one in (opener, mark):
                one.left -= take
                used[one.place] = used.get(one.place, 0) + take
            if not opener.left:
                opened.pop()
        if mark.opens and mark.left:
            opened.append(mark)
    return used


def _opener(opened: list[_Mark], mark: _Mark) -> int:
    for at in range(len(opened) - 1, -1, -1):
        one = opened[at]
        if one.char != mark.char or (mark.char == "~" and one.length != mark.length):
            continue
        both = one.closes or mark.opens
        threes = (one.length + mark.length) % 3 == 0 and (one.length % 3 or mark.length % 3)
        if mark.char == "~" or not (both and threes):
            return at
    return -1
