"""What a fake can be told to do wrong with a request, once each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from tests.fakes.base.connection import Outcome
from tests.fakes.base.http import Answer

FaultT = TypeVar("FaultT")


@dataclass(frozen=True, slots=True)
class ServerError:
    """Answer with what a broken proxy in front of the API would."""

    code: int = 502
    body: bytes = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


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
        """Continue with the request."""
        self.released.set()


@dataclass(frozen=True, slots=True)
class Slow:
    """Wait some real seconds before doing what is asked."""

    seconds: float


CommonFault: TypeAlias = ServerError | LostAnswer | Reset | Hang | Slow
Doing: TypeAlias = Callable[[], Outcome | Coroutine[Any, Any, Outcome]]


class Faults(Generic[FaultT]):
    """Keep the faults of the next requests, by kind; those of "*" come after a kind's own."""

    def __init__(self) -> None:
        self._queued: dict[str, deque[tuple[FaultT, object]]] = {}

    def add(self, kind: str, faults: Iterable[FaultT], subject: object = None) -> None:
        """Queue faults for a kind's next requests, about one subject or any.

        `a|b` is whichever of several kinds comes first.
        """
        queue = self._queued.setdefault(kind, deque())
        queue.extend((fault, subject) for fault in faults)

    def left(self) -> list[FaultT]:
        """Return the faults that have not happened."""
        return [fault for queue in self._queued.values() for fault, _ in queue]

    def clear(self) -> None:
        """Forget the faults that have not happened."""
        self._queued.clear()

    def take(self, kind: str, subject: object) -> FaultT | None:
        """Return the fault of this request."""
        if not self._queued:
            return None
        named = [name for name in self._queued if kind in name.split("|")]
        for name in (*named, "*"):
            queue = self._queued.get(name, deque())
            for entry in queue:
                if entry[1] in (None, subject):
                    queue.remove(entry)
                    return entry[0]
        return None


async def suffer(fault: CommonFault, do: Doing) -> Outcome:
    """Answer a request as a fault has it."""
    match fault:
        case ServerError():
            return Answer(fault.body, fault.code, "text/html")
        case Reset():
            return None
        case LostAnswer():
            await _done(do)
            return None
        case Slow():
            await asyncio.sleep(fault.seconds)
            return await _done(do)
        case Hang(done_first=False):
            await fault.released.wait()
            return await _done(do)
        case Hang():
            answer = await _done(do)
            await fault.released.wait()
            return answer


async def _done(do: Doing) -> Outcome:
    outcome = do()
    return await outcome if asyncio.iscoroutine(outcome) else outcome
