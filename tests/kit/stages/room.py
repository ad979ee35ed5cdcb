"""Rooms of our own as the conformance suite's stage: the page's and the terminal's HTTP."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, Self
from uuid import UUID

import anyio
import httpx2
import orjson
from anyio.abc import TaskGroup

from channels.testing import Answer, Chat, Person, PersonMessage
from tests.kit.clock import ManualClock
from tests.kit.visitor import Visitor


class Guest(Person):
    """A person whose id the gateway assigns when they come in first."""

    __slots__ = ("_known",)

    def __init__(self, name: str, known: Mapping[str, str]) -> None:
        object.__setattr__(self, "_known", known)
        super().__init__("", name)

    @property
    def id(self) -> str:
        known: Mapping[str, str] = object.__getattribute__(self, "_known")
        return known.get(self.name, f"nobody called {self.name}")

    @id.setter  # noqa: A003 - it stands for a field
    def id(self, value: str) -> None:
        """Ignore what a request would say."""


def _not_here(*_given: Any, **_named: Any) -> NoReturn:
    raise AssertionError("the channel does not declare this")


class RoomStage:
    """Visitors of rooms, who speak HTTP as the page does; a chat is a room."""

    place = "/api/rooms"
    answering = thread = appoint = dismiss = echo = edit = delete = press = _not_here
    shown = pinged = too_many = patient = listening = connections = _not_here
    throttle = lose_answer = break_edit = shut_out = half_open = stall_events = _not_here
    resume_events = drop_connections = revoke = compete = _not_here

    def __init__(self, clock: ManualClock | None = None, *, limits: bool = False) -> None:
        self._rooms: dict[str, dict[str, Visitor]] = {}
        self._gone: list[Visitor] = []
        self._ids: dict[str, str] = {}
        self._cookies: dict[str, dict[str, str]] = {}
        self._pages: dict[str, str] = {}
        self._posts = 0
        self._client: httpx2.AsyncClient | None = None
        self._group: TaskGroup | None = None
        self._changed = anyio.Event()
        self._guests = 0
        self._clock = clock
        self._refused: list[PersonMessage] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def settings(self) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def connected(self, url: str) -> AsyncIterator[None]:
        limits = httpx2.Limits(max_connections=None)
        async with (
            httpx2.AsyncClient(base_url=url, timeout=60, limits=limits, trust_env=False) as client,
            anyio.create_task_group() as group,
        ):
            self._client, self._group = client, group
            for room, people in self._rooms.items():
                self._gone += people.values()
                self._rooms[room] = {name: await self._enter(room, name) for name in people}
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    # -- who and where

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        assert not is_bot
        return Guest(name, self._ids)

    def group(self) -> Chat:
        return self._room(f"room-{len(self._rooms) + 1}")

    def private(self, person: Person) -> Chat:
        return _not_here()

    def calling(self, person: Person | None = None) -> str:
        return f"@{person.name if person is not None else 'Tapeway'}"

    # -- what people do

    async def say(
        self,
        chat: Chat,
        person: Person,
        text: str,
        *,
        mention: bool = True,
        reply_to: str | None = None,
        like: PersonMessage | None = None,
    ) -> PersonMessage:
        if mention:
            text = self.addressed(text)
        said = self._written(chat, person, text, reply_to or "", like)
        await self._post(await self._visitor(chat, person), said)
        return said

    async def redeliver(self, said: PersonMessage, *, as_new: bool = False) -> None:
        await self._post(await self._visitor(said.chat, said.person), said)

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        return await self.say(chat, person, f",{name}", mention=False)

    async def send_image(
        self, chat: Chat, person: Person, data: bytes, text: str, *, mention: bool = True
    ) -> PersonMessage:
        asked = self.addressed(text) if mention else text
        return await self._send(chat, person, asked, "photo.png", "image/png", data)

    async def send_file(
        self, chat: Chat, person: Person, data: bytes, name: str, mime: str, text: str
    ) -> PersonMessage:
        return await self._send(chat, person, self.addressed(text), name, mime, data)

    # -- what people see

    async def taken(self) -> None:
        """What was posted is taken; a page offers again what it was told to bring later."""
        while self._refused:
            said = self._refused[0]
            if await self._posted(await self._visitor(said.chat, said.person), said):
                self._refused.remove(said)
            else:
                assert self._clock is not None
                await self._clock.sleep(1)

    async def seen(self) -> None:
        """Have somebody come into each room: who was there before sees that last of all."""
        async with anyio.create_task_group() as group:
            for room, people in self._rooms.items():
                group.start_soon(self._come_and_go, room, list(people.values()))

    async def _come_and_go(self, room: str, people: Sequence[Visitor]) -> None:
        assert self._client is not None
        self._guests += 1
        guest = Visitor(self._client, room, f"Guest {self._guests}", self.place, self._tell)
        async with anyio.create_task_group() as group:
            await group.start(guest.listen)
            for visitor in people:
                await visitor.until(partial(_came, guest))
            group.cancel_scope.cancel()

    async def until(self, so: Callable[[], bool]) -> None:
        while not so():
            await self._changed.wait()

    def answers(self, chat: Chat) -> list[Answer]:
        found: dict[str, Answer] = {}
        for event in self._seen(chat):
            if event["type"] in ("message", "draft") and event["message"]["role"] != "person":
                found[event["message"]["id"]] = _answer(event["message"])
            elif event["type"] == "draft.removed":
                found.pop(event["id"], None)
        return list(found.values())

    def typing(self, chat: Chat) -> bool:
        on = {event["key"]: event["on"] for event in self._seen(chat) if event["type"] == "typing"}
        return any(on.values())

    def typed(self, chat: Chat) -> int:
        return sum(event["type"] == "typing" and event["on"] for event in self._seen(chat))

    def shows(self, piece: str) -> str:
        return piece

    def outbound(self) -> bytes:
        here = [visitor for people in self._rooms.values() for visitor in people.values()]
        return orjson.dumps([visitor.events for visitor in [*self._gone, *here]])

    # -- the gateway's end of the line

    def cut_off(self) -> None:
        for people in self._rooms.values():
            for visitor in people.values():
                visitor.leave()

    def untaken(self) -> int:
        return len(self._refused)

    # -- parts

    def addressed(self, text: str) -> str:
        """Return a text that mentions the agent."""
        return f"{self.calling()} {text}"

    def _room(self, name: str) -> Chat:
        self._rooms.setdefault(name, {})
        return Chat(name)

    async def _send(
        self, chat: Chat, person: Person, text: str, name: str, mime: str, data: bytes
    ) -> PersonMessage:
        file = {"name": name, "mime": mime, "data": base64.b64encode(data).decode()}
        visitor = await self._visitor(chat, person)
        said = self._written(chat, person, text)
        answer = await visitor.post(
            text, to_agent=False, reply_to=None, message_id=said.id, files=[file]
        )
        assert answer.status_code == 202, answer.text
        return said

    def _written(
        self,
        chat: Chat,
        person: Person,
        text: str,
        reply_to: str = "",
        like: PersonMessage | None = None,
    ) -> PersonMessage:
        self._posts += 1
        message_id = like.id if like is not None else str(UUID(int=self._posts, version=4))
        return PersonMessage(message_id, chat, person, text, reply_to)

    async def _visitor(self, chat: Chat, person: Person) -> Visitor:
        people = self._rooms[chat.id]
        if person.name not in people:
            people[person.name] = await self._enter(chat.id, person.name)
        return people[person.name]

    async def invite(self, room: Chat, name: str) -> None:
        """Give somebody a session of a guest; without one, everybody is the owner."""
        assert self._client is not None
        made = await self._client.post("/api/invitations", json={"room": room.id})
        # Behind a proxy, nobody is known by the user id of their process.
        proxied = {"X-Forwarded-For": "203.0.113.9"}
        came = await self._client.post("/login/code", json=made.json(), headers=proxied)
        cookie = came.headers["set-cookie"].partition(";")[0]
        self._pages[name] = came.json()["path"].rstrip("/")
        self._client.cookies.clear()
        self._cookies[name] = {"Cookie": cookie}

    async def _enter(self, room: str, name: str) -> Visitor:
        assert self._client is not None
        assert self._group is not None
        visitor = Visitor(
            self._client, room, name, f"{self._pages.get(name, '')}{self.place}", self._tell
        )
        visitor.cookie = self._cookies.get(name, {})
        await self._group.start(visitor.listen)
        self._cookies[name] = visitor.cookie
        self._ids[name] = visitor.id
        return visitor

    async def _post(self, visitor: Visitor, said: PersonMessage) -> None:
        if not await self._posted(visitor, said):
            self._refused.append(said)

    async def _posted(self, visitor: Visitor, said: PersonMessage) -> bool:
        """Post a message; return whether the gateway said that it took it."""
        try:
            answer = await visitor.post(
                said.text, to_agent=False, reply_to=said.delivery or None, message_id=said.id
            )
        except httpx2.TransportError:
            return False
        assert answer.status_code in (202, 503), answer.text
        return answer.status_code == 202

    def _seen(self, chat: Chat) -> list[dict[str, Any]]:
        """Return what the first visitor of a room has seen, what was said before among it."""
        visitor = next(iter(self._rooms[chat.id].values()), None)
        events: list[dict[str, Any]] = []
        for event in visitor.events if visitor is not None else ():
            if event["type"] == "history":
                events += [{"type": "message", "message": past} for past in event["messages"]]
            events.append(event)
        return events

    def _tell(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class TerminalStage(RoomStage):
    """Terminals: a chat is that of one person, who need not call the agent."""

    place = "/api/terminal"
    group = _not_here

    def private(self, person: Person) -> Chat:
        return self._room(person.name)

    def addressed(self, text: str) -> str:
        return text


def _came(guest: Visitor, event: dict[str, Any]) -> bool:
    people = event.get("people", ())
    return any(person["name"] == guest.person["name"] for person in people)


def _answer(shown: dict[str, Any]) -> Answer:
    return Answer(shown["id"], shown["text"], shown["reply_to"])
