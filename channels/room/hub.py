"""Who and what is in a room right now: its listeners, people, drafts and typing.

`Hub` keeps it for one process. Where several processes share the rooms, each has a `RoomHub` that
shows the listeners of this process what happens in all of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from channels.room.session import PageSession

Json = dict[str, Any]

MAX_PENDING_EVENTS: Final = 512
"""Maximum unread events of a listener; one that lags further is disconnected, and reconnects."""

MAX_STREAMS: Final = 16  # maximum event streams of a member, such as tabs of their browsers
EVERYBODY: Final = ""
OWNERS: Final = "owners"

Events = MemoryObjectReceiveStream[Json]


class RoomHub(Protocol):
    """Publishes what happens in rooms to their listeners, each message once and in order.

    Only `listen` and `people` wait, so a turn never waits for the people who watch it.
    """

    def listen(
        self, room: str, session: PageSession, name: str = ""
    ) -> AbstractAsyncContextManager[Events]:
        """Yield the room's events from now on; meanwhile, a person with a name is listed there."""
        ...

    def publish(self, room: str, event: Json, to: str = EVERYBODY) -> None:
        """Send an event to a room's listeners: to EVERYBODY, to OWNERS, or to a person's id."""
        ...

    def dismiss(self, person_id: str) -> None:
        """Disconnect a person whose session has ended, also while a request is on its way."""
        ...

    def draft(self, room: str, message: Json) -> None:
        """Show partial text, including to people who join later."""
        ...

    def drop_draft(self, room: str, message_id: str) -> None:
        """Remove partial text that becomes no message."""
        ...

    def accepted(self, room: str, message: Json) -> None:
        """Show what a person wrote, once its place among the room's messages is known."""
        ...

    def taped(self, room: str) -> None:
        """Hear that a person's message is on the room's tape, from the process that wrote it."""
        ...

    def message(self, room: str, message: Json, key: str = "") -> None:
        """Show a message; it replaces the message or draft that has its id.

        A message with a `key` (by default, its id) that was shown before may come again.
        """
        ...

    def typing(self, room: str, key: str, on: bool) -> None:
        """Show or hide that the agent is typing an answer."""
        ...

    async def people(self, room: str) -> list[Json]:
        """Return the people in a room without duplicates, sorted by name."""
        ...

    def ongoing(self, room: str) -> list[Json]:
        """Return what shows current drafts and typing to a person who joins, and listens."""
        ...

    def close(self) -> None:
        """End every event stream."""
        ...


@dataclass(frozen=True, slots=True)
class _Listener:
    stream: MemoryObjectSendStream[Json]
    session: PageSession


@dataclass(slots=True)
class _Room:
    listeners: dict[int, _Listener] = field(default_factory=dict)
    people: dict[str, Json] = field(default_factory=dict)
    drafts: dict[str, Json] = field(default_factory=dict)
    typing: set[str] = field(default_factory=set)


def _close_oldest(state: _Room, person: str) -> None:
    """Make room for one more stream of a person: many could use up the gateway's connections."""
    own = [number for number, one in state.listeners.items() if one.session.person == person]
    if len(own) >= MAX_STREAMS:
        state.listeners.pop(own[0]).stream.close()


def is_meant(session: PageSession, to: str) -> bool:
    """Return whether an event for EVERYBODY, OWNERS or one person is for a session."""
    return not to or (session.owner if to == OWNERS else session.person == to)


class Hub:
    """The rooms of one process; empty ones are dropped."""

    def __init__(self) -> None:
        self.rooms: dict[str, _Room] = {}
        self._dismissed: set[str] = set()  # they never come back: each session has a new id
        self._numbers = count(1)

    @asynccontextmanager
    async def listen(
        self, room: str, session: PageSession, name: str = ""
    ) -> AsyncGenerator[Events, None]:
        send, receive = anyio.create_memory_object_stream[Json](MAX_PENDING_EVENTS)
        number = next(self._numbers)
        state = self.rooms.setdefault(room, _Room())
        if not session.owner:
            _close_oldest(state, session.person)
        state.listeners[number] = _Listener(send, session)
        if session.person in self._dismissed:  # the session ended while the request came in
            send.close()
        elif name:
            self.present(room, str(number), {"id": session.person, "name": name})
        try:
            with send, receive:
                yield receive
        finally:
            state.listeners.pop(number, None)
            self.present(room, str(number), None)

    def publish(self, room: str, event: Json, to: str = EVERYBODY) -> None:
        state = self.rooms.get(room)
        if state is None:
            return
        for number, listener in list(state.listeners.items()):
            if not is_meant(listener.session, to):
                continue
            try:
                listener.stream.send_nowait(event)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                listener.stream.close()
                state.listeners.pop(number, None)

    def dismiss(self, person_id: str) -> None:
        self._dismissed.add(person_id)
        for state in list(self.rooms.values()):
            for listener in list(state.listeners.values()):
                if listener.session.person == person_id:
                    listener.stream.close()

    def is_dismissed(self, person_id: str) -> bool:
        """Return whether a person's session has ended."""
        return person_id in self._dismissed

    def draft(self, room: str, message: Json) -> None:
        self.rooms.setdefault(room, _Room()).drafts[message["id"]] = message
        self.publish(room, {"type": "draft", "message": message})

    def drop_draft(self, room: str, message_id: str) -> None:
        state = self.rooms.get(room)
        if state is not None and state.drafts.pop(message_id, None) is not None:
            self.publish(room, {"type": "draft.removed", "id": message_id})
            self._forget(room)

    def accepted(self, room: str, message: Json) -> None:
        self.message(room, message)

    def taped(self, room: str) -> None:
        """Do nothing: it was shown when it was accepted."""

    def message(self, room: str, message: Json, key: str = "") -> None:
        del key
        state = self.rooms.get(room)
        if state is not None:
            state.drafts.pop(message["id"], None)
        self.publish(room, {"type": "message", "message": message})
        self._forget(room)

    def typing(self, room: str, key: str, on: bool) -> None:
        state = self.rooms.setdefault(room, _Room())
        if on != (key in state.typing):
            (state.typing.add if on else state.typing.discard)(key)
            self.publish(room, {"type": "typing", "on": on, "key": key})
        self._forget(room)

    def present(self, room: str, key: str, person: Json | None) -> None:
        """List a person who came, by a key of theirs; None if they left."""
        state = self.rooms.setdefault(room, _Room())
        before = state.people.pop(key, None)
        if person is not None:
            state.people[key] = person
        if person != before:
            self.publish(room, {"type": "people", "people": listed(state.people.values())})
        self._forget(room)

    async def people(self, room: str) -> list[Json]:
        state = self.rooms.get(room)
        return listed(state.people.values()) if state is not None else []

    def ongoing(self, room: str) -> list[Json]:
        state = self.rooms.get(room)
        if state is None:
            return []
        typing = [{"type": "typing", "on": True, "key": key} for key in sorted(state.typing)]
        return typing + [{"type": "draft", "message": draft} for draft in state.drafts.values()]

    def close(self) -> None:
        for state in list(self.rooms.values()):
            for listener in list(state.listeners.values()):
                listener.stream.close()

    def forget(self, room: str) -> None:
        """Drop what is known of a room without listeners."""
        self.rooms.pop(room, None)

    def _forget(self, room: str) -> None:
        state = self.rooms.get(room)
        if state and not (state.listeners or state.people or state.drafts or state.typing):
            del self.rooms[room]


def listed(people: Iterable[Json]) -> list[Json]:
    """Return people without duplicates, sorted by name."""
    found = {person["id"]: person for person in people}
    return sorted(found.values(), key=lambda person: str(person["name"]).casefold())
