"""Renders Markdown for Slack so that it alerts nobody.

Slack renders headings, lists, tables, code, quotes and links itself. What Slack does not render
(raw HTML, footnotes, formulas) stays readable as text; simple formulas are written with signs.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from channels.markdown.kept import Kept
from channels.markdown.literal import formulas, may_have_literals
from channels.markdown.render import is_visible, to_text
from channels.markdown.signs import decided, with_signs
from channels.markdown.split import first
from channels.markdown.tree import MarkdownEvent, Parsed, parse, parsed, unescaped
from channels.message import Button
from channels.slack.mrkdwn import escape

LIMIT: Final = 9_000
"""Maximum characters that we send; Slack allows 12,000, but we add invisible characters."""

MAX_BLOCKS: Final = 44
"""Maximum blocks that we have Slack make of a text: each heading, list, table, code, paragraph.

Slack refuses more than 50, and more than one table.
https://docs.slack.dev/reference/block-kit/blocks/table-block
"""

MAX_SECTION: Final = 3_000
MAX_LABEL: Final = 75
MAX_EDIT: Final = 4_000
"""Maximum characters of the text of an edit with blocks; the blocks hold the whole text."""

ACTION: Final = "tapeway."  # what the ids of our buttons begin with
EMPTY: Final = "(The answer has no visible text.)"
GAP: Final = "\u200b"  # an invisible character that breaks a mention

_PING: Final = re.compile(
    r"<(?=\\?(?:!(?:here|channel|everyone|group|subteam)|@[UWBS]))"
    r"|(?<![A-Za-z0-9])@(?=(?:here|channel|everyone|group)(?![A-Za-z0-9]))",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"(?<![A-Za-z0-9])https?://(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?::\d+)?"
    r"(?:[/?#](?:[\w.~%/?#=&+:;@-])*)?",
    re.ASCII,
)
"""What is an address to any reader: what follows a bracket, a star or a comma may not be."""

_APART: Final = re.compile(r"\n[ \t]*\n")
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
BLOCKS: Final = Kept[str, str](500_000)
"""The forms of blocks, up to so many characters with those of the blocks."""

_UNFIT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def render(markdown: str) -> str:
    """Return a text that alerts nobody and is never empty."""
    drawn = neutral(markdown).strip()
    return drawn if is_visible(drawn) else EMPTY


def neutral(markdown: str) -> str:
    """Return Markdown that alerts nobody: an invisible character breaks each mention.

    Slack finds none in code, in a link and in an address, which stay as they were. What Slack would
    take for a mark, and is none, is escaped. A prefix of the text gives a prefix of the result,
    unless the prefix ends inside what it depends on; see `settled`.
    """
    text = with_signs(_cleaned(markdown))
    return _drawn(text, len(text), _pings(text))


def _drawn(text: str, stop: int, pings: list[int]) -> str:
    """Return the form of the text before a position, which what follows decides as well."""
    if not pings and not _may_have_signs(text):
        return text[:stop]
    known = parsed(text)
    signs = _signs(text, known)
    if not pings:
        return _escaped(text, stop, known, signs)
    quiet = _quiet_places(text, known.events)
    changes = [(at, "\\") for at in unescaped(text, known.events, signs)]
    changes += [(at + 1, GAP) for at in pings if at not in quiet]
    return _changed(text, 0, stop, changes)


def _escaped(text: str, stop: int, known: Parsed, signs: list[int]) -> str:
    """Return the form of a text without pings, in which each block has its own form."""
    if not signs:
        return text[:stop]
    parts, last = list[str](), 0
    for block in known.blocks(text):
        first, last = last, bisect_left(signs, block.end, last)
        source = text[block.start : min(block.end, stop)]
        if first == last:
            parts.append(source)
        elif block.end > stop or (drawn := BLOCKS.get(source)) is None:
            events = known.events[block.first : block.last]
            places = unescaped(text, events, signs[first:last])
            end = min(block.end, stop)
            drawn = _changed(text, block.start, end, [(at, "\\") for at in places])
            parts.append(drawn)
            if block.end <= stop:
                BLOCKS.put(source, drawn, len(source) + len(drawn))
        else:
            parts.append(drawn)
        if block.end >= stop:
            break
    return "".join(parts)


def _changed(text: str, start: int, stop: int, changes: list[tuple[int, str]]) -> str:
    parts, last = list[str](), start
    for at, inserted in sorted(change for change in changes if change[0] < stop):
        parts += (text[last:at], inserted)
        last = at
    return "".join([*parts, text[last:stop]])


def _cleaned(markdown: str) -> str:
    return _UNFIT.sub("", markdown.replace("\r\n", "\n"))


def _pings(text: str) -> list[int]:
    if "<" not in text and "@" not in text:
        return []
    return [found.start() for found in _PING.finditer(text)]


def _signs(text: str, known: Parsed) -> list[int]:
    """Return the places of what Slack would take for a mark, and is none; it has no formulas.

    It would take the words of a footnote for the target of a link, and hide them.
    """
    signs = [at for at in known.signs if text[at] != "$"] if "$" in text else known.signs
    if "[^" not in text:
        return signs
    return sorted({*signs, *(found.end() - 1 for found in _NOTE.finditer(text))})


def _may_have_signs(text: str) -> bool:
    return may_have_literals(text) or "[^" in text


def _quiet_places(text: str, events: Sequence[MarkdownEvent]) -> frozenset[int]:
    """Return the places of code and of addresses.

    Code counts only where a simpler reader sees it as well, and ends where the first sees an end.
    """
    places = {at for found in _ADDRESS.finditer(text) for at in range(*found.span())}
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


def settled(markdown: str) -> str:
    """Render the part of an unfinished text whose form depends on nothing that may follow."""
    bare = _cleaned(markdown).rstrip()
    if len(bare) == len(markdown):
        begun = _BEGUN.search(bare, max(0, len(bare) - _MAX_BEGUN))
        bare = bare[: begun.start()] if begun else bare
    bare = with_signs(decided(bare))
    pings = _pings(bare)
    return _drawn(bare, _settled_end(bare, pings), pings).lstrip()


def begun(markdown: str) -> str:
    """Return what the first message of an unfinished text can have of it."""
    return markdown if size(markdown) <= LIMIT else first(markdown, LIMIT, size)


def _settled_end(text: str, pings: list[int]) -> int:
    """Return how much of an unfinished text is settled."""
    signs = _signs(text, parsed(text)) if _may_have_signs(text) else []
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
    places = sorted({*pings, *signs})
    if places:
        start, named = _open_block(text), set(pings)
        code, bracket = text.find("`", start), text.find("[", start)
        for at in places:
            begun = [one for one in (code, bracket if at in named else -1) if start <= one < at]
            if at >= start and (begun or text[at] == "|"):
                holds.append(at)
                break
    return min(holds)


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


def blocks(rendered: str, buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the blocks of a rendered text with buttons below it."""
    return [{"type": "markdown", "text": rendered}, *_actions(buttons)]


def plain_blocks(rendered: str, buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the blocks for a server whose blocks have no Markdown."""
    text = to_text(rendered).strip() or EMPTY
    kind = {"type": "plain_text", "emoji": False}  # which can be cut anywhere
    pieces = [text[at : at + MAX_SECTION] for at in range(0, len(text), MAX_SECTION)]
    sections = [{"type": "section", "text": {**kind, "text": one}} for one in pieces]
    return [*sections, *_actions(buttons)]


def _actions(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    elements = [
        {
            "type": "button",
            "action_id": f"{ACTION}{number}",  # must be unique within the message
            "text": {"type": "plain_text", "text": one.label[:MAX_LABEL], "emoji": False},
            "value": one.token,
        }
        for number, one in enumerate(buttons)
    ]
    return [{"type": "actions", "elements": elements}] if elements else []


def size(markdown: str) -> int:
    """Return a rendered text's size in UTF-16 units, the largest of the counts Slack may use.

    It is more than LIMIT for what Slack would make too many blocks of, or more than one table.
    """
    text = neutral(markdown)
    units = len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
    if text.count("\n") < MAX_BLOCKS and text.count("|") < 2:
        return units
    count, tables = _count_blocks(markdown)
    return max(units, -(-count * LIMIT // MAX_BLOCKS), tables * LIMIT if tables > 1 else 0)


def _count_blocks(markdown: str) -> tuple[int, int]:
    """Return how many blocks a text has, and how many of these are tables."""
    depth = count = tables = 0
    for event in parse(markdown):
        if event.phase == "close":
            depth -= 1
            continue
        is_block = not depth and (event.phase == "open" or event.name == "Rule")
        count += is_block
        tables += event.name == "Table" and event.phase == "open"
        depth += event.phase == "open"
    return max(count, len(_APART.findall(markdown.strip())) + 1), tables


def plain(markdown: str) -> str:
    """Return the text without Markdown, for a server that accepts no Markdown."""
    text = to_text(_cleaned(markdown))  # what was code looks like anything else there
    links = {at for found in _ADDRESS.finditer(text) for at in range(*found.span())}
    quiet = _PING.sub(lambda one: one[0] if one.start() in links else one[0] + GAP, text)
    return escape(quiet).strip()[:LIMIT] or EMPTY
