"""What the fake Telegram can be told to do wrong, once each."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.fakes.telegram.http import JsonObject


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Refuse with 429; with a `chat_id` only a call to that chat."""

    seconds: int
    chat_id: int | None = None


@dataclass(frozen=True, slots=True)
class ServerError:
    """Answer with what a broken gateway in front of the API would."""

    code: int = 502
    body: bytes = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse in these words."""

    code: int
    description: str
    parameters: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """Do what is asked, then close the socket without an answer."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Close the socket before anything is done."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Do nothing until `release` is called; with `done_first`, do it and hold back the answer."""

    done_first: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let the call go on."""
        self.released.set()


@dataclass(frozen=True, slots=True)
class Slow:
    """Wait so many seconds before doing what is asked."""

    seconds: float


Fault: TypeAlias = RetryAfter | ServerError | Refuse | LostAnswer | Reset | Hang | Slow


class Faults:
    """Keep the faults of the next calls, by method; those of "*" come after a method's own."""

    def __init__(self) -> None:
        self._queued: dict[str, deque[Fault]] = {}

    def add(self, method: str, faults: tuple[Fault, ...]) -> None:
        """Queue faults for a method's next calls."""
        self._queued.setdefault(method.lower(), deque()).extend(faults)

    def left(self) -> list[Fault]:
        """Return the faults that have not happened."""
        return [fault for faults in self._queued.values() for fault in faults]

    def take(self, method: str, chat_id: object) -> Fault | None:
        """Return the fault of this call."""
        if not self._queued:
            return None
        for name in (method, "*"):
            for fault in self._queued.get(name, ()):
                wanted = fault.chat_id if isinstance(fault, RetryAfter) else None
                if wanted in (None, chat_id):
                    self._queued[name].remove(fault)
                    return fault
        return None
