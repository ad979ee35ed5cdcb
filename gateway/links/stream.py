"""Filters the links of a text that arrives in pieces.

Text passes as it comes while nothing in it has to be changed. From the first word on that may have
to be, it waits for the end of its block, which is then parsed and rewritten. What has passed is
never taken back, and never showed more than the whole.
"""

from __future__ import annotations

import re
from typing import Final

from agent.links import MAX_LINK_CHARACTERS
from gateway.links.judge import LinkJudge
from gateway.links.rewrite import CUT, rewritten, suspect

MAX_OPEN_CHARACTERS: Final = 2_000
"""Maximum characters behind an open bracket that are looked at before their block ends."""

_ENDS_WORD: Final = re.compile(r"\s|[^!-~]")
_CONTROLS: Final[dict[int, str | None]] = {
    **dict.fromkeys((*range(0x20), 0x7F, *range(0xD800, 0xE000))),
    **dict.fromkeys((0x0B, 0x0C, *range(0x1C, 0x20), 0x85), " "),
    **{ord(kept): kept for kept in "\t\n"},
}
"""What some platforms are not sent, and what ends a word here but no link on some platforms."""

_SEQUENCE: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_BEGUN: Final = re.compile(r"\x1b(?:\[[0-9;?]{0,32}[ -/]{0,8})?\Z")
"""A terminal's control sequence, and the beginning of one; none is a part of a text."""

_REST: Final = re.compile(r"\A\S+")
_ASCII: Final = re.compile(r"[!-~]")
_FENCE: Final = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})([^\n]*)")
_BRACKETS: Final = re.compile(r"\\.|\[|\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\))?|<", re.DOTALL)
_TAG: Final = re.compile(r"<(?:[^<>\s]*[>\s])")


class LinkFilter:
    """Filters one text; `feed` it with pieces, then take the `end`."""

    def __init__(self, judge: LinkJudge) -> None:
        self._judge = judge
        self._block = ""  # of the source, from where the last block ended
        self._passed = 0  # how much of it has passed
        self._scanned = 0  # where its last line begins
        self._fence = ""
        self._waits = False
        self._begun = ""  # the beginning of a control sequence

    def __len__(self) -> int:
        """Return how much of the text may have to be looked at again."""
        return len(self._block)

    @property
    def waits(self) -> bool:
        """Whether words wait for the end of their block."""
        return self._waits

    @property
    def rest(self) -> str:
        """What has not passed yet, with the word that has begun to."""
        return self._block[_context(self._block, self._passed) :]

    def whole(self, text: str) -> str:
        return self.feed(text) + self.end()

    def feed(self, delta: str) -> str:
        """Take a piece of the text; return what can be shown by now."""
        delta = self._readable(self._begun + delta)
        self._block += delta
        shown = list[str]()
        while (line := self._block.find("\n", self._scanned)) >= 0:
            ended = self._ends_block(self._block[self._scanned : line])
            self._scanned = line + 1
            if ended:
                shown.append(self._finished(self._scanned))
        if not self._waits and _ENDS_WORD.search(delta):
            shown.append(self._passing())
        return "".join(shown)

    def end(self) -> str:
        """Return the rest of the text."""
        self._begun = ""
        shown = self._finished(len(self._block))
        self._fence = ""
        return shown

    def _readable(self, text: str) -> str:
        """Return a text without controls; a sequence that has begun waits for its end."""
        self._begun = ""
        if "\x1b" in text:
            text = _SEQUENCE.sub("", text)
            if begun := _BEGUN.search(text, max(0, len(text) - 48)):
                self._begun, text = begun[0], text[: begun.start()]
        return text.translate(_CONTROLS)

    def _ends_block(self, line: str) -> bool:
        found = _FENCE.match(line)
        if not found:
            return not self._fence and not line.strip(" \t\r>")
        marks = found[1]
        if not self._fence:
            self._fence = "" if "`" in marks and "`" in found[2] else marks
            return False
        if marks.startswith(self._fence) and not found[2].strip():
            self._fence = ""
            return True
        return False

    def _finished(self, end: int) -> str:
        """Return what is left of the block that ends there, and begin the next one."""
        block, passed = self._block[:end], self._passed
        self._block, self._passed, self._scanned = self._block[end:], 0, self._scanned - end
        self._scanned, self._waits = max(0, self._scanned), False
        if passed >= len(block) or not suspect(block[_context(block, passed) :], self._judge):
            return block[passed:]
        shown = rewritten(block, self._judge)
        if shown.startswith(block[:passed]):
            return shown[passed:]
        # A word has begun to pass, and is not to be seen whole.
        return f" {CUT}{rewritten(_REST.sub('', block[passed:]), self._judge)}"

    def _passing(self) -> str:
        """Return the words that are complete, and say nothing that has to be changed."""
        begin, end = self._passed, _word(self._block, len(self._block))
        words = self._block[begin:end]
        if (open_at := _opened(words)) >= 0:
            words = words[:open_at]
            self._waits = end - begin > MAX_OPEN_CHARACTERS
        if suspect(self._block[_context(self._block, begin) : begin] + words, self._judge):
            self._waits = True
            return ""
        self._passed = begin + len(words)
        return words


def _word(text: str, end: int) -> int:
    """Return where the word begins that a text ends with, at its first character of ASCII."""
    if not end or text[end - 1].isspace():
        return end
    begin = end - len(text[:end].rsplit(None, 1)[-1])
    found = _ASCII.search(text, begin, end)
    return found.start() if found else end


def _context(text: str, end: int) -> int:
    """Return from where on a word that has begun to pass may be the beginning of a link."""
    if not end or text[end - 1].isspace():
        return end
    begun = text[max(0, end - MAX_LINK_CHARACTERS) : end].rsplit(None, 1)
    return end - len(begun[-1])


def _opened(text: str) -> int:
    """Return where a bracket opens that what follows may make a link, or -1."""
    if "[" not in text and "<" not in text:
        return -1
    opened: list[int] = []
    last = -1
    for found in _BRACKETS.finditer(text):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0].startswith("]") and opened:
            last = opened.pop()
            if len(found[0]) > 1 or text[found.end() : found.end() + 1] not in ("", "("):
                last = -1
        elif found[0] == "<" and not _TAG.match(text, found.start()):
            last = found.start()
    places = [*opened[:1], *([last] if last >= 0 else [])]
    return min(places, default=-1)
