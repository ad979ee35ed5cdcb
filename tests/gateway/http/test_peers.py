"""The user at the other end decides on this machine; a proxy's user is not its visitor."""

from __future__ import annotations

import http.client
import json
import os
import socket
import struct
from collections.abc import Mapping
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
import pytest

from gateway.app import Gateway
from gateway.http.peers import Peer, is_loopback, uid_of
from tests.kit.gateways import settled
from tests.kit.needs import as_root
from tests.kit.visitor import visit

NOBODY = 65534
POST = {"id": "7d793037-a076-4f1e-b4bf-6b1a6b8a1f10", "person": {"name": "Mallory"}, "text": "hi"}


@pytest.fixture(params=["asked", "listed"])
def _kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the kernel asked for one socket, or refuse that and list all of them."""
    if request.param == "listed":
        monkeypatch.setattr("gateway.http.peers.SOCK_DIAG", 255)


def socket_of(uid: int) -> socket.socket:
    """Return a socket that another user of this machine has opened."""
    os.seteuid(uid)
    try:
        return socket.socket()
    finally:
        os.seteuid(0)


def request(
    url: str, uid: int, method: str, path: str, body: object, headers: Mapping[str, str]
) -> tuple[int, str]:
    address = urlsplit(url)
    assert address.hostname
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.sock = socket_of(uid)
    connection.sock.connect((address.hostname, address.port))
    sent = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, sent, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(200).decode()
    finally:
        connection.close()


WRITES = {"Content-Type": "application/json"}
TRIES = [
    ("GET", "/", None),
    ("GET", "/api/rooms/lobby/events", None),
    ("POST", "/api/rooms/lobby/messages", POST),
    ("POST", "/api/rooms/lobby/stop", {"person": {"name": "Mallory"}}),
    ("GET", "/api/terminal/terminal/events", None),
    ("POST", "/api/terminal/terminal/messages", POST),
    ("GET", "/api/tapes", None),
    ("POST", "/api/tapes/entries", {"tape": "web:lobby"}),
    ("POST", "/api/tapes/search", {"tape": "web:lobby", "text": "a"}),
    ("POST", "/api/tapes/import", None),
    ("GET", "/api/ledger", None),
    ("GET", "/api/explain?message=1", None),
    ("GET", "/api/access", None),
    ("POST", "/api/access/pair", {}),
    ("POST", "/api/codes", {}),
    ("POST", "/api/invitations", {"room": "lobby"}),
    ("GET", "/api/sessions", None),
]


@as_root
async def test_as_another_user_of_the_machine_no_tape_can_be_read_and_no_message_written(
    gateway: Gateway,
) -> None:
    async with visit(gateway.url, "Ann") as (ann,):
        await ann.answer(await ann.say("a canary of mine"))
    before = await settled(gateway)
    for method, path, body in TRIES:
        status, text = await anyio.to_thread.run_sync(
            request, gateway.url, NOBODY, method, path, body, WRITES
        )
        assert status == (303 if path == "/" else 401), path
        assert "canary" not in text
    assert await settled(gateway) == before
    own = await anyio.to_thread.run_sync(request, gateway.url, 0, *TRIES[6], WRITES)
    assert own[0] == 200


@as_root
async def test_another_user_cannot_open_a_session_without_a_token(gateway: Gateway) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (None, "token="):
        status, _text = await anyio.to_thread.run_sync(
            request, gateway.url, NOBODY, "POST", "/login", body, form
        )
        assert status in (303, 429)
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as own:
        assert (await own.get("/api/sessions")).json()["sessions"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "203.0.113.9"},
        {"X-Forwarded-Proto": "https"},
        {"Forwarded": "for=203.0.113.9"},
        {"Via": "1.1 proxy"},
        {"X-Real-IP": "203.0.113.9"},
        {"Host": "bot.example.org"},
        {"Host": "evil.example"},
        {"Host": ""},
    ],
)
async def test_a_proxy_of_the_same_user_does_not_open_the_page_to_others(
    gateway: Gateway, headers: dict[str, str]
) -> None:
    async with httpx2.AsyncClient(
        base_url=gateway.url, trust_env=False, headers=headers, timeout=60
    ) as web:
        assert (await web.get("/")).headers["location"] == "/login?room="
        assert (await web.post("/api/rooms/lobby/messages", json=POST)).status_code == 401
        assert (await web.get("/api/tapes")).status_code == 401


async def test_an_old_proxy_that_adds_no_header_is_known_by_its_version(gateway: Gateway) -> None:
    address = urlsplit(gateway.url)
    assert address.port
    async with await anyio.connect_tcp("127.0.0.1", address.port) as stream:
        await stream.send(f"GET /api/tapes HTTP/1.0\r\nHost: {address.netloc}\r\n\r\n".encode())
        assert b" 401 " in await stream.receive()


@pytest.mark.usefixtures("_kernel")
@pytest.mark.parametrize(("family", "host"), [("AF_INET", "127.0.0.1"), ("AF_INET6", "::1")])
def test_the_kernel_says_whose_a_connection_is_until_it_is_closed(family: str, host: str) -> None:
    with socket.socket(getattr(socket, family)) as server:
        server.bind((host, 0))
        server.listen()
        ours = (host, server.getsockname()[1])
        client = socket.create_connection(ours)
        accepted, peer = server.accept()
        theirs = (peer[0], peer[1])
        assert uid_of(theirs, ours) == os.geteuid()
        assert uid_of(ours, theirs) == os.geteuid()
        assert uid_of((host, 1), ours) is None
        client.close()  # the kernel would now say that it is root's
        assert uid_of(theirs, ours) is None
        accepted.close()


@pytest.mark.usefixtures("_kernel")
@as_root
def test_a_connection_is_whose_it_was_opened_by_also_over_mapped_addresses() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        ours = ("127.0.0.1", server.getsockname()[1])
        with socket_of(NOBODY) as client:
            client.connect(ours)
            theirs = client.getsockname()
            assert uid_of(theirs, ours) == NOBODY
            accepted, _ = server.accept()
            with accepted:
                assert not Peer(theirs, ours, accepted).is_own_user
        with socket.socket(socket.AF_INET6) as mapped:
            mapped.connect(("::ffff:127.0.0.1", ours[1]))
            assert uid_of(("127.0.0.1", mapped.getsockname()[1]), ours) == 0


def _inherit(server: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Return the server's end of a stranger's connection that was reset, and a socket of ours with
    its port."""
    while True:  # until nobody else on the machine is faster in taking the port
        with socket_of(NOBODY) as stranger:
            stranger.connect(server.getsockname())
            theirs = stranger.getsockname()
            kept, _ = server.accept()
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        own = socket.socket()
        try:
            own.bind(theirs)
        except OSError:
            own.close()
            kept.close()
        else:
            return kept, own


@pytest.mark.usefixtures("_kernel")
@as_root
def test_who_gets_the_port_of_a_connection_that_has_ended_lends_it_nothing() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        ours = ("127.0.0.1", server.getsockname()[1])
        kept, own = _inherit(server)
        with kept, own:
            theirs = own.getsockname()
            own.connect(ours)
            accepted, _ = server.accept()
            with accepted:
                assert uid_of(theirs, ours) == os.geteuid()
                assert not Peer(theirs, ours, kept).is_own_user
                assert Peer(theirs, ours, accepted).is_own_user


def test_other_machines_are_nobody() -> None:
    assert not Peer(("203.0.113.9", 1), ("192.0.2.1", 2)).is_own_user
    assert not Peer(None, ("127.0.0.1", 2)).is_own_user
    assert is_loopback("::ffff:127.0.0.1")
    assert not is_loopback("::ffff:8.8.8.8")
