"""Cuts a Markdown text into pieces within a platform's limit; each piece is complete Markdown.

Existing libraries do not reopen fences, lists and quotes in the next piece.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

import regex  # type: ignore[import-untyped]

from channels.markdown.breakpoints import Cut, Level
from channels.markdown.scan import plan
from channels.markdown.stitch import Stitcher

Measure = Callable[[str], int]

_GRAPHEME: Final = regex.compile(r"\X")
_PLACE: Final = itemgetter(0)
_MAX_SOURCE: Final = 6
"""Maximum length of a piece's source, in multiples of the limit: some marks are not counted."""

_MAX_LOOKAHEAD: Final = 2  # how far to look for a cut inside a line, in multiples of the limit
_LINES: Final = (Level.BLOCK, Level.ITEM, Level.LINE)
_TRIES: Final = ((True, False), (True, True), (False, False), (False, True))
_WORDS: Final = (Level.SENTENCE, Level.WORD)


class Piece(NamedTuple):
    """One piece of a text that was cut.

    text    the text to send
    source  the part of the source that it covers, with the space that a cut leaves out
    """

    text: str
    source: str


def split(text: str, limit: int, measure: Measure) -> list[str]:
    """Return the text of each piece; see `cut`."""
    return [piece.text for piece in cut(text, limit, measure)]


def cut(text: str, limit: int, measure: Measure) -> list[Piece]:
    """Return the pieces of a Markdown text, each of at most `limit` as counted by `measure`.

    Equal texts give equal pieces; blank text gives none. A piece ends at the best cut that leaves
    it at least half full: between blocks, else between items, rows or lines, sentences, or words.
    Links, code, spans, code lines, rows and graphemes are cut only if they do not fit into a piece.
    Fences and spans are closed at a cut and reopened after it. Tables repeat their header, quotes
    repeat their mark, and items keep their numbers.
    """
    if not text.strip():
        return []
    if _fits_whole(text, limit, measure):
        return [Piece(text.strip("\r\n"), text)]
    found: list[Piece] = []
    source_start = 0
    for sent, end in _Cutter(text, limit, measure).pieces():
        found.append(Piece(sent, text[source_start:end]))
        source_start = end
    if found and source_start < len(text):
        found[-1] = Piece(found[-1].text, found[-1].source + text[source_start:])
    return found


def first(text: str, limit: int, measure: Measure) -> str:
    """Return the text of the first piece, for a fraction of what all pieces cost; see `cut`."""
    if not text.strip():
        return ""
    if _fits_whole(text, limit, measure):
        return text.strip("\r\n")
    return next(_Cutter(text, limit, measure).pieces(), ("", 0))[0]


def _fits_whole(text: str, limit: int, measure: Measure) -> bool:
    return len(text) <= 2 * limit and measure(text.strip("\r\n")) <= limit


def _up_to(level: Level, cuts: Iterable[Cut]) -> list[Cut]:
    return [cut for cut in cuts if cut.level <= level]


class _Cutter:
    def __init__(self, text: str, limit: int, measure: Measure) -> None:
        self.text = text
        self.limit = limit
        self.measure = measure
        self.pace = 1.0
        self.plan = plan(text)
        self.stitcher = Stitcher(text, self.plan, limit)
        self.end = Cut(len(text), Level.BLOCK, None, line=True)
        self.lines = [_up_to(level, [*self.plan.cuts, self.end]) for level in _LINES]

    def pieces(self) -> Iterator[tuple[str, int]]:
        """Yield the text of each piece, and where it ends in the source."""
        text = self.text
        start = Cut(len(text) - len(text.lstrip("\r\n")), Level.BLOCK, None)
        while start.place < len(text):
            start, sent = _Search(self, start).best()
            if sent.strip():
                yield sent, start.place


class _Search:
    def __init__(self, cutter: _Cutter, start: Cut) -> None:
        self._cutter = cutter
        self._start = start
        self._limit = cutter.limit
        self._best: tuple[Cut, str] | None = None
        self._place = start.place
        self._size = 0
        self._window = min(start.place + _MAX_SOURCE * self._limit, len(cutter.text)) + 1
        self._over = self._window
        self._over_size = 0
        self._short = False

    def best(self) -> tuple[Cut, str]:
        for lines in self._cutter.lines:
            self._largest(lines)
            if 2 * self._size >= self._limit:
                return self._done()
        words = self._words()
        for level in _WORDS:
            self._largest(_up_to(level, words))
            if 2 * self._size >= self._limit:
                return self._done()
        if self._best is None:
            self._inside()
        return self._done()

    def _inside(self) -> None:
        """Cut an oversized line; for a table row, first try it without the repeated header."""
        self._over = self._window
        words = self._words()
        lines = [cut for cut in words if cut.line]
        for only_lines, short in _TRIES:
            self._over, self._over_size, self._short = self._window, 0, short
            self._largest(lines if only_lines else words)
            if self._best is not None:
                return
        self._over, self._over_size, self._short = self._window, 0, False
        self._graphemes()

    def _words(self) -> list[Cut]:
        start = self._place
        stop = min(self._over, start + _MAX_LOOKAHEAD * self._limit)
        words = self._cutter.plan.words(start, stop)
        return [*words, self._cutter.end] if stop > self._cutter.end.place else words

    def _done(self) -> tuple[Cut, str]:
        assert self._best is not None
        if self._size:
            self._cutter.pace = (self._place - self._start.place) / self._size
        return self._best

    def _graphemes(self) -> None:
        text, start, stitcher = self._cutter.text, self._start.place, self._cutter.stitcher
        stop = min(len(text), start + _MAX_LOOKAHEAD * self._limit)
        ends = [found.end() for found in _GRAPHEME.finditer(text, start, stop)]
        inside = [place for place in map(stitcher.at, ends) if place is not None]
        self._largest(inside)
        if self._best is None:
            self._largest([stitcher.broken(place) for place in ends])
        if self._best is None:
            self._largest([stitcher.broken(place) for place in range(start + 1, ends[0])])
        if self._best is None:
            end = Cut(min(start + 1, len(text)), Level.GRAPHEME, None)
            self._best = end, text[start : end.place]

    def _largest(self, cuts: Sequence[Cut]) -> None:
        first = bisect_right(cuts, self._place, key=_PLACE)
        last = bisect_left(cuts, self._over, key=_PLACE)
        tried = 0
        while first < last:
            middle = (first + last) // 2
            if tried < 4:
                at = bisect_right(cuts, self._target(), first, last, key=_PLACE) - 1
                middle = max(at, first)
            tried += 1
            if self._fits(cuts[middle]):
                first = middle + 1
            else:
                last = middle

    def _target(self) -> float:
        done, room = self._place - self._start.place, self._limit - self._size
        if self._over_size:
            share = room / (self._over_size - self._size)
            return self._place + (self._over - self._place) * share
        pace = done / self._size if self._size else self._cutter.pace
        return self._place + room * pace

    def _fits(self, cut: Cut) -> bool:
        sent = self._cutter.stitcher.piece(self._start, cut, short=self._short)
        size = self._cutter.measure(sent)
        if size > self._limit:
            self._over, self._over_size = cut.place, size
            return False
        self._best, self._place, self._size = (cut, sent), cut.place, size
        return True
