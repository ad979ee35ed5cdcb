"""The event loop of the tests."""

from __future__ import annotations

import asyncio
import gc

from tests.kit.loops import LEFT, TidyLoop


def test_a_connection_that_nobody_ended_is_ended_and_named() -> None:
    async def leave_one_open() -> int:
        server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        await asyncio.get_running_loop().create_connection(asyncio.Protocol, "127.0.0.1", port)
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
