"""Who and what is in a room right now: its listeners, people, drafts and typing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from channels.room.session import PageSession

Json = dict[str, Any]

MAX_PENDING_EVENTS: Final = 512
"""Maximum unread events of a listener; one that lags further is disconnected, and reconnects."""

MAX_STREAMS: Final = 16  # maximum event streams of a member, such as tabs of their browsers


@dataclass(frozen=True, slots=True)
class _Listener:
    stream: MemoryObjectSendStream[Json]
    session: PageSession


@dataclass(slots=True)
class _Room:
    listeners: dict[int, _Listener] = field(default_factory=dict)
    people: dict[int, Json] = field(default_factory=dict)
    drafts: dict[str, Json] = field(default_factory=dict)
    typing: set[str] = field(default_factory=set)


def _close_oldest(state: _Room, person: str) -> None:
    """Make room for one more stream of a person: many could use up the gateway's connections."""
    own = [number for number, one in state.listeners.items() if one.session.person == person]
    if len(own) >= MAX_STREAMS:
        state.listeners.pop(own[0]).stream.close()


class Hub:
    """Publishes events to the listeners of each room; drops empty rooms."""

    def __init__(self) -> None:
        self.rooms: dict[str, _Room] = {}
        self._dismissed: set[str] = set()  # they never come back: each session has a new id
        self._numbers = count(1)

    @asynccontextmanager
    async def listen(
        self, room: str, session: PageSession, name: str = ""
    ) -> AsyncGenerator[MemoryObjectReceiveStream[Json], None]:
        """Yield the room's events from now on; meanwhile, a person with a name is listed there."""
        send, receive = anyio.create_memory_object_stream[Json](MAX_PENDING_EVENTS)
        number = next(self._numbers)
        state = self.rooms.setdefault(room, _Room())
        if not session.owner:
            _close_oldest(state, session.person)
        state.listeners[number] = _Listener(send, session)
        if session.person in self._dismissed:  # the session ended while the request came in
            send.close()
        elif name:
            state.people[number] = {"id": session.person, "name": name}
            self._publish_people(room)
        try:
            with send, receive:
                yield receive
        finally:
            state.listeners.pop(number, None)
            if state.people.pop(number, None) is not None:
                self._publish_people(room)
            self._forget(room)

    def publish(
        self, room: str, event: Json, to: Callable[[PageSession], bool] = lambda _session: True
    ) -> None:
        """Send an event to the listeners of a room, or to those whose sessions are meant."""
        state = self.rooms.get(room)
        if state is None:
            return
        for number, listener in list(state.listeners.items()):
            if not to(listener.session):
                continue
            try:
                listener.stream.send_nowait(event)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                listener.stream.close()
                state.listeners.pop(number, None)

    def dismiss(self, person_id: str) -> None:
        """Disconnect a person whose session has ended, also while a request is on its way."""
        self._dismissed.add(person_id)
        for state in list(self.rooms.values()):
            for listener in list(state.listeners.values()):
                if listener.session.person == person_id:
                    listener.stream.close()

    def draft(self, room: str, message: Json) -> None:
        """Show partial text, including to people who join later."""
        self.rooms.setdefault(room, _Room()).drafts[message["id"]] = message
        self.publish(room, {"type": "draft", "message": message})

    def drop_draft(self, room: str, message_id: str) -> None:
        state = self.rooms.get(room)
        if state is not None and state.drafts.pop(message_id, None) is not None:
            self.publish(room, {"type": "draft.removed", "id": message_id})
            self._forget(room)

    def message(self, room: str, message: Json) -> None:
        """Show a message; it replaces the draft that has its id."""
        state = self.rooms.get(room)
        if state is not None:
            state.drafts.pop(message["id"], None)
        self.publish(room, {"type": "message", "message": message})
        self._forget(room)

    def typing(self, room: str, key: str, on: bool) -> None:
        """Show or hide that the agent is typing an answer."""
        state = self.rooms.setdefault(room, _Room())
        if on != (key in state.typing):
            (state.typing.add if on else state.typing.discard)(key)
            self.publish(room, {"type": "typing", "on": on, "key": key})
        self._forget(room)

    def people(self, room: str) -> list[Json]:
        """Return the people in a room without duplicates, sorted by name."""
        state = self.rooms.get(room)
        found = {person["id"]: person for person in state.people.values()} if state else {}
        return sorted(found.values(), key=lambda person: str(person["name"]).casefold())

    def ongoing(self, room: str) -> list[Json]:
        """Return the events that show current drafts and typing to a person who joins."""
        state = self.rooms.get(room)
        if state is None:
            return []
        typing = [{"type": "typing", "on": True, "key": key} for key in sorted(state.typing)]
        return typing + [{"type": "draft", "message": draft} for draft in state.drafts.values()]

    def close(self) -> None:
        for state in list(self.rooms.values()):
            for listener in list(state.listeners.values()):
                listener.stream.close()

    def _publish_people(self, room: str) -> None:
        self.publish(room, {"type": "people", "people": self.people(room)})

    def _forget(self, room: str) -> None:
        state = self.rooms.get(room)
        if state is not None and not (state.listeners or state.drafts or state.typing):
            del self.rooms[room]
