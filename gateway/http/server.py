"""Run uvicorn on sockets that we open, inside our task group.

On its own, uvicorn would install signal handlers, and exit the process if the port is in use.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import anyio
import uvicorn
from starlette.types import ASGIApp

from gateway.errors import GatewayError, PortInUse, SettingsError
from gateway.http.limits import Crowd, WatchedConnection, most_connections, raise_descriptor_limit
from gateway.http.peers import is_loopback
from gateway.logs import get_log
from gateway.settings.sections import MIN_TOKEN_CHARACTERS, HttpSettings

END_SECONDS: Final = 1.5
QUEUE: Final = 1024  # maximum connections that the system keeps until they are accepted
ACCEPTED_AT_ONCE: Final = 8
"""Connections accepted in one round of the event loop: more could use up the descriptors first."""

REPORT_SECONDS: Final = 60.0


def open_sockets(http: HttpSettings, token: str) -> list[socket.socket]:
    """Open the main socket, and that of the metrics if they have one; raises as `listen` does."""
    opened = [listen(http.host, http.port, token)]
    if http.metrics_port:
        try:
            opened.append(_open(http.metrics_host, http.metrics_port, "TAPEWAY_HTTP__METRICS_"))
        except GatewayError:
            opened[0].close()
            raise
    return opened


def listen(host: str, port: int, token: str) -> socket.socket:
    """Open the socket; raises PortInUse, or SettingsError for a missing token or a wrong host."""
    if not is_loopback(host) and not token:
        raise SettingsError(
            f"TAPEWAY_HTTP__HOST: {host} can be reached from other machines and requires a token:"
            " set TAPEWAY_HTTP__TOKEN to a long random text, or generate one with"
            " TAPEWAY_HTTP__TOKEN_FILE=http-token, or listen on 127.0.0.1"
        )
    if not is_loopback(host) and len(token) < MIN_TOKEN_CHARACTERS:
        raise SettingsError(
            f"TAPEWAY_HTTP__TOKEN: on {host}, which other machines can reach, the token must have"
            f" at least {MIN_TOKEN_CHARACTERS} characters: choose a longer one, or generate one"
            " with TAPEWAY_HTTP__TOKEN_FILE=http-token"
        )
    return _open(host, port, "TAPEWAY_HTTP__")


def _open(host: str, port: int, prefix: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on a socket whose protocol is TCP. Without that option, the
    # second part of every answer waits 40 ms until the first is acknowledged.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen(QUEUE)
    except OSError as cause:
        opened.close()
        if not isinstance(cause, socket.gaierror):
            raise PortInUse(host, port, cause, f"{prefix}PORT") from cause
        raise SettingsError(
            f"{prefix}HOST: {host!r} is not an address of this machine ({cause.strerror});"
            f" for example {prefix}HOST=127.0.0.1"
        ) from cause
    opened.setblocking(False)
    return opened


class QuietServer(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    def __init__(self, config: uvicorn.Config, crowd: Crowd) -> None:
        super().__init__(config)
        self.crowd = crowd
        self._ended = anyio.Event()
        self._reported_at = 0.0

    async def run_on(self, *opened: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(self._quietly)
        try:
            await self.serve([*opened])
        finally:
            loop.set_exception_handler(before)
            self._ended.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for opened in sockets or ():
            opened.listen(QUEUE)  # uvicorn has made it as short as ACCEPTED_AT_ONCE

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self.crowd.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def _quietly(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log once a minute that nothing can be accepted: asyncio would log every attempt."""
        cause = context.get("exception")
        out_of = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
        if not (isinstance(cause, OSError) and cause.errno in out_of and "socket" in context):
            loop.default_exception_handler(context)
        elif loop.time() - self._reported_at >= REPORT_SECONDS:
            self._reported_at = loop.time()
            get_log().warning(
                "http.accept_failed", why=cause.strerror, connections=len(self.crowd.connections())
            )

    async def end(self) -> None:
        """Stop listening, and wait up to END_SECONDS for open requests."""
        # Cancelling alone would leave the socket registered with the event loop.
        self.should_exit = True
        with anyio.move_on_after(END_SECONDS):
            await self._ended.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # The gateway has its own handlers.


def make_server(app: ASGIApp, trusted_proxies: str) -> QuietServer:
    raise_descriptor_limit()
    crowd = Crowd(most_connections(), trusted_proxies)
    config = uvicorn.Config(
        app,
        http=partial(WatchedConnection, crowd),  # type: ignore[arg-type]
        ws="none",  # the guard and the limits know HTTP alone
        backlog=ACCEPTED_AT_ONCE,
        # Its warnings are about what strangers send, one line for each request.
        log_level="error",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        forwarded_allow_ips=trusted_proxies,
    )
    return QuietServer(config, crowd)
