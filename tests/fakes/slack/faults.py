"""What the fake Slack can be told to do wrong, once each."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.fakes.telegram.http import JsonObject


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Refuse with 429 and Retry-After."""

    seconds: int = 1


@dataclass(frozen=True, slots=True)
class ServerError:
    """Answer with what a broken gateway in front of the API would."""

    code: int = 503
    body: bytes = b"<html><body><h1>503 Service Unavailable</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse with this error; `more` goes into the answer."""

    error: str
    more: JsonObject = field(default_factory=dict)


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
    """Wait so many real seconds before doing what is asked."""

    seconds: float


Fault: TypeAlias = RateLimited | ServerError | Refuse | LostAnswer | Reset | Hang | Slow


class Faults:
    """Keep the faults of the next calls; those of "*" come after a method's own."""

    def __init__(self) -> None:
        self._queued: dict[str, deque[tuple[str | None, Fault]]] = {}

    def add(self, method: str, faults: tuple[Fault, ...], channel: str | None) -> None:
        """Queue faults for the next calls of a method, or only for those about one channel.

        `a|b` is whichever of several methods is called first.
        """
        queue = self._queued.setdefault(method, deque())
        queue.extend((channel, fault) for fault in faults)

    def left(self) -> list[Fault]:
        """Return the faults that have not happened."""
        return [fault for faults in self._queued.values() for _, fault in faults]

    def take(self, method: str, channel: object) -> Fault | None:
        """Return the fault of this call."""
        named = [name for name in self._queued if method in name.split("|")]
        for name in (*named, "*"):
            queue = self._queued.get(name, deque())
            for entry in queue:
                if entry[0] in (None, channel):
                    queue.remove(entry)
                    return entry[1]
        return None
