"""Draws a part of a text for Slack: escapes what Slack would take for a mark, and breaks mentions.

A part is a whole text, or some of its blocks. Most parts need no parser: whether a sign stands in
code is sure where each line has its code whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from channels.markdown.literal import formulas, literals, may_have_literals
from channels.markdown.tree import MarkdownEvent, parse, parsed, unescaped

GAP: Final = "\u200b"  # an invisible character that breaks a mention

_PING: Final = re.compile(
    r"<(?=\\?(?:!(?:here|channel|everyone|group|subteam)|@[UWBS]))"
    r"|(?<![A-Za-z0-9])@(?=(?:here|channel|everyone|group)(?![A-Za-z0-9]))",
    re.IGNORECASE,
)
ADDRESS: Final = re.compile(
    r"(?<![A-Za-z0-9])https?://(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?::\d+)?"
    r"(?:[/?#](?:[\w.~%/?#=&+:;@-])*)?",
    re.ASCII,
)
"""What is an address to any reader: what follows a bracket, a star or a comma may not be."""

_APART: Final = re.compile(r"\n(?<=[^\n]\n)(?=[ \t]*\n)")
_WITHIN_ADDRESS: Final = re.compile(r"(?<![A-Za-z0-9])https?://[^\s()<>\[\]]*\Z")
_FENCE: Final = re.compile(r"`{3,}[^\n]*\n?")
_SPAN: Final = re.compile(r"`[^`\n]+`")
_PAIRED: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
"""Code to a reader who pairs backticks, and knows neither escapes nor blocks, as Slack's mrkdwn."""

_UNSURE: Final = re.compile(r"\\|__|[*_|`~]+\Z")
"""Where the form of a last word may change as it grows."""

_NOTE: Final = re.compile(r"^[ \t>*+\-\d.)]*\[(?=\^[^\[\]\n]{1,200}\]:)", re.MULTILINE)
_NOTE_BEGUN: Final = re.compile(r"[ \t>*+\-\d.)]*\[(?:\^[^\[\]\n]{0,200}\]?)?\Z")
_BEGUN: Final = re.compile(r"(?:<[!@]?\w{0,8}|@\w{0,8})\Z")
_MAX_BEGUN: Final = 10

_NEEDS_PARSER: Final = re.compile(r"``|~~~|[<\r]|://|^(?: {0,3}\t| {4})", re.MULTILINE)
"""What may be code, an address or HTML, so that only the parser knows where signs stand."""

_ONE_BLOCK: Final = re.compile(
    r"(?:(?:[^\W\d_]|\*\*(?=[^\s*])|`(?=[^`])|[\[(\"])[^\n]*(?:\n[^\W\d_][^\n]*)*"
    r"|\#{1,6}[ ][^\n]*"
    r"|-[ ][^\s-][^\n]*(?:\n(?:-[ ][^\s-]|[ ]{2,}\S)[^\n]*)*"
    r"|\*[ ][^\s*][^\n]*(?:\n(?:\*[ ][^\s*]|[ ]{2,}\S)[^\n]*)*"
    r"|\d{1,2}\.[ ]\S[^\n]*(?:\n(?:\d{1,2}\.[ ]\S|[ ]{4,}\S)[^\n]*)*"
    r"|>[^\n]*(?:\n>[^\n]*)*)\s*"
)
"""A paragraph, a heading, a list or a quote, and nothing else at the margin."""

_RULED: Final = re.compile(r"^[ \t>]*[-:|][-:| \t]*$", re.MULTILINE)
"""What may stand below the head of a table."""


class Count(NamedTuple):
    """How many blocks Slack makes of a part of a text, and how many of these are tables.

    breaks  how many blank lines part it; Slack may make a block of what stands between two
    """

    blocks: int = 0
    tables: int = 0
    breaks: int = 0

    def plus(self, other: Count) -> Count:
        """Return the count of both."""
        blocks, tables, breaks = other
        return Count(self.blocks + blocks, self.tables + tables, self.breaks + breaks)

    @property
    def most(self) -> int:
        """How many blocks there may be."""
        return max(self.blocks, self.breaks + 1)


def pings(text: str) -> list[int]:
    """Return where a text has a mention that would alert somebody."""
    if "<" not in text and "@" not in text:
        return []
    return [found.start() for found in _PING.finditer(text)]


def quiet(text: str) -> str:
    """Return a text without Markdown in which each mention is broken, but for addresses."""
    links = {at for found in ADDRESS.finditer(text) for at in range(*found.span())}
    return _PING.sub(lambda one: one[0] if one.start() in links else one[0] + GAP, text)


def drawn(text: str, named: Sequence[int] = ()) -> str:
    """Return the form of a text; `named` are the places of its mentions, see `pings`."""
    signs = _signs(text)
    return _form(text, signs, named, len(text)) if signs or named else text


def settled_part(text: str, named: Sequence[int] = ()) -> str:
    """Return what of an unfinished text's form nothing changes that may follow."""
    signs = _signs(text)
    return _form(text, signs, named, _settled_end(text, signs, named))


def settled_code(text: str) -> str:
    """Return the same of code that goes on, whose form is the text."""
    return text[: _settled_end(text, [], ())]


def _form(text: str, signs: list[int], named: Sequence[int], stop: int) -> str:
    """Return the form of the text before a position, which what follows decides as well."""
    if not named:
        return _changed(text, stop, [(at, "\\") for at in _marks(text, signs)])
    events = parsed(text).events
    changes = [(at, "\\") for at in unescaped(text, events, signs)]
    places = _quiet_places(text, events)
    changes += [(at + 1, GAP) for at in named if at not in places]
    return _changed(text, stop, changes)


def _changed(text: str, stop: int, changes: list[tuple[int, str]]) -> str:
    if not changes:
        return text[:stop]
    parts, last = list[str](), 0
    for at, inserted in sorted(change for change in changes if change[0] < stop):
        parts += (text[last:at], inserted)
        last = at
    return "".join([*parts, text[last:stop]])


def _signs(text: str) -> list[int]:
    """Return the places of what Slack would take for a mark, and is none; it has no formulas.

    It would take the words of a footnote for the target of a link, and hide them.
    """
    signs = literals(text) if may_have_literals(text) else []
    if "$" in text:
        signs = [at for at in signs if text[at] != "$"]
    if "[^" not in text:
        return signs
    return sorted({*signs, *(found.end() - 1 for found in _NOTE.finditer(text))})


def _marks(text: str, signs: list[int]) -> list[int]:
    """Return those of the signs that are to be escaped, since no code and no address has them."""
    if not signs:
        return signs
    if _NEEDS_PARSER.search(text) or ("`" in text and _has_open_code(text, 0, len(text))):
        return unescaped(text, parsed(text).events, signs)
    if "`" not in text:
        return signs
    return [at for at in signs if text[at] == "|" or not _is_in_code(text, at)]


def _is_in_code(text: str, place: int) -> bool:
    """Return whether a place is in code, where each line has its code whole."""
    return text.count("`", text.rfind("\n", 0, place) + 1, place) % 2 == 1


def _has_open_code(text: str, start: int, stop: int) -> bool:
    """Return whether code may have begun that has not ended in its line."""
    if text.find("`", start, stop) < 0:
        return False
    part = text[start:stop]
    if "``" in part or "\\`" in part or "<" in part:
        return True
    return any(line.count("`") % 2 for line in part.split("\n"))


def _quiet_places(text: str, events: Sequence[MarkdownEvent]) -> frozenset[int]:
    """Return the places of code and of addresses.

    Code counts only where a simpler reader sees it as well, and ends where the first sees an end.
    """
    places = {at for found in ADDRESS.finditer(text) for at in range(*found.span())}
    code = set[int]()
    for event in events:
        start, end = event.start, event.end
        if event.name == "CodeBlock" and event.phase == "open":
            begun = fence.end() if (fence := _FENCE.match(text, start)) is not None else end
            found = text.find("```", begun, end)
            code.update(range(begun, found if found >= 0 else end))
        elif event.name == "Code" and _SPAN.fullmatch(text, start, end):
            code.update(range(start, end))
    paired = {at for found in _PAIRED.finditer(text) for at in range(*found.span())}
    return frozenset(places | code & paired)


def without_begun_ping(text: str) -> str:
    """Return a text without what a mention may begin with that is being written at its end."""
    begun = _BEGUN.search(text, max(0, len(text) - _MAX_BEGUN))
    return text[: begun.start()] if begun else text


def _settled_end(text: str, signs: list[int], named: Sequence[int]) -> int:
    """Return how much of an unfinished text is settled."""
    holds = [len(text)]
    word = text[max(text.rfind(" "), text.rfind("\n")) + 1 :]
    if unsure := _UNSURE.search(word):
        holds.append(len(text) - len(word) + unsure.start())
    if "\\" in text:
        holds += [start for start, end in formulas(text) if end is None]
    line = text.rfind("\n") + 1
    if _NOTE_BEGUN.match(text, line):
        holds.append(line)
    above = text.rfind("\n", 0, max(0, line - 1)) + 1
    if not text[line:].strip(" \t>-:|") and "|" in text[above:line]:
        holds.append(above)  # it may be the head of a table
    if "|" in text[line:] and "`" in text[line:]:
        holds.append(text.index("`", line))
    if (held := _first_held(text, signs, named)) is not None:
        holds.append(held)
    return min(holds)


def _first_held(text: str, signs: list[int], named: Sequence[int]) -> int | None:
    """Return the first place that may turn out to be in code, in a table or in a link."""
    start = -1
    for at in sorted({*named, *signs}):
        is_ping = at in named
        if not is_ping and text[at] != "|" and _is_in_address(text, at):
            continue
        if start < 0:
            if not is_ping and text[at] != "|" and not _has_open_code(text, 0, at):
                continue
            start = _open_block(text)
        if at < start:
            continue
        is_in_link = is_ping and text.find("[", start, at) >= 0
        is_in_code = text.find("`", start, at) >= 0 if is_ping else _has_open_code(text, start, at)
        if text[at] == "|" or is_in_link or is_in_code:
            return at
    return None


def _is_in_address(text: str, place: int) -> bool:
    """Return whether a place is in an address, be that code or not; it is escaped in neither."""
    start = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place)) + 1
    return _WITHIN_ADDRESS.search(text, start, place) is not None


def _open_block(text: str) -> int:
    """Return where the last block begins, which may go on; a fence that is open stays code."""
    depth, start, end = 0, 0, 0
    known = parsed(text)
    for event in known.events[known.cuts[-1].events if known.cuts else 0 :]:
        if event.phase == "open" and not depth:
            is_fence = event.name == "CodeBlock" and isinstance(event.data, dict)
            start, end = event.start, event.end if is_fence else -1
        depth += {"open": 1, "close": -1}.get(event.phase, 0)
    return start if end < 0 else end


def empty_lines(text: str, start: int, end: int) -> int:
    """Return how many empty lines part what stands between two places, or follow it."""
    return len(_APART.findall(text, max(0, start - 1), end))


def counted(text: str) -> Count:
    """Return the count of a part."""
    breaks = empty_lines(text, 0, len(text))
    if _ONE_BLOCK.fullmatch(text) and not ("|" in text and _RULED.search(text)):
        return Count(1, 0, breaks)
    depth = count = tables = 0
    for event in parse(text):
        if event.phase == "close":
            depth -= 1
            continue
        count += not depth and (event.phase == "open" or event.name == "Rule")
        tables += event.name == "Table" and event.phase == "open"
        depth += event.phase == "open"
    return Count(count, tables, breaks)
