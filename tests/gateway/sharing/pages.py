"""Processes with a page each over one database, on real sockets; one of them runs the turns."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import httpx2
from anyio.abc import TaskGroup, TaskStatus
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.events import AgentEvent
from channels.message import InboundMessage, OutboundMessage, ShownMessage
from channels.room.session import PageSession
from channels.testing import FakeHost
from channels.web.adapter import WebChannel
from channels.web.settings import WebSettings
from gateway.clock import SystemClock
from gateway.context.history import read_history, read_news
from gateway.delivery.outbox import outbound_event
from gateway.http.server import make_server, open_sockets
from gateway.settings.intervals import INTERVALS
from gateway.settings.sections import HttpSettings
from gateway.sharing.rooms.shared_hub import SharedHub
from gateway.sharing.rooms.shared_rooms import SharedRooms
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.handle import Tape
from tape.store import UnitStore
from tape.stores.registry import open_store
from tests.channels.room.hubs import bus_of, workers
from tests.kit.visitor import Visitor

ROOM = "lobby"
ANSWER = "t-1:0"


class TapedHost(FakeHost):
    """A host whose rooms have a real tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape
        self.reads: list[anyio.Event] = []  # each history waits for one, if there is one
        self.asked = anyio.Event()

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        del channel, chat_id
        self.asked.set()
        for event in self.reads:
            await event.wait()
        return await read_history(self.tape, self.agent_name, limit)

    async def news(
        self, channel: str, chat_id: str, after: int | None
    ) -> tuple[int, list[ShownMessage]]:
        del channel, chat_id
        return await read_news(self.tape, self.agent_name, after)


class FromCookie:
    """Lets in whoever says who they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"cookie", b"").decode()
        scope.setdefault("state", {})["session"] = PageSession(given, rooms=(ROOM,))
        await self._app(scope, receive, send)


@dataclass(slots=True)
class Process:
    """One process: its channel, its page's address, and what ends it."""

    owner: str
    channel: WebChannel
    host: TapedHost
    rooms: SharedRooms
    url: str
    group: TaskGroup

    def kill(self) -> None:
        """End it without a word."""
        self.group.cancel_scope.cancel()

    async def take(self, asked: InboundMessage) -> None:
        """Write a person's message to the tape, as the holder of the session does."""
        meta = {
            "inbox": 1,
            "author": asked.sender.id,
            "name": asked.sender.name,
            "text": asked.text,
            "message_id": asked.message_id,
            "said_at": asked.date,
        }
        await self.host.tape.append(message("user", asked.text, **meta))
        self.channel.taped(asked)

    async def write(self, asked: InboundMessage, text: str) -> None:
        """Have the agent write the next words of its answer."""
        await self.channel.on_event(AgentEvent("text", {"delta": text}), asked)

    async def answer(self, asked: InboundMessage, text: str) -> None:
        """Commit the answer and send it, as the end of a turn does."""
        sent = OutboundMessage(
            "web", ROOM, text, idem=f"draft of {asked.ext_id}", reply_to=asked.message_id,
            answers=asked.ext_id, date=asked.date,
        )  # fmt: skip
        final = message("assistant", text, turn="t", final=True)
        await self.host.tape.append(final, outbound_event(sent))
        await self.channel.send(sent)


@asynccontextmanager
async def processes(url: str, count: int) -> AsyncIterator[list[Process]]:
    """Run processes over one database."""
    store = open_store(url, [ledger_schema("postgres"), sharing_schema()])
    try:
        with workers(url, count) as owners:
            async with anyio.create_task_group() as group:
                yield [await group.start(_run, store, owner) for owner in owners]
                group.cancel_scope.cancel()
    finally:
        await store.close()


async def _run(store: UnitStore, owner: str, *, task_status: TaskStatus[Process]) -> None:
    clock = SystemClock()
    bus = bus_of(store, clock)
    rooms = SharedRooms(store, clock, bus, owner, INTERVALS)
    channel = WebChannel(WebSettings())
    channel.hub = SharedHub(rooms, channel.name, channel.news)
    host = TapedHost(Tape(store, "web:lobby"))
    app = Starlette(routes=channel.routes(), middleware=[Middleware(FromCookie)])
    (opened,) = open_sockets(HttpSettings(port=0), "")
    server = make_server(app, "")
    with opened:
        async with anyio.create_task_group() as group:
            host.open(group)
            group.start_soon(server.run_on, opened)
            group.start_soon(bus.run)
            group.start_soon(rooms.run)
            await channel.attach(host)
            group.start_soon(channel.run)
            address = f"http://127.0.0.1:{opened.getsockname()[1]}/"
            task_status.started(Process(owner, channel, host, rooms, address, group))
        with anyio.CancelScope(shield=True):
            channel.hub.close()
            await server.shutdown(sockets=[opened])


@asynccontextmanager
async def at(process: Process, *names: str) -> AsyncIterator[list[Visitor]]:
    """Have people on the page of a process while the block runs."""
    async with (
        httpx2.AsyncClient(base_url=process.url, timeout=60, trust_env=False) as client,
        anyio.create_task_group() as group,
    ):
        visitors = [Visitor(client, ROOM, name) for name in names]
        for visitor in visitors:
            visitor.cookie = {"Cookie": f"w-{visitor.person['name'].lower()}"}
            await group.start(visitor.listen)
        yield visitors
        group.cancel_scope.cancel()
