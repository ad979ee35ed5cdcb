"""What is going on in the rooms of a channel of our own: who listens, what is being written."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

Json = dict[str, Any]

MOST_WAITING: Final = 512
"""A listener that falls so many events behind is let go; it comes back and reads the history."""


@dataclass(slots=True)
class _Room:
    listeners: dict[int, MemoryObjectSendStream[Json]] = field(default_factory=dict)
    people: dict[int, Json] = field(default_factory=dict)
    drafts: dict[str, Json] = field(default_factory=dict)
    typing: set[str] = field(default_factory=set)


class Hub:
    """Fans events out to the listeners of a room; rooms without any are forgotten."""

    def __init__(self) -> None:
        self._rooms: dict[str, _Room] = {}
        self._next = 0

    @asynccontextmanager
    async def listen(
        self, room: str, person: Json | None = None
    ) -> AsyncGenerator[MemoryObjectReceiveStream[Json], None]:
        """Give the events of a room from now on; `person` is shown to the others as present."""
        send, receive = anyio.create_memory_object_stream[Json](MOST_WAITING)
        self._next += 1
        number = self._next
        state = self._rooms.setdefault(room, _Room())
        state.listeners[number] = send
        if person is not None:
            state.people[number] = person
            self._tell_people(room)
        try:
            with send, receive:
                yield receive
        finally:
            state.listeners.pop(number, None)
            if state.people.pop(number, None) is not None:
                self._tell_people(room)
            self._forget(room)

    def publish(self, room: str, event: Json) -> None:
        """Tell every listener of a room."""
        state = self._rooms.get(room)
        for number, listener in list(state.listeners.items()) if state else ():
            try:
                listener.send_nowait(event)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                listener.close()
                if state is not None:
                    state.listeners.pop(number, None)

    def draft(self, room: str, message: Json) -> None:
        """Show partial text; who comes later sees it too."""
        self._rooms.setdefault(room, _Room()).drafts[message["id"]] = message
        self.publish(room, {"type": "draft", "message": message})

    def drop_draft(self, room: str, message_id: str) -> None:
        """Take partial text away."""
        state = self._rooms.get(room)
        if state is not None and state.drafts.pop(message_id, None) is not None:
            self.publish(room, {"type": "draft.removed", "id": message_id})
            self._forget(room)

    def message(self, room: str, message: Json) -> None:
        """Show a finished message; the draft of the same id becomes it."""
        state = self._rooms.get(room)
        if state is not None:
            state.drafts.pop(message["id"], None)
        self.publish(room, {"type": "message", "message": message})
        self._forget(room)

    def typing(self, room: str, key: str, on: bool) -> None:
        """Show, or stop showing, that an answer is on its way."""
        state = self._rooms.setdefault(room, _Room())
        if on != (key in state.typing):
            (state.typing.add if on else state.typing.discard)(key)
            self.publish(room, {"type": "typing", "on": on, "key": key})
        self._forget(room)

    def people(self, room: str) -> list[Json]:
        """Return who is there, each once."""
        state = self._rooms.get(room)
        found = {person["id"]: person for person in state.people.values()} if state else {}
        return sorted(found.values(), key=lambda person: str(person["name"]).casefold())

    def going_on(self, room: str) -> list[Json]:
        """Return the events that show somebody new what is going on."""
        state = self._rooms.get(room)
        if state is None:
            return []
        typing = [{"type": "typing", "on": True, "key": key} for key in sorted(state.typing)]
        return typing + [{"type": "draft", "message": draft} for draft in state.drafts.values()]

    def close(self) -> None:
        """Let every listener go."""
        for state in list(self._rooms.values()):
            for listener in list(state.listeners.values()):
                listener.close()

    def _tell_people(self, room: str) -> None:
        self.publish(room, {"type": "people", "people": self.people(room)})

    def _forget(self, room: str) -> None:
        state = self._rooms.get(room)
        if state is not None and not (state.listeners or state.drafts or state.typing):
            del self._rooms[room]
