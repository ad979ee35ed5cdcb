"""Notice what changes in chats, the ledger and the channels, while somebody looks at the console.

The database is asked, so what other processes do is noticed, too. What goes out are names and
numbers, never words: a screen asks for the rest, with the rights that its visitor has then.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from gateway.console.chats import is_overdue
from gateway.console.reads import ConsoleReads
from gateway.errors import GatewayError
from gateway.logs import get_log
from gateway.services import Services
from gateway.supervision.status import StatusBoard
from tape.errors import TapeError
from tape.fork import INFIX

MAX_KEPT: Final = 256
"""Maximum beats kept for listeners that come back; one that was away longer asks for everything."""

MAX_PENDING: Final = 32
"""Maximum unread beats of a listener; one that lags further is disconnected, and comes back."""

CHAT, LEDGER, CHANNELS, ALL = "chat", "ledger", "channels", "all"
OPEN_ROWS: Final = ("open_by_chat", "unsent_by_chat", "held_by_chat")


@dataclass(frozen=True, slots=True)
class ConsoleChange:
    """Something changed: a topic, and of a chat its session and the number of its entries."""

    topic: str
    session_id: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Beat:
    """What changed since the last look; ids grow by 1."""

    id: int
    changes: tuple[ConsoleChange, ...]


Beats = MemoryObjectReceiveStream[Beat]


@dataclass(slots=True)
class _Seen:
    sizes: Mapping[str, int] = field(default_factory=dict)
    open_rows: Mapping[str, Any] = field(default_factory=dict)
    channels: Any = None
    overdue: frozenset[str] = frozenset()  # what only time changes


class Pulse:
    """Looks for changes, and passes them to its listeners; it rests while there are none."""

    def __init__(self, services: Services, reads: ConsoleReads, status: StatusBoard) -> None:
        self._services = services
        self.reads = reads
        self._status = status
        self.name = secrets.token_hex(4)  # of this process's count of beats
        self._kept: deque[Beat] = deque(maxlen=MAX_KEPT)
        self._listeners: set[MemoryObjectSendStream[Beat]] = set()
        self._sessions: dict[str, str] = {}  # by tape
        self._strange: dict[str, int] = {}  # the sizes of tapes that no session has
        self._seen: _Seen | None = None
        self._runs = False
        self._closed = False
        self._next = 1

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[Beats, None]:
        """Yield what changes from now on."""
        send, receive = anyio.create_memory_object_stream[Beat](MAX_PENDING)
        if self._closed:
            send.close()
        self._listeners.add(send)
        if not self._runs:
            self._runs = True
            self._services.spawn("console", self._run)
        try:
            with send, receive:
                yield receive
        finally:
            self._listeners.discard(send)

    def since(self, last: str) -> tuple[ConsoleChange, ...]:
        """Return what changed after an id that a listener has seen; ALL if that is not known.

        Before the first look, this is nothing: that look says ALL.
        """
        if self._seen is None:
            return ()
        name, _, number = last.partition("-")
        if name == self.name and number.isdigit():
            seen, first = int(number), self._next - len(self._kept)
            if first - 1 <= seen < self._next:
                return tuple(one for beat in self._kept if beat.id > seen for one in beat.changes)
        return (ConsoleChange(ALL),)

    @property
    def listeners(self) -> int:
        """How many streams follow."""
        return len(self._listeners)

    @property
    def newest(self) -> str:
        """The id of the newest beat."""
        return f"{self.name}-{self._next - 1}"

    def id_of(self, beat: Beat) -> str:
        return f"{self.name}-{beat.id}"

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for listener in list(self._listeners):
            listener.close()

    async def _run(self) -> None:
        try:
            while self._listeners and not self._closed:
                try:
                    self._publish(await self._look())
                except (TapeError, GatewayError) as away:
                    get_log().info("console.not_looked", why=str(away))
                await self._services.clock.sleep(self._services.intervals.console_look)
        finally:
            self._runs, self._seen = False, None
            self._kept.clear()
            self._next += 1  # nobody looks from now on: who comes back has missed something

    async def _look(self) -> list[ConsoleChange]:
        sizes = await self._sizes()
        rows, overdue = await self._open_rows()
        now = _Seen(sizes, rows, self._states(), overdue)
        before, self._seen = self._seen, now
        if before is None:
            return [ConsoleChange(ALL)]
        found = [
            ConsoleChange(CHAT, self._sessions[tape], size)
            for tape, size in now.sizes.items()
            if tape in self._sessions and before.sizes.get(tape) != size
        ]
        if now.open_rows != before.open_rows:
            grown = {change.session_id for change in found} | {""}
            other = (now.open_rows.keys() | before.open_rows.keys()) - grown
            changed = (one for one in other if now.open_rows.get(one) != before.open_rows.get(one))
            found += [*(ConsoleChange(CHAT, one) for one in changed), ConsoleChange(LEDGER)]
        late = now.overdue - before.overdue - {change.session_id for change in found}
        found += [ConsoleChange(CHAT, one) for one in sorted(late)]
        if now.channels != before.channels:
            found.append(ConsoleChange(CHANNELS))
        return found

    async def _sizes(self) -> dict[str, int]:
        sizes = {one.name: one.size for one in await self.reads.tapes() if INFIX not in one.name}
        if self._without_session(sizes) != self._strange:
            rows = await self.reads.select("ledger.sessions", {})
            self._sessions |= {str(row["tape"]): str(row["session_id"]) for row in rows}
            self._strange = self._without_session(sizes)
        return sizes

    def _without_session(self, sizes: Mapping[str, int]) -> dict[str, int]:
        return {name: size for name, size in sizes.items() if name not in self._sessions}

    async def _open_rows(self) -> tuple[dict[str, Any], frozenset[str]]:
        """Return what is open in each chat, and the chats in which it waits too long."""
        found: dict[str, list[Any]] = {}
        overdue, now = set[str](), self._services.clock.now()
        for statement in OPEN_ROWS:
            for row in await self.reads.select(f"ledger.{statement}", {}):
                session_id, numbers = str(row["session_id"] or ""), [statement, *row.values()]
                found.setdefault(session_id, []).append(numbers)
                if statement == OPEN_ROWS[0] and is_overdue(row, now):
                    overdue.add(session_id)
        return found, frozenset(overdue)

    def _states(self) -> Any:
        states = self._status.everywhere().items()
        shown = {name: {**asdict(state), "heard": None} for name, state in states}
        return shown, sorted(self._status.deaf())

    def _publish(self, changes: Iterable[ConsoleChange]) -> None:
        beat = Beat(self._next, tuple(changes))
        if not beat.changes:
            return
        self._next += 1
        self._kept.append(beat)
        for listener in list(self._listeners):
            try:
                listener.send_nowait(beat)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                listener.close()
                self._listeners.discard(listener)
