"""What goes on in rooms, between the processes over one database.

The process where something happens writes it to `room_now` and wakes the others; those with
listeners in the room read what is new. Partial texts of a room are written ten times a second at
most, the last one each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import count
from typing import Final, Literal, Protocol

import anyio

from gateway.clock import Clock
from gateway.logs import get_log
from gateway.settings.intervals import Intervals
from tape.entry import dump
from tape.errors import StoreUnavailable, TapeError
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit

TOPIC: Final = "rooms"
EVERYWHERE: Final = ""
"""The place of what concerns every room."""

PAUSE_SECONDS: Final = 0.1
RETRY_SECONDS: Final = 1.0
TAPE_SECONDS: Final = 5.0
"""Seconds between two looks at the tape of a room of which nothing is heard."""

SHOW_SECONDS: Final = 5.0  # maximum seconds to read a room's tape, while other rooms wait
SHOWN_SECONDS: Final = 60.0  # how long a message can be read that is on no tape
EVENT_SECONDS: Final = 20.0
DISMISSED_SECONDS: Final = 3600.0

Kind = Literal["draft", "typing", "person", "event", "erased", "message", "taped", "dismissed"]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing in a place, as JSON, or None once it is over."""

    place: str
    kind: Kind
    key: str
    data: str | None
    sent_to: str = ""
    seconds: float | None = None


class Wakes(Protocol):
    """The part of the bus that rooms need; a process without them imports no driver."""

    def on(self, topic: str, heard: Callable[[frozenset[int]], None]) -> None: ...

    def send(self, topic: str, *numbers: int) -> None: ...


class RoomViewer(Protocol):
    """Shows the listeners of this process what goes on in the rooms of one channel."""

    async def begin(self, room: str) -> None:
        """Show a room from now on."""
        ...

    def fill(self, room: str, rows: Sequence[Row]) -> None:
        """Show what goes on when the first listener comes."""
        ...

    async def show(
        self, room: str, rows: Sequence[Row], over: Sequence[Key], *, tape: bool
    ) -> None:
        """Show what is new and what is over; look at the tape, if it may have more, first."""
        ...

    def missed(self, room: str) -> None:
        """Show a room's past once more: what happened in it may be over unseen."""
        ...

    def forget(self, room: str) -> None:
        """Forget a room in which nobody listens any more."""
        ...

    def dismissed(self, person_id: str) -> None:
        """Disconnect a person whose session ended at any process."""
        ...


@dataclass(slots=True)
class _Place:
    versions: dict[Key, int] = field(default_factory=dict)
    tape_at: float = 0.0
    seen_at: float = 0.0  # when what goes on was last asked for, and then shown


def number_of(place: str) -> int:
    """Return a place's number on the bus; two places of one number are looked at together."""
    return int.from_bytes(sha256(place.encode()).digest()[:7])


class SharedRooms:
    """Writes what happens here, and reads what happens elsewhere."""

    def __init__(
        self, store: UnitStore, clock: Clock, bus: Wakes, owner: str, intervals: Intervals
    ) -> None:
        self._store = store
        self._intervals = intervals
        self._clock = clock
        self._bus = bus
        self.owner = owner
        self.viewers: dict[str, RoomViewer] = {}  # by channel
        self.at_dismissal: list[Callable[[str], None]] = []
        self._numbers = count(1)
        self._unwritten: dict[str, dict[Key, Change]] = {}
        self._people: dict[str, dict[Key, Change]] = {}  # who listens here
        self._next: dict[str, float] = {}
        self._changed = anyio.Event()
        self._pause: anyio.CancelScope | None = None
        self._writing = anyio.Lock()
        self._places: dict[str, _Place] = {EVERYWHERE: _Place()}
        self._listeners: Counter[str] = Counter()
        self._asked: set[int] = set()
        self._idle: anyio.CancelScope | None = None
        self._poll_at = 0.0
        self._reading = anyio.Lock()
        bus.on(TOPIC, self._heard)

    def new_key(self) -> str:
        """Return a key that no other process gives; later ones sort behind."""
        return f"{self.owner}-{next(self._numbers):012d}"

    def put(self, change: Change, *, soon: bool = False) -> None:
        """Have a change written in the room's next turn, or `soon`, which is at once."""
        unwritten = self._unwritten.setdefault(change.place, {})
        unwritten[change.kind, change.key] = change
        if change.kind == "person":
            self._remember(change)
        if soon:
            self._next.pop(change.place, None)
        self._changed.set()
        if self._pause is not None:
            self._pause.cancel()

    def dismiss(self, person_id: str) -> None:
        """Disconnect a person from every process."""
        change = Change(EVERYWHERE, "dismissed", person_id, "1", seconds=DISMISSED_SECONDS)
        self.put(change, soon=True)

    async def run(self) -> None:
        """Write and read until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_writing, name="rooms written")
            group.start_soon(self._keep_reading, name="rooms read")
            group.start_soon(self._sweep, name="rooms swept")

    async def leave(self) -> None:
        """Take away what this process shows; call this at its end."""
        self._unwritten.clear()
        self._people.clear()
        try:
            await self._run("sharing.leave_rooms", owner=self.owner)
        except TapeError as lost:  # the others see that this process is gone
            get_log().warning("rooms.not_left", why=lost)
        self._bus.send(TOPIC, *map(number_of, self._places))

    @asynccontextmanager
    async def following(self, channel: str, room: str) -> AsyncGenerator[None, None]:
        """Show a room while the block runs."""
        place = f"{channel}/{room}"
        self._listeners[place] += 1
        try:
            async with self._reading:
                if place not in self._places:
                    await self._begin(channel, room)
            yield
        finally:
            self._listeners[place] -= 1
            if not self._listeners[place]:
                del self._listeners[place]
                self._places.pop(place, None)
                self.viewers[channel].forget(room)

    async def rows(self, *places: str, known: Sequence[int] = ()) -> list[Row]:
        """Return what goes on in places; what is known comes without its data."""
        values = {
            "places": dump(places),
            "known": dump(known),
            "since": -self._intervals.silent_process,
        }
        return await self._store.select("sharing.rooms_now", values)

    async def write(self, *, everything: bool = True) -> None:
        """Write what has changed: everything, or only where it is time."""
        async with self._writing:
            now = self._clock.monotonic()
            due = [p for p in self._unwritten if everything or self._next.get(p, now) <= now]
            changes = [change for place in due for change in self._unwritten.pop(place).values()]
            self._next = {place: at for place, at in self._next.items() if at > now}
            if not changes:
                return
            self._next |= dict.fromkeys(due, now + PAUSE_SECONDS)
            try:
                rows = dump([asdict(change) for change in changes])
                await self._run("sharing.show_rooms", owner=self.owner, changes=rows)
            except TapeError as lost:
                get_log().warning("rooms.not_written", why=lost)
                if isinstance(lost, StoreUnavailable):  # what is refused would be each time
                    self._put_back(changes)
                return
        self._bus.send(TOPIC, *map(number_of, due))

    async def look(self, *, everything: bool = True) -> None:
        """Show what is new: everywhere, or only where others said so and where it is time."""
        async with self._reading:
            now, asked, self._asked = self._clock.monotonic(), self._asked, set()
            if everything or now >= self._poll_at:
                own = self._intervals
                self._poll_at = now + (own.rooms if self._listeners else own.quiet_rooms)
                everything = True
            places = {p: s for p, s in self._places.items() if everything or number_of(p) in asked}
            known = [number for place in places.values() for number in place.versions.values()]
            found: dict[str, list[Row]] = {place: [] for place in places}
            for row in await self.rows(*places, known=known) if places else ():
                found[row["place"]].append(row)
            for place, rows in found.items():
                await self._show(place, places[place], rows, now)

    async def _show(self, name: str, place: _Place, rows: Sequence[Row], asked: float) -> None:
        current = {(row["kind"], row["key"]): row["version"] for row in rows}
        new = [
            row for row in rows if place.versions.get((row["kind"], row["key"])) != row["version"]
        ]
        if name == EVERYWHERE:
            for row in new:
                self._dismissed(row["key"])
            place.versions = current
            return
        over = [key for key in place.versions if key not in current]
        # A crash of the server empties the table, and others sweep who was away for long.
        for key, person in self._people.get(name, {}).items():
            if key not in current and key not in self._unwritten.get(name, {}):
                self.put(person)
        now = self._clock.monotonic()
        channel, _slash, room = name.partition("/")
        try:
            with anyio.fail_after(SHOW_SECONDS):
                await self.viewers[channel].show(room, new, over, tape=now >= place.tape_at)
        except Exception as cause:  # a plugin may have failed; this room is shown the next time
            get_log().error("rooms.not_shown", place=name, exc_info=cause)
            return
        if now - place.seen_at > EVENT_SECONDS:
            self.viewers[channel].missed(room)
        place.versions, place.seen_at = current, asked
        if now >= place.tape_at:
            place.tape_at = now + TAPE_SECONDS

    async def _begin(self, channel: str, room: str) -> None:
        place, viewer = f"{channel}/{room}", self.viewers[channel]
        asked = self._clock.monotonic()
        await viewer.begin(room)
        await self.write()
        rows = await self.rows(place)
        viewer.fill(room, rows)
        versions = {(row["kind"], row["key"]): row["version"] for row in rows}
        now = self._clock.monotonic()
        self._places[place] = _Place(versions, now + TAPE_SECONDS, asked)
        self._poll_at = min(self._poll_at, now + self._intervals.rooms)
        self._wake()

    def _remember(self, person: Change) -> None:
        here = self._people.setdefault(person.place, {})
        if person.data is not None:
            here[person.kind, person.key] = person
            return
        here.pop((person.kind, person.key), None)
        if not here:
            del self._people[person.place]

    def _dismissed(self, person_id: str) -> None:
        for viewer in self.viewers.values():
            viewer.dismissed(person_id)
        for call in self.at_dismissal:
            call(person_id)

    def _heard(self, numbers: frozenset[int]) -> None:
        self._asked |= numbers
        if not numbers:
            self._poll_at = 0.0
        self._wake()

    def _wake(self) -> None:
        if self._idle is not None:
            self._idle.cancel()

    def _put_back(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.kind != "event":
                unwritten = self._unwritten.setdefault(change.place, {})
                unwritten.setdefault((change.kind, change.key), change)
        self._next |= dict.fromkeys(self._unwritten, self._clock.monotonic() + RETRY_SECONDS)

    async def _keep_writing(self) -> None:
        while True:
            await self._changed.wait()
            now = self._clock.monotonic()
            wait = min((self._next.get(place, now) for place in self._unwritten), default=now) - now
            if wait > 0:
                with anyio.CancelScope() as self._pause:
                    await self._clock.sleep(wait)
                continue
            self._changed = anyio.Event()
            await self.write(everything=False)
            if self._unwritten:
                self._changed.set()

    async def _keep_reading(self) -> None:
        while True:
            with anyio.CancelScope() as self._idle:
                wait = self._poll_at - self._clock.monotonic()
                if not self._asked and wait > 0:
                    await self._clock.sleep(wait)
            try:
                await self.look(everything=False)
            except TapeError as lost:
                get_log().warning("rooms.not_read", why=lost)
                await self._clock.sleep(RETRY_SECONDS)

    async def _sweep(self) -> None:
        silent = self._intervals.silent_process
        while True:
            await self._clock.sleep(silent)
            try:
                await self._run("sharing.sweep_rooms", since=-2 * silent)
            except TapeError as lost:
                get_log().warning("rooms.not_swept", why=lost)

    async def _run(self, statement: str, **values: str | float) -> None:
        unit = Unit()
        unit.run(statement, expect=None, **values)
        await self._store.commit(unit)
