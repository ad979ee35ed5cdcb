"""The memories of the chats that were active last.

A memory that is not in memory is read back from its piece, to which what the tape has since is
added. Without a piece, it is rebuilt of the tape's newest messages and their recorded links. Both
link new messages exactly as before.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

import anyio.to_thread

from gateway.context.rooms.keeping import PieceKeeper
from gateway.context.rooms.memory import READ, RoomMemory
from gateway.context.rooms.piece import memory_of, piece_of
from gateway.context.rooms.reading import entry_key, is_erasure, is_said
from gateway.explain.words import recognized
from gateway.logs import get_log
from gateway.wording import counted
from tape.entry import EVENT, MESSAGE, Entry
from tape.errors import WeightsInvalid
from tape.fork import INFIX
from tape.linking import Linker
from tape.linking.asleep import REACH
from tape.linking.room import WINDOW
from tape.service import TapeService

MAX_BYTES: Final = 32_000_000
"""Maximum bytes that the memories take together, unless the settings say otherwise."""

EACH: Final = 64
"""Messages of a room after which its piece is written, for the next start."""

EACH_EVICTED: Final = 8
"""Messages from which on the piece of a room that is evicted is written.

To write one takes as long as to add about fifteen messages to one that was read back.
"""

FEW: Final = 50  # maximum messages that are read into a memory on the event loop
SINCE: Final = 500  # maximum entries that are added to a memory that was read back
PAGE: Final = (
    500  # ids of entries that are read at once; twice as many each time, up to eight times
)
MAX_NOTES: Final = 5  # maximum rooms in the notes of the gateway's health


class RoomMemories:
    """The room memories of the most recently active chats; `read` counts those read from a tape."""

    def __init__(
        self,
        tapes: TapeService,
        linker: Linker,
        read: Callable[[], None] = lambda: None,
        names: Sequence[str] = (),
        keeper: PieceKeeper | None = None,
        most: int = MAX_BYTES,
    ) -> None:
        self._tapes = tapes
        self.linker = linker
        self._names = names
        self._read = read
        self._keeper = keeper
        self._most = most
        self._rooms: OrderedDict[str, tuple[RoomMemory, int]] = OrderedDict()
        self._bytes = 0
        # A memory that somebody works with is not read again, although it was evicted.
        self._known: WeakValueDictionary[str, RoomMemory] = WeakValueDictionary()
        self._reading: Counter[str] = Counter()
        self._changed: set[str] = set()  # tapes that changed while they were read

    async def of(self, tape: str) -> RoomMemory:
        """Return a tape's room memory, reading it from the tape if it is not in memory."""
        while (room := self._current(tape)) is None:
            self._read()
            self._reading[tape] += 1
            try:
                made = await self._load(tape)
                is_sound = tape not in self._changed  # by an erasure, or by what was answered
            finally:
                self._reading[tape] -= 1
                if not self._reading[tape]:
                    del self._reading[tape]
                    self._changed.discard(tape)
            if is_sound and self._current(tape) is None:
                self._known[tape] = made
                self._follow(tape, made)
        self._weigh(tape, room)
        return room

    def notes(self) -> list[str]:
        """Return how well conversations are recognized in the rooms in memory, the worst first."""
        rooms = [(room.recognition, tape) for tape, (room, _bytes) in self._rooms.items()]
        known = [(one.in_lane, tape, recognized(one)) for one, tape in rooms if one.is_known]
        worst = sorted(known)[:MAX_NOTES]
        notes = [f"{tape}: {says[:1].lower()}{says[1:]}" for _share, tape, says in worst]
        more = len(known) - len(notes)
        return [*notes, f"and in {counted(more, 'more room')}"] if more else notes

    def forget(self, tapes: Iterable[str]) -> None:
        """Forget the rooms of tapes that may lack the rooms' latest messages."""
        for tape in tapes:
            self._known.pop(tape, None)
            self._evict(tape)
            if self._keeper is not None:
                self._keeper.forget(tape)
            if tape in self._reading:
                self._changed.add(tape)

    @contextmanager
    def forgetting(self, tape: str) -> Iterator[None]:
        """Forget the room of a tape once something was erased from it."""
        try:
            yield
        finally:  # what was read meanwhile may have what was erased since
            self.forget([tape])
            if self._keeper is not None:
                self._keeper.unbar(tape)

    async def erasing(self, tape: str) -> None:
        """Delete the piece of a tape or of a fork's tape, and keep none while it is `forgetting`.

        Raises StoreUnavailable.
        """
        if self._keeper is not None:
            await self._keeper.bar(tape.partition(INFIX)[0])

    async def recall(self, tape: str, room: RoomMemory) -> None:
        """Read what a room needs to know of sleeping lanes, which most messages do not ask for."""
        before = room.unread
        older = await self._newest(tape, REACH + WINDOW, before)
        outlines = await anyio.to_thread.run_sync(room.outlines_of, older)
        if room.unread == before:
            room.recall(outlines)

    def stands_at(self, tape: str, room: RoomMemory, key: str, entry_id: int) -> None:
        """Record the entry of a message that was added to a room before it was on the tape."""
        room.stands_at(key, entry_id)
        self._follow(tape, room)

    def answered(self, tape: str, entries: Sequence[Entry]) -> None:
        """Add the answers among the entries that a turn has written, if the room is in memory."""
        said = [entry for entry in entries if is_said(entry)]
        room = self._known.get(tape)
        if said and room is not None:
            room.follow(said)
            self._follow(tape, room)
        elif said and tape in self._reading:
            self._changed.add(tape)

    def _follow(self, tape: str, room: RoomMemory) -> None:
        """Have a room's piece written after some messages."""
        if self._keeper is not None and room.unwritten >= EACH and not room.is_ahead:
            self._keeper.submit(tape, partial(self._written, tape, room))

    def _written(self, tape: str, room: RoomMemory) -> tuple[int, bytes]:
        if self._known.get(tape) is not room or room.is_ahead or room.is_stale:
            return 0, b""
        room.unwritten = 0
        return room.upto, piece_of(room, tape)

    def _current(self, tape: str) -> RoomMemory | None:
        """Return the memory of a tape if it is known and needs not be read again."""
        room = self._known.get(tape)
        if room is not None and room.is_stale and not room.is_ahead:
            self.forget([tape])
            return None
        return room

    async def _load(self, tape: str) -> RoomMemory:
        piece = b"" if self._keeper is None else await self._keeper.read(tape)
        room = memory_of(piece, tape, self.linker, self._names) if piece else None
        if room is not None:
            # An erasure deletes the piece, but a former version does not know that.
            kinds = (MESSAGE, EVENT)
            since = await self._tapes.tape(tape).find(kinds=kinds, after=room.upto - 1, limit=SINCE)
            if _continues(room, since):
                room.follow(since[1:])
                room.unwritten = len(since) - 1
                return room
        newest = await self._newest(tape, READ)
        make = partial(RoomMemory, self.linker, newest, self._names, is_cut=len(newest) == READ)
        return make() if len(newest) <= FEW else await anyio.to_thread.run_sync(make)

    async def _newest(self, tape: str, most: int, before: int | None = None) -> list[Entry]:
        """Return at most so many of the newest messages that rooms remember."""
        own, found, span = self._tapes.tape(tape), list[Entry](), PAGE
        first = await own.store.size(tape) + 1 if before is None else before
        while len(found) < most and first > 1:
            after, end = max(first - span, 1) - 1, first
            # Without a limit, a store reads in its thread.
            page = await own.find(kinds=(MESSAGE,), after=after, before=end)
            # Commands, and text before tool calls, may fill a page.
            found = [*(entry for entry in page if is_said(entry)), *found]
            first, span = after + 1, min(2 * span, 8 * PAGE)
        return found[-most:]

    def _weigh(self, tape: str, room: RoomMemory) -> None:
        """Take a room as the one that was used last, and evict others while all take too much."""
        _room, before = self._rooms.pop(tape, (room, 0))
        size = room.size()
        self._rooms[tape] = (room, size)
        self._bytes += size - before
        while self._bytes > self._most and len(self._rooms) > 1:
            oldest = next(iter(self._rooms))
            evicted, _bytes = self._rooms[oldest]
            self._evict(oldest)
            if self._keeper is not None and evicted.unwritten >= EACH_EVICTED:
                self._keeper.submit(oldest, partial(self._written, oldest, evicted))

    def _evict(self, tape: str) -> None:
        _room, size = self._rooms.pop(tape, (None, 0))
        self._bytes -= size


def _continues(room: RoomMemory, since: Sequence[Entry]) -> bool:
    """Return whether entries begin with the newest one of a room, and can be added to it."""
    if not since or len(since) == SINCE or since[0].id != room.upto:
        return False
    newest = entry_key(since[0])
    known = newest in room.room.again or room.room.heard[-1:] == [room.room.by_key.get(newest)]
    return known and not any(map(is_erasure, since))


def open_linker() -> Linker:
    """Return the linker with its model or, if the model's file is unusable, with rules alone."""
    try:
        return Linker.shipped()
    except WeightsInvalid as unfit:
        get_log().error("linker.rules_only", why=str(unfit))
        return Linker()
