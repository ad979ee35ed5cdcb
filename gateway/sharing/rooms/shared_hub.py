"""The hub of a channel whose rooms several processes share.

Messages are shown from the tape, in its order; other processes only say when to look.
What is on no tape (a card, an edit of one) comes along with the drafts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from channels.base import Channel
from channels.room.channel import RoomChannel
from channels.room.hub import EVERYBODY, Events, Hub, Json, listed
from channels.room.routes import ERASED
from channels.room.session import PageSession
from gateway.sharing.rooms.shared_rooms import (
    EVENT_SECONDS,
    SHOWN_SECONDS,
    Change,
    Key,
    Kind,
    SharedRooms,
)
from gateway.sharing.shared import SharedWork
from tape.entry import dump, load
from tape.store import UnitStore
from tape.unit_of_work import Row

MAX_REMEMBERED: Final = 1000
"""Maximum messages of a room that are known to be shown."""

News = Callable[[str, int | None], Awaitable[tuple[int, list[Json]]]]


@dataclass(slots=True)
class _Tail:
    """How far a room's tape was shown."""

    newest: int
    shown: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def add(self, message_id: str) -> None:
        self.shown[message_id] = None
        if len(self.shown) > MAX_REMEMBERED:
            self.shown.popitem(last=False)


class SharedHub:
    """The rooms of one channel; those with listeners here are shown in a hub of this process."""

    def __init__(self, rooms: SharedRooms, channel: str, news: News) -> None:
        self._rooms = rooms
        self._channel = channel
        self._news = news
        self._view = Hub()
        self._tails: dict[str, _Tail] = {}
        self._drafted: set[tuple[str, str]] = set()
        rooms.viewers[channel] = self

    @asynccontextmanager
    async def listen(
        self, room: str, session: PageSession, name: str = ""
    ) -> AsyncGenerator[Events, None]:
        key = self._rooms.new_key()
        async with (
            self._rooms.following(self._channel, room),
            self._view.listen(room, session, name) as events,
        ):
            is_here = bool(name) and not self._view.is_dismissed(session.person)
            if is_here:
                self._put(room, "person", key, {"id": session.person, "name": name})
            try:
                yield events
            finally:
                if is_here:
                    self._put(room, "person", key, None)

    def publish(self, room: str, event: Json, to: str = EVERYBODY) -> None:
        self._view.publish(room, event, to)
        # While the database is away, other events are dropped; this one must not be.
        kind: Kind = "erased" if event.get("type") == ERASED else "event"
        self._put(room, kind, self._rooms.new_key(), event, to, EVENT_SECONDS)

    def dismiss(self, person_id: str) -> None:
        self._view.dismiss(person_id)
        self._rooms.dismiss(person_id)

    def draft(self, room: str, message: Json) -> None:
        if room in self._tails:
            self._view.draft(room, message)
        is_first = (room, message["id"]) not in self._drafted
        self._drafted.add((room, message["id"]))
        self._put(room, "draft", message["id"], message, soon=is_first)

    def drop_draft(self, room: str, message_id: str) -> None:
        self._view.drop_draft(room, message_id)
        self._end_draft(room, message_id)

    def accepted(self, room: str, message: Json) -> None:
        """Do nothing: the holder of the room's session puts it on the tape, in its place."""

    def taped(self, room: str) -> None:
        self._put(room, "taped", "", {}, soon=True)

    def message(self, room: str, message: Json, key: str = "") -> None:
        self._end_draft(room, message["id"])
        seconds = SHOWN_SECONDS
        self._put(room, "message", key or message["id"], message, seconds=seconds, soon=True)

    def typing(self, room: str, key: str, on: bool) -> None:
        if room in self._tails:
            self._view.typing(room, key, on)
        self._put(room, "typing", key, {} if on else None)

    async def people(self, room: str) -> list[Json]:
        if room in self._tails:
            return await self._view.people(room)
        rows = await self._rooms.rows(f"{self._channel}/{room}")
        return listed([load(row["data"]) for row in rows if row["kind"] == "person"])

    def ongoing(self, room: str) -> list[Json]:
        return self._view.ongoing(room)

    def close(self) -> None:
        self._view.close()

    async def begin(self, room: str) -> None:
        newest, _messages = await self._news(room, None)
        self._tails[room] = _Tail(newest)

    def fill(self, room: str, rows: Sequence[Row]) -> None:
        ongoing = self._view.ongoing(room)
        known = {event.get("key") or event["message"]["id"] for event in ongoing}
        for row in rows:
            is_new = row["kind"] in ("draft", "typing") and row["key"] not in known
            if is_new or (row["kind"] == "person" and row["owner"] != self._rooms.owner):
                self._show(room, row)

    async def show(
        self, room: str, rows: Sequence[Row], over: Sequence[Key], *, tape: bool
    ) -> None:
        kinds = {row["kind"] for row in rows} & {"taped", "message"}
        if tape or kinds or any(kind == "draft" for kind, _key in over):
            await self._read_tape(room)
        if room not in self._tails:  # the last listener has left meanwhile
            return
        for row in rows:
            if row["owner"] != self._rooms.owner or row["kind"] == "message":
                self._show(room, row)
        for kind, key in over:
            self._hide(room, kind, key)

    def missed(self, room: str) -> None:
        self._view.publish(room, {"type": ERASED})

    def forget(self, room: str) -> None:
        self._tails.pop(room, None)
        self._view.forget(room)

    def dismissed(self, person_id: str) -> None:
        self._view.dismiss(person_id)

    async def _read_tape(self, room: str) -> None:
        tail = self._tails.get(room)
        if tail is None:
            return
        newest, messages = await self._news(room, tail.newest)
        tail.newest = newest
        if self._tails.get(room) is not tail:
            return
        for message in messages:
            tail.add(message["id"])
            self._view.message(room, message)

    def _show(self, room: str, row: Row) -> None:
        kind, key, data = row["kind"], row["key"], load(row["data"])
        shown = self._tails[room].shown
        if kind == "draft" and key not in shown:
            self._view.draft(room, data)
        elif kind == "typing":
            self._view.typing(room, key, on=True)
        elif kind == "person":
            self._view.present(room, key, data)
        elif kind in ("event", "erased"):
            self._view.publish(room, data, row["sent_to"])
        elif kind == "message" and (key not in shown or data.get("buttons")):
            self._view.message(room, data)

    def _hide(self, room: str, kind: str, key: str) -> None:
        if kind == "draft":
            self._view.drop_draft(room, key)
        elif kind == "typing":
            self._view.typing(room, key, on=False)
        elif kind == "person":
            self._view.present(room, key, None)

    def _end_draft(self, room: str, message_id: str) -> None:
        self._drafted.discard((room, message_id))
        self._put(room, "draft", message_id, None)

    def _put(
        self,
        room: str,
        kind: Kind,
        key: str,
        data: Json | None,
        to: str = EVERYBODY,
        seconds: float | None = None,
        soon: bool = False,
    ) -> None:
        text = None if data is None else dump(data)
        place = f"{self._channel}/{room}"
        self._rooms.put(Change(place, kind, key, text, to, seconds), soon=soon)


def share_rooms(
    shared: SharedWork | None, store: UnitStore, channels: Iterable[Channel]
) -> SharedRooms | None:
    """Have the channels share their rooms with other processes, before they start."""
    if shared is None:
        return None
    rooms = SharedRooms(store, shared.clock, shared.bus, shared.held.owner, shared.intervals)
    for channel in channels:
        if isinstance(channel, RoomChannel):
            channel.hub = SharedHub(rooms, channel.name, channel.news)
    return rooms
