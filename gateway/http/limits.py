"""What keeps strangers from using up the gateway: limits on connections, their pace, and bodies."""

from __future__ import annotations

import resource
from collections import Counter
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

import h11
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gateway.http.peers import Peer, is_loopback

RESERVED_DESCRIPTORS: Final = 96
"""File descriptors kept for the database, the platforms and the models."""

WANTED_DESCRIPTORS: Final = 8192
HEADER_SECONDS: Final = 10.0  # maximum seconds until a request's headers are complete
BODY_SECONDS: Final = 30.0  # maximum seconds without progress of a request's body
ANSWER_SECONDS: Final = 30.0  # maximum seconds in which a client reads nothing of an answer
MAX_BODY_BYTES: Final = 1_000_000

READS: Final = ("GET", "HEAD", "OPTIONS")
_STREAMED: Final = ("/api/tapes/import",)
"""Paths that limit their bodies themselves."""

_ANY_TYPE: Final = ("/webhooks/", "/slack/", "/login", *_STREAMED)
"""Paths whose bodies need not be JSON: platforms' own, the login form, and a file."""


def raise_descriptor_limit() -> None:
    """Raise the soft limit on open files, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """Return the maximum number of connections that leaves enough file descriptors."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    known = WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return max(16, known - RESERVED_DESCRIPTORS)


def network_of(host: str) -> str:
    """Return the address, or the /64 network of an IPv6 address: one customer has all of it."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


class Crowd:
    """The open connections, oldest first.

    most        maximum of all connections; beyond that, the oldest one without a whole request goes
    each        maximum of one address; loopback and trusted proxies stand for many people
    """

    def __init__(self, most: int, trusted_proxies: str = "") -> None:
        self._most = most
        self._each = max(8, most // 4)
        self._trusts_all = trusted_proxies == "*"
        named = [] if self._trusts_all else trusted_proxies.split(",")
        self._trusted = [ip_network(item) for item in named if item]
        self._open: dict[WatchedConnection, str] = {}
        self._of_address: Counter[str] = Counter()

    def connections(self) -> list[WatchedConnection]:
        return list(self._open)

    def admit(self, connection: WatchedConnection, host: str) -> bool:
        """Count a new connection, closing another one if needed; return whether it may stay."""
        key = "" if self._stands_for_many(host) else network_of(host)
        if key and self._of_address[key] >= self._each:
            return False
        if len(self._open) >= self._most:
            oldest = next((one for one in self._open if not one.has_request), None)
            if oldest is None:
                return False
            self.forget(oldest)
            oldest.transport.abort()
        self._open[connection] = key
        if key:
            self._of_address[key] += 1
        return True

    def forget(self, connection: WatchedConnection) -> None:
        key = self._open.pop(connection, "")
        if key:
            self._of_address[key] -= 1
            self._of_address += Counter()  # drops the addresses without connections

    def sweep(self, now: float) -> None:
        """Close the connections that are too slow."""
        for connection in [one for one in self._open if one.is_overdue(now)]:
            self.forget(connection)
            connection.transport.abort()

    def _stands_for_many(self, host: str) -> bool:
        if self._trusts_all or is_loopback(host):
            return True
        try:
            return any(ip_address(host) in network for network in self._trusted)
        except ValueError:
            return False


class WatchedConnection(H11Protocol):
    """A connection that a crowd counts, and that is closed if a request does not get on."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        super().__init__(**given)
        self._crowd = crowd
        self._since = self.loop.time()  # when the wait for headers began, or the last progress
        self._unread = 0  # bytes of the answer that the client has not taken
        self._read_at = 0.0  # when it last took some

    @property
    def has_request(self) -> bool:
        """Return whether a whole request arrived that is not answered yet."""
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY, h11.ERROR):
            return False
        return not self.cycle.response_complete

    def is_overdue(self, now: float) -> bool:
        """Return whether a request's rest is missing, or its answer unread, for too long."""
        unread, before = self.transport.get_write_buffer_size(), self._unread
        self._unread = unread
        if unread < before or not before:
            self._read_at = now
        elif now - self._read_at > ANSWER_SECONDS:
            return True
        if self.conn.their_state is h11.SEND_BODY:
            if self.flow.read_paused:  # the gateway makes it wait
                self._since = now
            return now - self._since > BODY_SECONDS
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            return now - self._since > HEADER_SECONDS
        return False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = Peer(self.client, self._own_end(), transport.get_extra_info("socket"))
        self.app_state = {**self.app_state, "peer": peer}
        if not self._crowd.admit(self, self.client[0] if self.client else ""):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.timeout_keep_alive_task is not None or self.conn.their_state is h11.SEND_BODY:
            self._since = self.loop.time()
        super().data_received(data)

    def resume_writing(self) -> None:
        self._read_at = self.loop.time()
        super().resume_writing()

    def _own_end(self) -> tuple[str, int] | None:
        return (self.server[0], self.server[1] or 0) if self.server else None


class BodyLimit:
    """Middleware that bounds the bodies of requests, and lets a client leave without a traceback.

    A write must be JSON: a page of another site could send a form without asking the browser.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        bounded = scope["path"] not in _STREAMED
        seen, answered = 0, False

        async def receive_bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if bounded and seen > MAX_BODY_BYTES:
                return {"type": "http.disconnect"}
            return message

        async def send_on(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        with suppress(ClientDisconnect):
            await self._app(scope, receive_bounded, send_on)
        if bounded and seen > MAX_BODY_BYTES and not answered:
            await _too_long()(scope, receive, send)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        if scope["method"] in READS:
            return None
        headers, path = Headers(scope=scope), scope["path"]
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not path.startswith(_ANY_TYPE):
            return JSONResponse({"error": "Send it as application/json."}, status_code=415)
        length = headers.get("content-length", "")
        if path not in _STREAMED and length.isdigit() and int(length) > MAX_BODY_BYTES:
            return _too_long()
        return None


def _too_long() -> JSONResponse:
    return JSONResponse({"error": "The request is too long."}, status_code=413)
