"""The event loop of the tests."""

from __future__ import annotations

import asyncio
import gc

from tests.kit.loops import LEFT, TidyLoop


class Accepting(asyncio.Protocol):
    """Says when its connection is made, and never ends it."""

    def __init__(self, made: asyncio.Event) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        del transport
        self._made.set()


def test_a_connection_that_nobody_ended_is_ended_and_named() -> None:
    async def leave_one_open() -> int:
        loop, made = asyncio.get_running_loop(), asyncio.Event()
        # No streams: since Python 3.13, a stream ends its connection when nothing refers to it.
        server = await loop.create_server(lambda: Accepting(made), "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
        await made.wait()
        server.close()
        return port

    loop = TidyLoop()
    port = loop.run_until_complete(leave_one_open())
    loop.close()
    gc.collect()  # would complain
    assert str(("127.0.0.1", port)) in LEFT
    LEFT.clear()


async def test_the_tests_run_on_it() -> None:
    assert isinstance(asyncio.get_running_loop(), TidyLoop)
