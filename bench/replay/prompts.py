"""The prompts that are sent for a room, and how much of each a provider has cached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tape.context import Message
from tape.entry import dump
from tape.tokens import estimate_message

WARM_MINUTES: Final = (60, 5)


class Piece(NamedTuple):
    """A message of a prompt: its bytes, and its tokens."""

    text: bytes
    tokens: int


@dataclass(frozen=True, slots=True)
class Call:
    """What a prompt showed: messages by number, its tokens, and how many of them were cached.

    `cached` has a number for each of WARM_MINUTES: how long a provider keeps what it has read.
    """

    shown: tuple[int, ...]
    tokens: int
    cached: tuple[int, ...]
    cut: bool = False

    @property
    def cost(self) -> float:
        """Return the tokens to be read, one that is cached counted as a tenth."""
        return 0.1 * self.cached[0] + (self.tokens - self.cached[0])


def pieces_of(messages: Iterable[Message]) -> list[Piece]:
    """Return messages as pieces of a prompt."""
    return [Piece(dump(one).encode(), estimate_message(one)) for one in messages]


class Prompts:
    """The prompts that were sent for a room, by when; `frame` is what stands before each view."""

    def __init__(self, frame: int) -> None:
        self._frame = frame
        self._sent: list[tuple[float, list[Piece]]] = []

    def send(self, at: float, shown: Iterable[int], pieces: Sequence[Piece]) -> Call:
        """Send a prompt at a moment in seconds; return what it cost."""
        cached = tuple(self._cached(at, pieces, minutes) for minutes in WARM_MINUTES)
        longest = 60 * max(WARM_MINUTES)
        self._sent = [*(one for one in self._sent if at - one[0] <= longest), (at, list(pieces))]
        return Call(tuple(shown), self._frame + sum(one.tokens for one in pieces), cached)

    def _cached(self, at: float, pieces: Sequence[Piece], minutes: float) -> int:
        """Return the tokens of the longest prefix that was sent within some minutes."""
        best = 0
        for when, earlier in self._sent:
            if at - when <= minutes * 60:
                same = 0
                for one, other in zip(pieces, earlier, strict=False):
                    if one.text != other.text:
                        break
                    same += one.tokens
                best = max(best, self._frame + same)
        return best
