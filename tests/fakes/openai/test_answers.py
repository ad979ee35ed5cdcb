"""The answers of the fake server, read by the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from tests.fakes.openai.client import HELLO, TWO_CALLS, Sdk, chunks, post, stream, text_of
from tests.fakes.openai.script import Text, ToolCalls, Usage
from tests.fakes.openai.server import FakeOpenAI


async def test_the_default_reply_echoes_the_last_user_message_in_pieces(client: Sdk) -> None:
    received = await chunks(client)
    assert text_of(received) == "You said: hello"
    assert len(received) > 3


async def test_a_text_reply_arrives_piece_by_piece(client: Sdk) -> None:
    client.server.enqueue(Text(("Hel", "lo ", "✓")))
    received = await chunks(client)
    contents = [chunk.choices[0].delta.content for chunk in received]
    assert contents == ["", "Hel", "lo ", "✓", None]


async def test_the_first_delta_has_the_role_and_the_last_the_finish_reason(client: Sdk) -> None:
    client.server.enqueue(Text(("a",), finish_reason="length"))
    received = await chunks(client)
    assert received[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in received] == [None, None, "length"]


async def test_all_chunks_of_a_stream_share_one_identity(client: Sdk) -> None:
    received = await chunks(client)
    assert {(c.id, c.object, c.model) for c in received} == {
        ("chatcmpl-1", "chat.completion.chunk", "known")
    }


async def test_reasoning_comes_before_the_text(client: Sdk) -> None:
    client.server.enqueue(Text(("yes",), reasoning=("hm", "m")))
    received = await chunks(client)
    extras = [chunk.choices[0].delta.model_extra or {} for chunk in received]
    assert [extra.get("reasoning_content") for extra in extras] == [None, "hm", "m", None, None]


async def test_tool_calls_reassemble_from_their_interleaved_fragments(client: Sdk) -> None:
    client.server.enqueue(ToolCalls(TWO_CALLS, fragment=5))
    arguments = {0: "", 1: ""}
    for chunk in await chunks(client):
        for part in chunk.choices[0].delta.tool_calls or []:
            assert part.function is not None
            arguments[part.index] += part.function.arguments or ""
    assert arguments == {0: TWO_CALLS[0].arguments, 1: TWO_CALLS[1].arguments}


async def test_only_the_first_fragment_names_its_call(client: Sdk) -> None:
    client.server.enqueue(ToolCalls(TWO_CALLS, fragment=5))
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


async def test_text_before_tool_calls_is_sent_first(client: Sdk) -> None:
    client.server.enqueue(ToolCalls(TWO_CALLS[:1], pieces=("Let me ", "look.")))
    received = await chunks(client)
    assert text_of(received) == "Let me look."
    assert received[1].choices[0].delta.content == "Let me "
    assert received[-1].choices[0].finish_reason == "tool_calls"


async def test_a_request_without_stream_gets_a_whole_completion(client: Sdk) -> None:
    client.server.enqueue(Text(("Hel", "lo"), Usage(10, 2, 4)))
    create = cast(Any, client.chat.completions.create)
    completion = await create(model="known", messages=HELLO)
    assert completion.object == "chat.completion"
    assert completion.choices[0].message.content == "Hello"
    assert completion.usage.total_tokens == 12


async def test_a_request_without_stream_gets_whole_tool_calls(client: Sdk) -> None:
    client.server.enqueue(ToolCalls(TWO_CALLS))
    create = cast(Any, client.chat.completions.create)
    message = (await create(model="known", messages=HELLO)).choices[0].message
    assert message.content is None
    assert [call.function.arguments for call in message.tool_calls] == [
        call.arguments for call in TWO_CALLS
    ]


async def test_usage_with_cached_tokens_comes_in_a_last_chunk_without_choices(client: Sdk) -> None:
    client.server.enqueue(Text(("a",), Usage(100, 7, cached_tokens=64)))
    *others, last = await chunks(client, stream_options={"include_usage": True})
    assert all(chunk.usage is None for chunk in others)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.prompt_tokens_details is not None
    assert (last.usage.total_tokens, last.usage.prompt_tokens_details.cached_tokens) == (107, 64)


async def test_usage_is_not_sent_unasked(server: FakeOpenAI, client: Sdk) -> None:
    server.enqueue(Text(("a",), Usage(1, 1)))
    assert all(chunk.usage is None for chunk in await chunks(client))


async def test_usage_not_scripted_is_a_quarter_of_the_body(client: Sdk) -> None:
    received = await chunks(client, stream_options={"include_usage": True})
    assert received[-1].usage is not None
    assert received[-1].usage.prompt_tokens == client.server.requests[0].body_bytes // 4


async def test_comment_lines_do_not_reach_the_reader(client: Sdk) -> None:
    client.server.enqueue(Text(("a", "b"), comments=True), Text(("a", "b")))
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


async def test_a_gate_holds_the_stream_after_the_first_piece(client: Sdk) -> None:
    gate = asyncio.Event()
    client.server.enqueue(Text(("one", "two"), gate=gate))
    async with await stream(client) as events:
        seen = [await anext(events), await anext(events)]
        following = asyncio.ensure_future(anext(events))
        # A second exchange proves that time has passed without the third chunk.
        await client.models.list()
        assert not following.done()
        gate.set()
        assert (await following).choices[0].delta.content == "two"
    assert text_of(seen) == "one"


async def test_a_gate_holds_tool_calls_in_the_middle(client: Sdk) -> None:
    gate = asyncio.Event()
    client.server.enqueue(ToolCalls(TWO_CALLS, gate=gate))
    async with await stream(client) as events:
        await anext(events)
        held = await anext(events)
        assert held.choices[0].delta.tool_calls is not None
        gate.set()
        assert len([chunk async for chunk in events]) > 2
