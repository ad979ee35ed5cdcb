"""The fake chat completions server, seen through the real SDK."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any, cast

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from tests.fakes.openai.script import (
    Call,
    CutStream,
    EmptyStream,
    Failure,
    Hang,
    JsonObject,
    RateLimited,
    Reply,
    Request,
    StreamError,
    Text,
    ToolCalls,
    Usage,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI

pytestmark = pytest.mark.anyio

HELLO: list[JsonObject] = [{"role": "user", "content": "hello"}]
TWO_CALLS = (
    Call("call_a", "weather", '{"city": "Oslo", "days": 3}'),
    Call("call_b", "clock", '{"zone": "UTC"}'),
)


def client_of(server: FakeOpenAI, api_key: str = "right") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.base_url, api_key=api_key, max_retries=0)


async def stream(
    client: openai.AsyncOpenAI, messages: list[JsonObject] = HELLO, **options: object
) -> openai.AsyncStream[ChatCompletionChunk]:
    # Any, so that the refusals can be tried with bodies the SDK's types do not allow.
    create = cast(Any, client.chat.completions.create)
    body = {"model": "known", "messages": messages, "stream": True} | options
    return cast(openai.AsyncStream[ChatCompletionChunk], await create(**body))


async def chunks(
    client: openai.AsyncOpenAI, messages: list[JsonObject] = HELLO, **options: object
) -> list[ChatCompletionChunk]:
    async with await stream(client, messages, **options) as events:
        return [chunk async for chunk in events]


async def refusal(
    client: openai.AsyncOpenAI, messages: list[JsonObject] = HELLO, **options: object
) -> openai.BadRequestError:
    with pytest.raises(openai.BadRequestError) as caught:
        await stream(client, messages, **options)
    return caught.value


def text_of(received: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in received for choice in chunk.choices)


def function(name: str, **extra: object) -> JsonObject:
    return {"type": "function", "function": {"name": name, **extra}}


def asking(*ids: str, name: str = "clock") -> JsonObject:
    made = [{"id": id_, "type": "function", "function": _call(name)} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _call(name: str) -> JsonObject:
    return {"name": name, "arguments": "{}"}


def answering(call_id: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": "12:00"}


async def post(server: FakeOpenAI, content: bytes) -> httpx2.Response:
    headers = {"authorization": "Bearer right", "content-type": "application/json"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as plain:
        return await plain.post(f"{server.base_url}/chat/completions", content=content)


# Answers


async def test_the_default_reply_echoes_the_last_user_message_in_pieces(
    client: openai.AsyncOpenAI,
) -> None:
    received = await chunks(client)
    assert text_of(received) == "You said: hello"
    assert len(received) > 3


async def test_a_text_reply_arrives_piece_by_piece(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("Hel", "lo ", "✓")))
    received = await chunks(client)
    contents = [chunk.choices[0].delta.content for chunk in received]
    assert contents == ["", "Hel", "lo ", "✓", None]


async def test_the_first_delta_has_the_role_and_the_last_the_finish_reason(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("a",), finish_reason="length"))
    received = await chunks(client)
    assert received[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in received] == [None, None, "length"]


async def test_all_chunks_of_a_stream_share_one_identity(client: openai.AsyncOpenAI) -> None:
    received = await chunks(client)
    assert {(c.id, c.object, c.model) for c in received} == {
        ("chatcmpl-1", "chat.completion.chunk", "known")
    }


async def test_reasoning_comes_before_the_text(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("yes",), reasoning=("hm", "m")))
    received = await chunks(client)
    extras = [chunk.choices[0].delta.model_extra or {} for chunk in received]
    assert [extra.get("reasoning_content") for extra in extras] == [None, "hm", "m", None, None]


async def test_tool_calls_reassemble_from_their_interleaved_fragments(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(ToolCalls(TWO_CALLS, fragment=5))
    arguments = {0: "", 1: ""}
    for chunk in await chunks(client):
        for part in chunk.choices[0].delta.tool_calls or []:
            assert part.function is not None
            arguments[part.index] += part.function.arguments or ""
    assert arguments == {0: TWO_CALLS[0].arguments, 1: TWO_CALLS[1].arguments}


async def test_only_the_first_fragment_names_its_call(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(ToolCalls(TWO_CALLS, fragment=5))
    received = await chunks(client)
    parts = [part for chunk in received for part in chunk.choices[0].delta.tool_calls or []]
    assert [(part.index, part.id) for part in parts][:4] == [
        (0, "call_a"),
        (1, "call_b"),
        (0, None),
        (1, None),
    ]
    assert [part.function.name for part in parts if part.function and part.function.name] == [
        "weather",
        "clock",
    ]


async def test_text_before_tool_calls_is_sent_first(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(ToolCalls(TWO_CALLS[:1], pieces=("Let me ", "look.")))
    received = await chunks(client)
    assert text_of(received) == "Let me look."
    assert received[1].choices[0].delta.content == "Let me "
    assert received[-1].choices[0].finish_reason == "tool_calls"


async def test_a_request_without_stream_gets_a_whole_completion(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("Hel", "lo"), Usage(10, 2, 4)))
    create = cast(Any, client.chat.completions.create)
    completion = await create(model="known", messages=HELLO)
    assert completion.object == "chat.completion"
    assert completion.choices[0].message.content == "Hello"
    assert completion.usage.total_tokens == 12


async def test_a_request_without_stream_gets_whole_tool_calls(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(ToolCalls(TWO_CALLS))
    create = cast(Any, client.chat.completions.create)
    message = (await create(model="known", messages=HELLO)).choices[0].message
    assert message.content is None
    assert [call.function.arguments for call in message.tool_calls] == [
        call.arguments for call in TWO_CALLS
    ]


async def test_usage_with_cached_tokens_comes_in_a_last_chunk_without_choices(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("a",), Usage(100, 7, cached_tokens=64)))
    *others, last = await chunks(client, stream_options={"include_usage": True})
    assert all(chunk.usage is None for chunk in others)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.prompt_tokens_details is not None
    assert (last.usage.total_tokens, last.usage.prompt_tokens_details.cached_tokens) == (107, 64)


async def test_usage_is_not_sent_unasked(server: FakeOpenAI, client: openai.AsyncOpenAI) -> None:
    server.enqueue(Text(("a",), Usage(1, 1)))
    assert all(chunk.usage is None for chunk in await chunks(client))


async def test_usage_not_scripted_is_a_quarter_of_the_body(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    received = await chunks(client, stream_options={"include_usage": True})
    assert received[-1].usage is not None
    assert received[-1].usage.prompt_tokens == server.requests[0].body_bytes // 4


async def test_comment_lines_do_not_reach_the_reader(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("a", "b"), comments=True), Text(("a", "b")))
    with_comments, without = await chunks(client), await chunks(client)
    assert len(with_comments) == len(without)
    assert text_of(with_comments) == "ab"


async def test_comment_lines_are_on_the_wire(server: FakeOpenAI) -> None:
    server.enqueue(Text(("a",), comments=True))
    response = await post(
        server, b'{"model":"known","stream":true,"messages":[{"role":"user","content":"x"}]}'
    )
    assert response.text.startswith(": OPENROUTER PROCESSING\n\ndata: {")
    assert response.text.count(": OPENROUTER PROCESSING\n\n") == 3


async def test_a_gate_holds_the_stream_after_the_first_piece(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    gate = asyncio.Event()
    server.enqueue(Text(("one", "two"), gate=gate))
    async with await stream(client) as events:
        seen = [await anext(events), await anext(events)]
        following = asyncio.ensure_future(anext(events))
        # A second exchange proves that time has passed without the third chunk.
        await client.models.list()
        assert not following.done()
        gate.set()
        assert (await following).choices[0].delta.content == "two"
    assert text_of(seen) == "one"


async def test_a_gate_holds_tool_calls_in_the_middle(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    gate = asyncio.Event()
    server.enqueue(ToolCalls(TWO_CALLS, gate=gate))
    async with await stream(client) as events:
        await anext(events)
        held = await anext(events)
        assert held.choices[0].delta.tool_calls is not None
        gate.set()
        assert len([chunk async for chunk in events]) > 2


# Failures


async def test_a_rate_limit_tells_when_to_retry(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(RateLimited(1.5))
    with pytest.raises(openai.RateLimitError) as caught:
        await stream(client)
    assert caught.value.response.headers["Retry-After"] == "1.5"
    assert caught.value.code == "rate_limit_exceeded"


async def test_a_failure_sends_its_own_headers(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Failure(529, "Overloaded", headers={"retry-after-ms": "20"}))
    with pytest.raises(openai.InternalServerError) as caught:
        await stream(client)
    assert caught.value.status_code == 529
    assert caught.value.response.headers["retry-after-ms"] == "20"


@pytest.mark.parametrize(("with_code", "code"), [(True, "context_length_exceeded"), (False, None)])
async def test_a_prompt_too_long_is_refused_with_or_without_the_code(
    server: FakeOpenAI, client: openai.AsyncOpenAI, with_code: bool, code: str | None
) -> None:
    server.enqueue(context_length_exceeded(with_code))
    error = await refusal(client)
    assert error.code == code
    assert "context" in error.message


async def test_a_code_that_is_a_number_becomes_text_in_the_sdk(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Failure(400, "too long", code=400))
    assert (await refusal(client)).code == "400"


async def test_a_cut_stream_breaks_after_its_pieces(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(CutStream(("one", "two")))
    async with await stream(client) as events:
        seen = [await anext(events) for _ in range(3)]
        with pytest.raises(openai.APIConnectionError):
            await anext(events)
    assert text_of(seen) == "onetwo"
    assert server.disconnects == 0


@pytest.mark.parametrize("done", [True, False])
async def test_an_empty_stream_has_no_chunks_and_no_error(
    server: FakeOpenAI, client: openai.AsyncOpenAI, done: bool
) -> None:
    server.enqueue(EmptyStream(done))
    assert await chunks(client) == []


@pytest.mark.parametrize(("code", "seen"), [("server_error", "server_error"), (502, "502")])
async def test_an_error_event_is_raised_in_the_middle_of_a_stream(
    server: FakeOpenAI, client: openai.AsyncOpenAI, code: str | int, seen: str
) -> None:
    server.enqueue(StreamError(("one",), "Upstream went away", code))
    with pytest.raises(openai.APIError, match="Upstream went away") as caught:
        await chunks(client)
    assert caught.value.code == seen
    assert not isinstance(caught.value, openai.APIStatusError)


# Refusals


async def test_requests_are_kept_as_they_came(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    await chunks(client, extra_headers={"X-Title": "Test"})
    kept = server.requests[0]
    assert (kept.path, kept.headers["x-title"]) == ("/v1/chat/completions", "Test")
    assert kept.body["messages"] == HELLO
    assert kept.body_bytes == int(kept.headers["content-length"])


async def test_refused_requests_are_kept_and_use_up_no_reply(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("scripted",)))
    await refusal(client, [])
    assert text_of(await chunks(client)) == "scripted"
    assert [refused.status for refused in server.refused] == [400]
    assert len(server.requests) == 2


async def test_replies_are_given_in_order_and_then_the_default(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("first",)), Text(("second",)))
    server.default = lambda request: Text((request.body["model"],))
    said = [text_of(await chunks(client)) for _ in range(3)]
    assert said == ["first", "second", "known"]


async def test_one_connection_serves_many_requests(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    peers = set()
    for _ in range(3):
        async with await stream(client) as events:
            peers.add(events.response.extensions["network_stream"].get_extra_info("client_addr"))
            assert [chunk async for chunk in events]
    assert len(peers) == 1


async def test_waiting_for_requests_ends_with_the_last_one_wanted(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    waiting = asyncio.ensure_future(server.wait_for_requests(2))
    await chunks(client)
    assert not waiting.done()
    await chunks(client)
    assert len(await waiting) == 2


async def test_a_client_that_leaves_in_the_middle_of_a_stream_is_counted(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Text(("one", "two"), gate=asyncio.Event()))
    async with await stream(client) as events:
        assert text_of([await anext(events), await anext(events)]) == "one"
    await server.wait_for_disconnects(1)
    assert server.disconnects == 1


async def test_a_client_that_leaves_without_an_answer_is_counted(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    server.enqueue(Hang())
    reading = asyncio.ensure_future(chunks(client))
    await server.wait_for_requests(1)
    reading.cancel()
    await server.wait_for_disconnects(1)
    assert server.disconnects == 1
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_a_client_that_reads_to_the_end_is_not_counted(
    server: FakeOpenAI, client: openai.AsyncOpenAI
) -> None:
    await chunks(client)
    await client.close()
    async with client_of(server) as other:
        await chunks(other)
    assert server.disconnects == 0


@pytest.mark.parametrize("reply", [Hang(), Text(("one", "two"), gate=asyncio.Event())])
async def test_closing_the_server_ends_an_unfinished_answer(reply: Reply) -> None:
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(FakeOpenAI())
        server.enqueue(reply)
        client = client_of(server)
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
        async with FakeOpenAI(default=broken) as server, client_of(server) as client:
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
