"""The fake server's requests and connections, on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import openai
import pytest

from tests.fakes.openai.client import HELLO, Sdk, chunks, refusal, stream, text_of
from tests.fakes.openai.script import Hang, Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI


async def test_requests_are_kept_as_they_came(client: Sdk) -> None:
    await chunks(client, extra_headers={"X-Title": "Test"})
    kept = client.server.requests[0]
    assert (kept.path, kept.headers["x-title"]) == ("/v1/chat/completions", "Test")
    assert kept.body["messages"] == HELLO
    assert kept.body_bytes == int(kept.headers["content-length"])


async def test_refused_requests_are_kept_and_use_up_no_reply(client: Sdk) -> None:
    client.server.enqueue(Text(("scripted",)))
    await refusal(client, [])
    assert text_of(await chunks(client)) == "scripted"
    assert [refused.status for refused in client.server.refused] == [400]
    assert len(client.server.requests) == 2


async def test_replies_are_given_in_order_and_then_the_default(client: Sdk) -> None:
    client.server.enqueue(Text(("first",)), Text(("second",)))
    client.server.default = lambda request: Text((request.body["model"],))
    said = [text_of(await chunks(client)) for _ in range(3)]
    assert said == ["first", "second", "known"]


async def test_one_connection_serves_many_requests(client: Sdk) -> None:
    peers = set()
    for _ in range(3):
        async with await stream(client) as events:
            peers.add(events.response.extensions["network_stream"].get_extra_info("client_addr"))
            assert [chunk async for chunk in events]
    assert len(peers) == 1


async def test_waiting_for_requests_ends_with_the_last_one_wanted(client: Sdk) -> None:
    waiting = asyncio.ensure_future(client.server.wait_for_requests(2))
    await chunks(client)
    assert not waiting.done()
    await chunks(client)
    assert len(await waiting) == 2


async def test_a_client_that_leaves_in_the_middle_of_a_stream_is_counted(client: Sdk) -> None:
    client.server.enqueue(Text(("one", "two"), gate=asyncio.Event()))
    async with await stream(client) as events:
        assert text_of([await anext(events), await anext(events)]) == "one"
    await client.server.wait_for_disconnects(1)
    assert client.server.disconnects == 1


async def test_a_client_that_leaves_without_an_answer_is_counted(client: Sdk) -> None:
    client.server.enqueue(Hang())
    reading = asyncio.ensure_future(chunks(client))
    await client.server.wait_for_requests(1)
    reading.cancel()
    await client.server.wait_for_disconnects(1)
    assert client.server.disconnects == 1
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_client_that_reads_to_the_end_is_not_counted(client: Sdk) -> None:
    await chunks(client)
    await client.close()
    async with Sdk(client.server) as other:
        await chunks(other)
    assert client.server.disconnects == 0


@pytest.mark.parametrize("reply", [Hang(), Text(("one", "two"), gate=asyncio.Event())])
async def test_closing_the_server_ends_an_unfinished_answer(reply: Reply) -> None:
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(FakeOpenAI())
        server.enqueue(reply)
        client = Sdk(server)
        reading = asyncio.ensure_future(chunks(client))
        await server.wait_for_requests(1)
    with pytest.raises(openai.APIConnectionError):
        await reading
    await client.close()
    assert server.disconnects == 0


async def test_a_responder_that_fails_fails_the_context() -> None:
    def broken(request: Request) -> Reply:
        raise LookupError(request.last_user_text)

    async def exchange() -> None:
        async with FakeOpenAI(default=broken) as server, Sdk(server) as client:
            with pytest.raises(openai.APIConnectionError):
                await stream(client)

    with pytest.raises(LookupError, match="hello"):
        await exchange()


async def test_bytes_that_are_no_http_are_answered_with_400(server: FakeOpenAI) -> None:
    port = int(server.base_url.rpartition(":")[2].removesuffix("/v1"))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"nonsense\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    writer.close()
    await writer.wait_closed()


async def test_the_module_runs_as_a_process() -> None:
    command = (sys.executable, "-m", "tests.fakes.openai.server", "--port", "0", "--pieces", "2")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    base_url = (await process.stdout.readline()).decode().strip()
    async with openai.AsyncOpenAI(base_url=base_url, api_key="any", max_retries=0) as client:
        received = await chunks(client)
    process.terminate()
    assert await process.wait() == 0
    assert [chunk.choices[0].delta.content for chunk in received][1:3] == ["You said", ": hello"]
