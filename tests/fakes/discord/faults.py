"""What the fake Discord can be told to do wrong with a request, once each."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from tests.fakes.telegram.faults import Hang, LostAnswer, Reset, ServerError, Slow

__all__ = [
    "Fault",
    "Faults",
    "Hang",
    "LostAnswer",
    "RateLimited",
    "Refuse",
    "Reset",
    "ServerError",
    "Slow",
]


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Refuse with 429 for so many seconds; `everywhere` is the limit of all routes together.

    `cloudflare` is the ban in front of Discord: no JSON, and no Via header.
    """

    seconds: float
    everywhere: bool = False
    cloudflare: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse with a status, Discord's own error code, and these words."""

    status: int
    code: int
    message: str


Fault: TypeAlias = RateLimited | ServerError | Refuse | LostAnswer | Reset | Hang | Slow


class Faults:
    """Keep the faults of the next requests, by kind; those of "*" come after a kind's own."""

    def __init__(self) -> None:
        self._queued: dict[str, deque[tuple[Fault, int | None]]] = {}

    def add(self, kind: str, faults: tuple[Fault, ...], channel: int | None) -> None:
        """Queue faults for a kind's next requests, of one channel or of any."""
        queue = self._queued.setdefault(kind, deque())
        queue.extend((fault, channel) for fault in faults)

    def left(self) -> list[Fault]:
        """Return the faults that have not happened."""
        return [fault for queue in self._queued.values() for fault, _channel in queue]

    def take(self, kind: str, channel: int | None) -> Fault | None:
        """Return the fault of this request."""
        for name in (kind, "*"):
            queue = self._queued.get(name, deque())
            for entry in queue:
                if entry[1] in (None, channel):
                    queue.remove(entry)
                    return entry[0]
        return None
