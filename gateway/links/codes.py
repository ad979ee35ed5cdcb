"""The codes of a view: what has a digit in it, and must not leave in a link.

A host learns what stands in a link from whoever follows it. A code of four digits says enough;
halves of one say it in two links, so that what the links of one answer hold of it is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gateway.links.address import folded

SIZE: Final = 4
"""Maximum characters of a code that stay unnoticed, and one more."""

_HEADER: Final = re.compile(r"^\[(?:\d{4}-\d\d-\d\d )?\d\d:\d\d(?: #\d+)?", re.MULTILINE)
_ASCII_WORD: Final = re.compile(r"[a-z0-9](?:[a-z0-9]|[._:/-](?=[a-z0-9])){0,63}")
_SIGNS: Final = re.compile(r"[^\w\s]|_")
_WORD: Final = re.compile(r"[^\W_]+")
_DIGITS: Final = re.compile(r"\d+")
_BETWEEN: Final = re.compile(r"(?<=\d)[\W_]+(?=\d)")
_SPACE: Final = re.compile(r"(?<=\d) (?=\d)")


def grams(text: str) -> Iterator[str]:
    """Yield each run of SIZE characters that has a digit."""
    for at in range(len(text) - SIZE + 1):
        gram = text[at : at + SIZE]
        if any(map(str.isdigit, gram)):
            yield gram


def _windows(text: str) -> set[str]:
    """Return all runs of SIZE characters."""
    return set(map("".join, zip(*(text[at:] for at in range(SIZE)), strict=False)))


def _near_digits(text: str) -> set[str]:
    """Return all runs of SIZE characters that have a digit, and some that have none."""
    spread = SIZE - 1
    places = (found.span() for found in _DIGITS.finditer(text))
    return _windows("\0".join(text[max(0, start - spread) : end + spread] for start, end in places))


def letters(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(_WORD.findall(text))


class Codes:
    """The codes of a view's texts, without the dates and numbers that the gateway writes.

    What it is asked about must be folded. `seen` counts the short parts in links so far.
    """

    def __init__(
        self, texts: Callable[[], Iterable[str]], seen: Counter[tuple[str, ...]] | None = None
    ) -> None:
        self._texts = texts
        self._is_read = False
        self._grams: set[str] = set()
        self._of_digits: set[str] = set()
        self._runs: set[str] = set()
        self.seen: Counter[tuple[str, ...]] = seen if seen is not None else Counter()

    @property
    def is_read(self) -> bool:
        return self._is_read

    def _read(self) -> None:
        """Read the texts, the first time that this is needed: few links have a digit."""
        if self._is_read:
            return
        self._is_read = True
        for text in self._texts():
            if _DIGITS.search(text):
                self._take(folded(_HEADER.sub("", text)))
        self._runs = {run for run in self._runs if _DIGITS.search(run)}

    def _take(self, text: str) -> None:
        close = _SPACE.sub("", text)
        self._grams |= _near_digits(text) | _near_digits(_SIGNS.sub("", close))
        digits = _DIGITS.findall(_BETWEEN.sub("", text))
        self._of_digits |= _windows(" ".join(digits))
        words = (letters(word) for word in _ASCII_WORD.findall(close))
        self._runs.update(run for run in (*digits, *words) if len(run) >= SIZE)

    def holds(self, piece: str) -> bool:
        """Return whether a piece holds SIZE characters of a code, with a digit among them."""
        if not any(map(str.isdigit, piece)):
            return False
        self._read()
        forms = (piece, letters(piece))
        return any(gram in self._grams for form in forms for gram in grams(form))

    def holds_digits(self, digits: str) -> bool:
        """Return whether digits that stand apart make SIZE of a code."""
        if len(digits) < SIZE:
            return False
        self._read()
        return any(gram in self._of_digits for gram in grams(digits))

    def spread(self, pieces: Iterable[str]) -> bool:
        """Return whether a further link would say SIZE characters of one code, with those before.

        What it would say counts from now on, unless it is too much.
        """
        parts = Counter(part for piece in pieces for part in _parts(piece))
        new = Counter(dict.fromkeys(parts, 1))
        both = self.seen + new
        if any(_said(run, both) >= SIZE for run in self._with(new)):
            return True
        self.seen = both
        return False

    def _with(self, parts: Iterable[tuple[str, ...]]) -> Iterator[str]:
        wanted = tuple(parts)
        return (run for run in self._runs if any(part in run for parts in wanted for part in parts))


def _parts(piece: str) -> Iterator[tuple[str, ...]]:
    """Yield the short parts of a piece that may be parts of a code, each with what it says less."""
    for word in _WORD.findall(piece):
        short = [digits for digits in _DIGITS.findall(word) if len(digits) < SIZE]
        if short and len(word) < SIZE:
            yield tuple(dict.fromkeys((word, *short)))
        else:
            yield from ((digits,) for digits in short)


def _said(run: str, parts: Counter[tuple[str, ...]]) -> int:
    """Return how many characters of a code its parts make."""
    said = 0
    for forms, count in parts.items():
        form = next((form for form in forms if form in run), "")
        said += len(form) * min(count, run.count(form)) if form else 0
    return said
