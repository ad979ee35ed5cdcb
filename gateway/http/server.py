"""Run uvicorn on a socket that we open, inside our task group.

On its own, uvicorn would install signal handlers, and exit the process if the port is in use.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn
from starlette.applications import Starlette

from gateway.errors import PortInUse, SettingsError
from gateway.http.auth import is_loopback

END_SECONDS: Final = 1.5


def listen(host: str, port: int, token: str) -> socket.socket:
    """Open the socket; raises PortInUse, or SettingsError for a missing token or a wrong host."""
    if not is_loopback(host) and not token:
        raise SettingsError(
            f"TAPEWAY_HTTP__HOST: {host} can be reached from other machines and requires a token:"
            " set TAPEWAY_HTTP__TOKEN to a long random text, or generate one with"
            " TAPEWAY_HTTP__TOKEN_FILE=http-token, or listen on 127.0.0.1"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on a socket whose protocol is TCP. Without that option, the
    # second part of every answer waits 40 ms until the first is acknowledged.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
        opened.listen(128)
    except OSError as cause:
        opened.close()
        if not isinstance(cause, socket.gaierror):
            raise PortInUse(host, port, cause) from cause
        raise SettingsError(
            f"TAPEWAY_HTTP__HOST: {host!r} is not an address of this machine ({cause.strerror});"
            " for example TAPEWAY_HTTP__HOST=127.0.0.1"
        ) from cause
    opened.setblocking(False)
    return opened


class QuietServer(uvicorn.Server):
    """A server that leaves the process's signal handlers alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ended = anyio.Event()

    async def run_on(self, opened: socket.socket) -> None:
        try:
            await self.serve([opened])
        finally:
            self._ended.set()

    async def end(self) -> None:
        """Stop listening, and wait up to END_SECONDS for open requests."""
        # Cancelling alone would leave the socket registered with the event loop.
        self.should_exit = True
        with anyio.move_on_after(END_SECONDS):
            await self._ended.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # The gateway has its own handlers.


def make_server(app: Starlette, trusted_proxies: str) -> QuietServer:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        forwarded_allow_ips=trusted_proxies,
    )
    return QuietServer(config)
