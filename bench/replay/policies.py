"""Other ways of filling a prompt, each asked at the same calls as the product.

last 20, 50, 100  the room's last messages, and the question
last 20 to 40     the last 20 and what was said since, until these are 40 in all; then 20 again: the
                  prompt grows at its end for a while, so a provider has its beginning cached
since a summary   everything since the last summary, which is made when the budget is passed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from bench.replay.prompts import Call, Piece, Prompts

STEP: Final = 20
SUMMARY_TOKENS: Final = 400
LEFT_OUT: Final = 10
"""The newest messages that a summary leaves out: they are shown as they were said."""


@dataclass(slots=True)
class Heard:
    """All that was said in a room, the agent's answers included, which have no number."""

    pieces: list[Piece] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)
    sums: list[int] = field(default_factory=lambda: [0])

    def add(self, number: int | None, piece: Piece) -> None:
        """Add what was said."""
        self.pieces.append(piece)
        self.numbers.append(number)
        self.sums.append(self.sums[-1] + piece.tokens)

    def tokens(self, start: int) -> int:
        """Return the tokens from a place on."""
        return self.sums[-1] - self.sums[start]


def last(count: int) -> Callable[[int], int]:
    """Return how a window of a fixed length begins, given what was said before the question."""
    return lambda before: max(0, before - count)


def stepped(before: int) -> int:
    """Return where a window begins that grows from one step to two, and is cut again."""
    return max(0, before // STEP - 1) * STEP


WINDOWS: Final[Mapping[str, Callable[[int], int]]] = MappingProxyType(
    {"last 20": last(20), "last 50": last(50), "last 100": last(100), "last 20 to 40": stepped}
)
SUMMARY: Final = "since a summary"


class Summaries:
    """Everything since a summary; a new one is made, by a call of its own, when that is too long.

    That call reads all that was shown before it. Its tokens are added to the call that needed it;
    what it writes is not counted.
    """

    def __init__(self, frame: int, budget: int) -> None:
        self._prompts = Prompts(frame)
        self._budget = budget
        self._start = 0
        self._made = 0

    def call(self, at: float, heard: Heard, first: int) -> Call:
        """Return what is shown, and what it costs."""
        extra: Call | None = None
        if self._length(heard) > self._budget and len(heard.pieces) - self._start > LEFT_OUT:
            extra = self._send(at, heard, first)
            self._start = len(heard.pieces) - LEFT_OUT
            self._made += 1
        call = self._send(at, heard, first)
        if extra is None:
            return call
        cached = tuple(one + two for one, two in zip(call.cached, extra.cached, strict=True))
        return Call(call.shown, call.tokens + extra.tokens, cached)

    def _length(self, heard: Heard) -> int:
        return heard.tokens(self._start) + SUMMARY_TOKENS * bool(self._made)

    def _send(self, at: float, heard: Heard, first: int) -> Call:
        summary = [Piece(f"summary {self._made}".encode(), SUMMARY_TOKENS)] if self._made else []
        shown = _numbers(heard, self._start, first)
        return self._prompts.send(at, shown, [*summary, *heard.pieces[self._start :]])


class Rivals:
    """The policies, at the calls of one room; `first` is the first message that is a candidate."""

    def __init__(self, frame: int, budget: int, first: int = 0) -> None:
        self._first = first
        self._heard = Heard()
        self._prompts = {name: Prompts(frame) for name in WINDOWS}
        self._summaries = Summaries(frame, budget)

    def hear(self, number: int | None, piece: Piece) -> None:
        """Hear what is said in the room."""
        self._heard.add(number, piece)

    def call(self, at: float) -> dict[str, Call]:
        """Return what each policy shows for the newest message, and what it costs."""
        heard, calls = self._heard, dict[str, Call]()
        for name, begins in WINDOWS.items():
            start = begins(len(heard.pieces) - 1)
            shown = _numbers(heard, start, self._first)
            calls[name] = self._prompts[name].send(at, shown, heard.pieces[start:])
        return calls | {SUMMARY: self._summaries.call(at, heard, self._first)}


def _numbers(heard: Heard, start: int, first: int) -> list[int]:
    """Return the candidates from a place on, without the question, which is the newest."""
    found = [number for number in heard.numbers[start:] if number is not None and number >= first]
    return found[:-1]
