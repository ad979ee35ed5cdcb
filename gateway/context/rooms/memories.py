"""The memories of the chats that were active last.

If a memory was evicted, it is read from the tape's newest messages and their recorded links, so
that it links new messages exactly as before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gateway.context.rooms.memory import RoomMemory
from gateway.context.rooms.reading import answer_in, is_said
from gateway.explain.words import recognized
from gateway.logs import get_log
from gateway.wording import counted
from tape.entry import MESSAGE, Entry
from tape.errors import WeightsInvalid
from tape.linking import Linker
from tape.linking.asleep import REACH
from tape.linking.room import WINDOW
from tape.service import TapeService

MAX_MESSAGES: Final = 9_000
"""Maximum messages in all room memories together: 25 rooms with all the outlines that these keep.

Each uses about a kilobyte.
"""

OUTLINES_A_MESSAGE: Final = 5  # outlines that take as much memory as a message
MIN_ROOM_WEIGHT: Final = 8  # A room with fewer messages counts as having this many
CHECK_INTERVAL: Final = 32  # the total is checked once per this many lookups
PAGE: Final = WINDOW + 50
MORE: Final = 4 * WINDOW
OLDER: Final = REACH + 200
MAX_NOTES: Final = 5  # maximum rooms in the notes of the gateway's health


class RoomMemories:
    """The room memories of the most recently active chats; `read` counts those read from a tape."""

    def __init__(
        self,
        tapes: TapeService,
        linker: Linker,
        read: Callable[[], None] = lambda: None,
        names: Sequence[str] = (),
    ) -> None:
        self._tapes = tapes
        self.linker = linker
        self._names = names
        self._read = read
        self._rooms: OrderedDict[str, RoomMemory] = OrderedDict()
        self._asked = 0
        self._forgotten = 0  # times that rooms were evicted while others may have been read

    async def of(self, tape: str) -> RoomMemory:
        """Return a tape's room memory, reading it from the tape if it is not in memory."""
        while (room := self._rooms.get(tape)) is None:
            self._read()
            before = self._forgotten
            newest = await self._newest(tape)
            if before != self._forgotten:
                continue  # What was read may have been erased meanwhile.
            made = RoomMemory(self.linker, newest, self._names)
            made.unread = newest[0].id if len(newest) == WINDOW else 0
            self._rooms.setdefault(tape, made)
        self._rooms.move_to_end(tape)
        self._asked += 1
        if self._asked % CHECK_INTERVAL == 0:
            self._evict()
        return room

    def notes(self) -> list[str]:
        """Return how well conversations are recognized in the rooms in memory, the worst first."""
        rooms = [(room.recognition, tape) for tape, room in self._rooms.items()]
        known = [(one.in_lane, tape, recognized(one)) for one, tape in rooms if one.is_known]
        worst = sorted(known)[:MAX_NOTES]
        notes = [f"{tape}: {says[:1].lower()}{says[1:]}" for _share, tape, says in worst]
        more = len(known) - len(notes)
        return [*notes, f"and in {counted(more, 'more room')}"] if more else notes

    def forget(self, tapes: Iterable[str]) -> None:
        """Evict the rooms of tapes that may lack the rooms' latest messages."""
        self._forgotten += 1
        for tape in tapes:
            self._rooms.pop(tape, None)

    async def recall(self, tape: str, room: RoomMemory) -> None:
        """Read what a room needs to know of sleeping lanes, which most messages do not ask for."""
        before = room.unread
        own = self._tapes.tape(tape)
        older = await own.find(kinds=(MESSAGE,), before=before, limit=OLDER, newest=True)
        if room.unread == before:
            room.recall([entry for entry in older if is_said(entry)][-REACH:])

    def answered(self, tape: str, lane: str | None, turn: str, text: str, at: float) -> None:
        """Add one of the agent's answers, if the room is in memory."""
        room = self._rooms.get(tape)
        if room is not None and lane is not None:
            room.hear(*answer_in(room.room, lane, turn, text, at))

    async def _newest(self, tape: str) -> list[Entry]:
        own = self._tapes.tape(tape)
        page = await own.find(kinds=(MESSAGE,), limit=PAGE, newest=True)
        kept = [entry for entry in page if is_said(entry)]
        # Commands, and text before tool calls, may fill a page.
        if len(page) == PAGE and len(kept) < WINDOW:
            before = page[0].id
            more = await own.find(kinds=(MESSAGE,), before=before, limit=MORE, newest=True)
            kept = [*(entry for entry in more if is_said(entry)), *kept]
        return kept[-WINDOW:]

    def _evict(self) -> None:
        remembered = sum(map(_weight, self._rooms.values()))
        while remembered > MAX_MESSAGES and len(self._rooms) > 1:
            _tape, oldest = self._rooms.popitem(last=False)
            remembered -= _weight(oldest)


def _weight(memory: RoomMemory) -> int:
    outlines = len(memory.room.asleep) // OUTLINES_A_MESSAGE
    return max(len(memory.room) + outlines, MIN_ROOM_WEIGHT)


def open_linker() -> Linker:
    """Return the linker with its model or, if the model's file is unusable, with rules alone."""
    try:
        return Linker.shipped()
    except WeightsInvalid as unfit:
        get_log().error("linker.rules_only", why=str(unfit))
        return Linker()
