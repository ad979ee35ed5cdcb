"""The HTTP server under attack: too many connections, slow ones, and long bodies."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState

from gateway.app import Gateway
from gateway.http.limits import (
    MAX_BODY_BYTES,
    RESERVED_DESCRIPTORS,
    BodyLimit,
    Crowd,
    WatchedConnection,
    network_of,
)
from gateway.http.server import QuietServer, listen, make_server
from tests.kit.clock import rest
from tests.kit.gateways import gateway_process, make_environ
from tests.kit.visitor import visit
from tests.kit.waiting import until

HALF = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-"
DESCRIPTORS = 256


@contextmanager
def half_open(url: str, count: int, start: bytes = HALF) -> Iterator[list[socket.socket]]:
    """Hold connections whose requests never get on."""
    address = urlsplit(url)
    held = []
    try:
        for _ in range(count):
            one = socket.create_connection((address.hostname or "", address.port or 0))
            one.sendall(start)
            held.append(one)
        yield held
    finally:
        for one in held:
            one.close()


async def test_with_few_descriptors_and_many_half_open_requests_a_chat_is_answered(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with gateway_process(make_environ(home), home) as process:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        url = await process.url()
        hold = await anyio.to_thread.run_sync(half_open(url, 400).__enter__)
        async with visit(url, "Ann") as (ann,):
            await ann.answer(await ann.say("are you there?"))
        opened = len(os.listdir(f"/proc/{process.pid}/fd"))  # noqa: PTH208 - it waits for nothing
        assert opened < DESCRIPTORS - RESERVED_DESCRIPTORS // 4
        for one in hold:
            one.close()
        async with visit(url, "Ann") as (ann,):
            await ann.answer(await ann.say("and now?"))
    assert (tmp_path / "gateway.log").stat().st_size < 100_000


@asynccontextmanager
async def server_of(*routes: Route) -> AsyncIterator[tuple[QuietServer, str]]:
    opened = listen("127.0.0.1", 0, "")
    server = make_server(Starlette(routes=routes), "")
    async with anyio.create_task_group() as group:
        group.start_soon(server.run_on, opened)
        while not server.started:
            await anyio.lowlevel.checkpoint()
        yield server, f"http://127.0.0.1:{opened.getsockname()[1]}/"
        await server.end()


async def read_all(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def is_open(reader: asyncio.StreamReader) -> bool:
    await rest()
    return not reader.at_eof() and reader.exception() is None


async def test_headers_have_ten_seconds_and_bodies_thirty_without_progress() -> None:
    async with server_of(Route("/", read_all, methods=["POST"])) as (server, url):
        now = asyncio.get_running_loop().time
        port = urlsplit(url).port or 0
        slow, slow_writer = await asyncio.open_connection("127.0.0.1", port)
        slow_writer.write(HALF)
        body, body_writer = await asyncio.open_connection("127.0.0.1", port)
        body_writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
        await anyio.wait_all_tasks_blocked()
        server.crowd.sweep(now() + 9)
        assert await is_open(slow)
        server.crowd.sweep(now() + 11)
        assert not await is_open(slow)
        assert await is_open(body)
        server.crowd.sweep(now() + 29)
        assert await is_open(body)
        server.crowd.sweep(now() + 31)
        assert not await is_open(body)
        slow_writer.close()
        body_writer.close()


async def test_a_body_that_gets_on_and_an_answer_that_takes_long_are_left_alone() -> None:
    gate = anyio.Event()

    async def wait(request: Request) -> Response:
        await request.body()
        await gate.wait()
        return PlainTextResponse("done")

    async with server_of(Route("/", wait, methods=["POST"])) as (server, url):
        now = asyncio.get_running_loop().time
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port or 0)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n")
        writer.write(b"Content-Length: 1\r\n\r\na")
        while not any(one.has_request for one in server.crowd.connections()):
            await anyio.lowlevel.checkpoint()
        server.crowd.sweep(now() + 1000)
        gate.set()
        assert b"done" in await reader.read()
        writer.close()


async def test_who_does_not_read_the_answer_holds_a_connection_for_half_a_minute() -> None:
    async def much(_request: Request) -> Response:
        return PlainTextResponse("x" * 20_000_000)

    async with server_of(Route("/", much)) as (server, url):
        now = asyncio.get_running_loop().time()
        with half_open(url, 1, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as (silent,):
            while not any(one.has_request for one in server.crowd.connections()):
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            server.crowd.sweep(now)
            server.crowd.sweep(now + 29)
            assert len(server.crowd.connections()) == 1
            (watched,) = server.crowd.connections()
            unread = watched.transport.get_write_buffer_size()
            await anyio.to_thread.run_sync(silent.recv, 6_000_000, socket.MSG_WAITALL)
            # The kernel may report the room a moment later.
            await until(lambda: watched.transport.get_write_buffer_size() < unread, "some was read")
            server.crowd.sweep(now + 31)
            server.crowd.sweep(now + 60)
            assert len(server.crowd.connections()) == 1
            server.crowd.sweep(now + 62)
            assert server.crowd.connections() == []


def connections(crowd: Crowd, count: int) -> list[WatchedConnection]:
    config = uvicorn.Config(Starlette())
    state = ServerState()
    return [
        WatchedConnection(crowd, config=config, server_state=state, app_state={})
        for _ in range(count)
    ]


async def test_one_address_has_a_share_and_proxies_and_this_machine_have_no_limit() -> None:
    crowd = Crowd(100, "192.0.2.0/24")
    many = connections(crowd, 75)
    admitted = [crowd.admit(one, "203.0.113.9") for one in many[:30]]
    assert admitted.count(True) == 25
    assert all(crowd.admit(one, "127.0.0.1") for one in many[30:45])
    assert all(crowd.admit(one, "192.0.2.7") for one in many[45:60])
    assert crowd.admit(many[60], "198.51.100.1")
    crowd.forget(many[0])
    assert crowd.admit(many[61], "203.0.113.9")
    assert not crowd.admit(many[62], "203.0.113.9")


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("testclient", "testclient"),
    ],
)
def test_all_addresses_of_one_customer_count_as_one(host: str, network: str) -> None:
    assert network_of(host) == network


JSON = {"Content-Type": "application/json"}


async def test_every_write_must_be_json_and_short(gateway: Gateway) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 100_000 + 1):
            yield b" " * 100_000

    paths = ("rooms/lobby/messages", "tapes/find", "access/grant", "invitations", "codes")
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as web:
        for path in paths:
            for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
                answer = await web.post(
                    f"/api/{path}", content=b"{}", headers={"Content-Type": kind}
                )
                assert answer.status_code == 415, (path, kind)
            long = await web.post(f"/api/{path}", content=b" " * 1_000_001, headers=JSON)
            assert long.status_code == 413
        chunked = await web.post("/api/tapes/find", content=pieces(), headers=JSON)
        assert chunked.status_code == 413
        webhook = await web.post("/webhooks/telegram", content=b" " * 1_000_001)
        assert webhook.status_code in (404, 413)


async def test_a_client_that_leaves_is_no_traceback() -> None:
    left = anyio.Event()

    async def read(request: Request) -> Response:
        try:
            return await read_all(request)
        finally:
            left.set()

    app = Starlette(routes=[Route("/", read, methods=["POST"])])
    app.add_middleware(BodyLimit)
    sent = iter(({"type": "http.request", "body": b"a", "more_body": True}, None))

    async def receive() -> dict[str, object]:
        return next(sent) or {"type": "http.disconnect"}

    async def send(_message: object) -> None:
        raise AssertionError("nobody is there any more")

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    await app({**scope, "query_string": b""}, receive, send)
    assert left.is_set()
