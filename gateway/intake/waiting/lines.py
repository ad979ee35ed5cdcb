"""The order in which accepted messages are placed on their tapes.

Each session has a line, in the order of acceptance, which is never broken. Sessions that have
something urgent go first, one urgent message each in turn, with what stands before it in its line;
what was accepted since the start goes before what is left over from an earlier process. The rest is
taken session by session, up to `MAX_RUN` messages of one before the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from typing import Final

import anyio
import anyio.lowlevel

from gateway.intake.waiting.ids import SortedIds

MAX_RUN: Final = 100
"""Maximum messages of one session that are taken before those of the next, if none is urgent."""


@dataclass(slots=True, eq=False)
class SessionLine:
    """What waits in a session: the ids of rows in their order, of a joined message the first one's.

    urgent  those of them that go first
    old     the id up to which rows were left over by an earlier process
    round   how many rounds of urgent messages this session has been part of
    run     how many messages of it were taken without a pause, if none was urgent
    entry   the newest entry in the queue of urgent lines; former ones are void
    listed  whether it stands in the rotation of all lines
    awaits  the rows that have to come into it before anything of it is taken
    """

    ids: SortedIds = field(default_factory=SortedIds)
    urgent: SortedIds = field(default_factory=SortedIds)
    old: int = 0
    round: int = 0
    run: int = 0
    entry: int = 0
    listed: bool = False
    awaits: set[int] | None = None

    def take(self) -> int:
        number = self.ids.take()
        if self.urgent and self.urgent.first == number:
            self.urgent.take()
        return number

    @property
    def held(self) -> bool:
        """Whether nothing of it may be taken."""
        return bool(self.awaits)

    @property
    def is_left_over(self) -> bool:
        """Whether nothing urgent in it was accepted since the start."""
        return self.urgent.last <= self.old

    @property
    def has_new(self) -> bool:
        """Whether something urgent in it was accepted since the start."""
        return bool(self.urgent) and not self.is_left_over


@dataclass(slots=True, eq=False)
class SessionLines:
    """The lines of all sessions, by the session's id; `settle` follows each `take`."""

    _lines: dict[str, SessionLine] = field(default_factory=dict)
    _urgent: list[tuple[bool, int, int, int, str]] = field(default_factory=list)  # a heap
    _talk: deque[str] = field(default_factory=deque)  # the rotation
    _rounds: list[int] = field(default_factory=lambda: [0, 0])  # of new messages, and left over
    _taken: set[str] = field(default_factory=set)
    _awaited: dict[int, str] = field(default_factory=dict)  # rows, and the lines that await them
    _entries: int = 0
    _count: int = 0
    _filled: anyio.Event = field(default_factory=anyio.Event)

    def __len__(self) -> int:
        """Return how many messages wait."""
        return self._count

    async def filled(self) -> None:
        """Wait until something may be taken, and let everything else go on before that."""
        await anyio.lowlevel.checkpoint()
        while not self.has_urgent and not self._talk:
            self._filled = anyio.Event()
            await self._filled.wait()

    @property
    def has_urgent(self) -> bool:
        """Whether something urgent waits."""
        while self._urgent:
            *_order, entry, key = self._urgent[0]
            line = self._lines.get(key)
            if line is not None and line.entry == entry and line.urgent and not line.held:
                return True
            heappop(self._urgent)
        return False

    def add(
        self, key: str, number: int, *, urgent: bool, old: bool = False, again: bool = False
    ) -> None:
        """Add a message to the line of a session, where its id belongs.

        `old` says that an earlier process left it over, `again` that it was taken and not placed.
        """
        self.add_all(key, (number,), (number,) if urgent else (), old=old, again=again)

    def add_all(
        self,
        key: str,
        numbers: Sequence[int],
        urgent: Sequence[int],
        *,
        old: bool = False,
        again: bool = False,
    ) -> None:
        """Add messages as `add` does: their ids, and which of them are urgent, in their order."""
        if not numbers:
            return
        line = self._lines.setdefault(key, SessionLine())
        self._list(key, line, first=again)
        if old:
            line.old = max(line.old, numbers[-1])
        had_urgent, had_new = bool(line.urgent), line.has_new
        line.ids.add_all(numbers)
        line.urgent.add_all(urgent)
        self._count += len(numbers)
        self._filled.set()
        if urgent and (not had_urgent or line.has_new > had_new):
            self._queue(key, line)

    def promote(self, key: str, number: int) -> None:
        """Make a message urgent that waits already."""
        line = self._lines.get(key)
        if line is None or number not in line.ids or number in line.urgent:
            return
        had_urgent, had_new = bool(line.urgent), line.has_new
        line.urgent.add(number)
        if not had_urgent or line.has_new > had_new:
            self._queue(key, line)
            self._filled.set()

    def next(self, key: str, most: int) -> list[int]:
        """Return the first messages of a line, without taking them."""
        line = self._lines.get(key)
        return list(islice(line.ids, most)) if line is not None else []

    def remove(self, key: str, numbers: Collection[int]) -> None:
        """Remove messages from a line."""
        line = self._lines.get(key)
        if line is None or not numbers:
            return
        self._count -= line.ids.remove(numbers)
        if line.urgent.remove(numbers):
            line.entry = 0
            if line.urgent:
                self._queue(key, line)
        self._taken.add(key)

    def hold(self, key: str, awaited: Collection[int]) -> None:
        """Take nothing of a line until these rows came."""
        line = self._lines.setdefault(key, SessionLine())
        line.awaits = (line.awaits or set()).union(awaited)
        self._awaited |= dict.fromkeys(awaited, key)

    def came(self, numbers: Iterable[int]) -> None:
        """Note that rows are in their line, or will never be: nothing awaits them any more."""
        for number in numbers:
            key = self._awaited.pop(number, None)
            line = self._lines.get(key) if key is not None else None
            if key is not None and line is not None and line.awaits is not None:
                line.awaits.discard(number)
                if not line.awaits:
                    self._free(key, line)

    def _free(self, key: str, line: SessionLine) -> None:
        line.awaits = None
        if line.ids:
            self._list(key, line, first=True)
            self._filled.set()
        if line.urgent:
            self._queue(key, line)
        self._taken.add(key)

    def _list(self, key: str, line: SessionLine, *, first: bool) -> None:
        if not line.listed and not line.held:
            line.listed = True
            (self._talk.appendleft if first else self._talk.append)(key)

    def merge(self, key: str, into: str) -> None:
        """Move what waits in one session's line to another's, in the order of acceptance."""
        line = self._lines.pop(key, None)
        if line is None:
            return
        self._count -= len(line.ids)
        if line.awaits:
            self.hold(into, line.awaits)
        urgent = set(line.urgent)
        for number in line.ids:
            self.add(into, number, urgent=number in urgent, old=number <= line.old)

    def take(self, most: int) -> tuple[list[tuple[str, int]], bool]:
        """Take what goes next, up to so many messages, each with its session.

        Return also whether this is for something urgent: then nothing is taken that could wait.
        """
        taken: list[tuple[str, int]] = []
        while len(taken) < most and self.has_urgent:
            *_order, key = heappop(self._urgent)
            taken.extend((key, number) for number in self._take_urgent(key, most - len(taken)))
        if taken:
            return taken, True
        while len(taken) < most and self._talk:
            key = self._talk[0]
            taken.extend((key, number) for number in self._take_talk(key, most - len(taken)))
        return taken, False

    def settle(self) -> list[str]:
        """Forget the lines that are empty now that what was taken is placed, or was put back.

        Return their keys.
        """
        gone = []
        for key in self._taken:
            line = self._lines.get(key)
            if line is not None and not line.ids and not line.listed and not line.held:
                del self._lines[key]
                gone.append(key)
        self._taken.clear()
        return gone

    def _take_urgent(self, key: str, most: int) -> list[int]:
        line = self._lines[key]
        old, first, found = line.is_left_over, line.urgent.first, list[int]()
        self._rounds[old] = max(self._rounds[old], line.round)
        while len(found) < most and first not in found[-1:]:
            found.append(line.take())
        line.round, line.entry = self._rounds[old] + 1, 0
        if line.urgent:
            self._queue(key, line)
        self._taken.add(key)
        self._count -= len(found)
        return found

    def _take_talk(self, key: str, most: int) -> list[int]:
        """Take from the line that is next in the rotation, which moves on if that is done."""
        line = self._lines.get(key)
        if line is None or line.held:
            self._talk.popleft()
            if line is not None:
                line.listed = False
            return []
        found = [line.take() for _ in range(min(most, len(line.ids), MAX_RUN - line.run))]
        line.run += len(found)
        if line.run >= MAX_RUN or not line.ids:
            self._talk.popleft()
            line.listed = bool(line.ids)
            if line.ids:
                line.run = 0
                self._talk.append(key)
        self._taken.add(key)
        self._count -= len(found)
        return found

    def _queue(self, key: str, line: SessionLine) -> None:
        """Put a line among those with something urgent, by its round and then by its age."""
        if line.held:
            return
        old = line.is_left_over
        line.round = max(line.round, self._rounds[old])
        self._entries += 1
        line.entry = self._entries
        heappush(self._urgent, (old, line.round, line.urgent.first, line.entry, key))
