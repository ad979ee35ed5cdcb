"""Recognize sentences that are written already, with their values in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MAX_CHARACTERS: Final = 3000  # maximum characters of a text that is compared with sentences
MAX_SENTENCES: Final = 12  # maximum sentences of such a text
_VALUE: Final = re.compile(r"\{(\w+)\}")
_TYPED: Final = re.compile(r"`/(?=[a-z])")
_OWN: Final = frozenset({"cause", "detail", "problem", "role", "status", "why"})
"""Names of values that the gateway wrote, which are translated with their sentence."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A sentence with values; `parts` are the words before, between and after them.

    core  the longest part, which most other texts do not have
    """

    core: str
    parts: Sequence[str]
    names: Sequence[str]
    wanted: str

    @classmethod
    def read(cls, sentence: str, wanted: str) -> _Pattern:
        pieces = _VALUE.split(sentence)
        return cls(max(pieces[::2], key=len), pieces[::2], pieces[1::2], wanted)

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values with which a text is this sentence, or None."""
        first, *middle, last = self.parts
        end = len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last) or end < len(first):
            return None
        found, at = [], len(first)
        for part in middle:
            place = text.find(part, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(part)
        values = dict(zip(self.names, [*found, text[at:end]], strict=True))
        return values if all(_fits(*one) for one in values.items()) else None


class Finished:
    """The sentences of a language by those in English, in which values stand as `{name}`."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._whole = {one: said for one, said in sentences.items() if "{" not in one}
        patterns = [_Pattern.read(*one) for one in sentences.items() if "{" in one[0]]
        patterns.sort(key=lambda one: -sum(map(len, one.parts)))
        self._by_word: dict[str, list[_Pattern]] = {}
        for pattern in patterns:
            word, space, _rest = pattern.parts[0].partition(" ")
            self._by_word.setdefault(word if space else "", []).append(pattern)

    def of(self, text: str) -> str | None:
        """Return a text in the language, or None unless all of its sentences are known."""
        found = self._whole.get(text)
        if found is not None or not text or len(text) > MAX_CHARACTERS:
            return found
        return self._one(text) or self._several(text) or self._lines(text) or self._typed(text)

    def _one(self, text: str) -> str | None:
        """Return one sentence."""
        if (found := self._whole.get(text)) is not None:
            return found
        word = text.partition(" ")[0]
        for pattern in (*self._by_word.get(word, ()), *self._by_word.get("", ())):
            if pattern.core in text and (values := pattern.values(text)) is not None:
                own = {name: self.of(one) or one for name, one in values.items() if name in _OWN}
                said: str = pattern.wanted.format_map({**values, **own})
                return said
        return self._with_detail(text)

    def _with_detail(self, text: str) -> str | None:
        """Return a sentence with something in brackets at its end, as troubles have it."""
        sign, bracket, detail = text.partition(" (")
        if not bracket or not detail.endswith(")."):
            return None
        found = self._whole.get(f"{sign}.") or self._one(f"{sign}.")
        if found is None:
            return None
        inner = detail.removesuffix(").")
        return f"{found.removesuffix('。')}（{self.of(inner) or inner}）。"  # noqa: RUF001

    def _several(self, text: str) -> str | None:
        """Return several sentences, of which the first is as long as possible."""
        ends = [found.start() + 1 for found in re.finditer(r"\. ", text)]
        for end in reversed(ends[:MAX_SENTENCES]):
            first = self._one(text[:end])
            if first is not None and (rest := self.of(text[end + 1 :])) is not None:
                return first + rest
        return None

    def _lines(self, text: str) -> str | None:
        """Return the lines of a list, each of which is a sentence."""
        lines = text.split("\n")
        if len(lines) == 1:
            return None
        found = [self.of(line) if line else line for line in lines]
        return None if None in found else "\n".join(map(str, found))

    def _typed(self, text: str) -> str | None:
        """Return a text with commands in it as people type them on the page, with a slash."""
        named = _TYPED.sub("`,", text)
        found = self.of(named) if named != text else None
        return None if found is None else found.replace("`,", "`/")


def _fits(name: str, value: str) -> bool:
    """Return whether a value is one: other than a sentence of ours, it holds no further one."""
    return bool(value) and (name in _OWN or not (". " in value or "\n" in value))
