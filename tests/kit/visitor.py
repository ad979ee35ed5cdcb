"""A visitor of a room: posts and reads the event stream over HTTP, as the page does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import orjson

from tests.fakes.base.traffic import WITNESSES, Asked, dumped

Json = dict[str, Any]


def _is_exempt(event: Json) -> bool:
    """Return whether an event shows reasoning, or what a person said just now."""
    shown = event.get("message")
    said = isinstance(shown, dict) and shown.get("role") == "person"
    return event["type"] == "reasoning" or said


class Visitor:
    """One person in one room; keeps every event that came."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        room: str,
        name: str,
        place: str = "/api/rooms",
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._path = f"{place}/{room}"
        self._heard = heard
        self.person = {"name": name}
        self.cookie: dict[str, str] = {}
        self.events: list[Json] = []
        self._gone = False
        self._changed = anyio.Event()
        WITNESSES.append(self)

    def heard(self) -> bytes:
        """Return what the gateway said; an owner's own page shows reasoning while it is made."""
        return dumped([event for event in self.events if not _is_exempt(event)])

    def asked(self) -> list[Asked]:
        """Nobody asks a visitor to think."""
        return []

    async def say(
        self,
        text: str,
        *,
        to_agent: bool = True,
        reply_to: str | None = None,
        message_id: str | None = None,
    ) -> str:
        """Post a message and return its id."""
        message_id = message_id or str(uuid4())
        response = await self.post(
            text, to_agent=to_agent, reply_to=reply_to, message_id=message_id
        )
        assert response.status_code == 202, response.text
        return message_id

    async def post(
        self,
        text: str,
        *,
        to_agent: bool,
        reply_to: str | None,
        message_id: str,
        files: Sequence[Json] = (),
        again: str | None = None,
    ) -> httpx2.Response:
        """Post a message, whatever comes of it."""
        await self.enter()
        body = {
            "id": message_id,
            "person": self.person,
            "text": text,
            "to_agent": to_agent,
            "reply_to": reply_to,
            "files": list(files),
            "again": again,
        }
        path = f"{self._path}/messages"
        return await self._client.post(path, json=body, headers=self.cookie)

    async def enter(self) -> None:
        """Open a session of one's own, unless there is one; the server says who one is."""
        if self.cookie:
            return
        given = {"authorization": self._client.headers.get("authorization", "")}
        url = self._client.base_url
        # A gateway that is killed just now, or without its database, opens no session.
        with suppress(httpx2.TransportError):
            async with httpx2.AsyncClient(
                base_url=url, trust_env=False, headers=given, timeout=60
            ) as fresh:
                answer = await fresh.post("/login", data={"token": ""})
            cookie = answer.headers.get("set-cookie", "").partition(";")[0]
            self.cookie = {"Cookie": cookie} if cookie else {}

    @property
    def id(self) -> str:
        """The id that the server assigned."""
        return str(self.of_type("hello")[-1]["you"]["id"])

    def leave(self) -> None:
        """See and hear nothing more."""
        self._gone = True

    async def try_to_say(self, text: str) -> httpx2.Response:
        """Post a message, whatever comes of it."""
        body = {"id": str(uuid4()), "person": self.person, "text": text}
        await self.enter()
        path = f"{self._path}/messages"
        return await self._client.post(path, json=body, headers=self.cookie)

    async def ready(self) -> httpx2.Response:
        """Ask whether the gateway is ready."""
        return await self._client.get("/health/ready")

    async def stop(self, answer: str | None = None) -> bool:
        """Press Stop, or the Stop of one answer; return whether there was one to stop."""
        body = {"person": self.person, "answer": answer}
        await self.enter()
        path = f"{self._path}/stop"
        response = await self._client.post(path, json=body, headers=self.cookie)
        assert response.status_code == 200, response.text
        return bool(response.json()["stopped"])

    async def answer(self, message_id: str) -> Json:
        """Wait for the finished answer to a message."""
        found = await self.until(lambda event: self._answers_in(event, message_id))
        return dict(self._answers_in(found, message_id)[0])

    def _answers_in(self, event: Json, message_id: str) -> list[Json]:
        said = [event["message"]] if event["type"] == "message" else []
        if event["type"] == "history" and event is not self.of_type("history")[0]:
            said = event["messages"]  # after an erasure, which shows the past once more
        return [one for one in said if one["role"] != "person" and one["reply_to"] == message_id]

    async def draft(self, message_id: str) -> Json:
        """Wait for the first partial text of the answer to a message."""
        found = await self.until(
            lambda event: event["type"] == "draft" and event["message"]["reply_to"] == message_id
        )
        return dict(found["message"])

    async def until(self, wanted: Any) -> Json:
        """Wait for an event; one that came before counts."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                seen += 1
                if wanted(event):
                    return event
            await self._changed.wait()

    def of_type(self, kind: str) -> list[Json]:
        """Return the events of a type that came so far."""
        return [event for event in self.events if event["type"] == kind]

    async def listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Read the event stream until cancelled, or until the gateway is gone."""
        with suppress(httpx2.RemoteProtocolError, httpx2.ReadError):
            await self._read(task_status)

    async def _read(self, task_status: anyio.abc.TaskStatus[None]) -> None:
        await self.enter()
        async with self._client.stream(
            "GET", f"{self._path}/events", params=self.person, headers=self.cookie
        ) as response:
            async for line in response.aiter_lines():
                if self._gone or not line.startswith("data:"):
                    continue
                self.events.append(orjson.loads(line[5:]))
                if self.events[-1]["type"] == "history" and len(self.of_type("history")) == 1:
                    task_status.started()
                self._changed.set()
                self._changed = anyio.Event()
                self._heard()


@asynccontextmanager
async def visit(url: str, *names: str, room: str = "lobby") -> AsyncIterator[list[Visitor]]:
    """Have people in a room while the block runs."""
    async with (
        httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
        anyio.create_task_group() as group,
    ):
        visitors = [Visitor(client, room, name) for name in names]
        for visitor in visitors:
            await group.start(visitor.listen)
        yield visitors
        group.cancel_scope.cancel()
