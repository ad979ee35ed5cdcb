"""What single servers send, byte for byte, through the real SDK from a real socket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.errors import (
    AnswerBroken,
    AnswerEmpty,
    AnswerFiltered,
    AnswerRefused,
    ModelError,
    OutputUsedUp,
    ReasoningOnly,
)
from agent.model import ModelReply, ModelRequest, Piece, ReasoningPiece, ResetPiece, TextPiece
from agent.model_settings import ModelSettings
from agent.models.learned import Learned
from agent.models.openai import OpenAIModel
from tests.fakes.raw_http import raw_http

HELLO = ModelRequest([{"role": "user", "content": "hello"}])
DONE = b"data: [DONE]\n\n"


async def ask(*parts: bytes, kind: str = "text/event-stream", **given: Any) -> list[Piece]:
    async with raw_http(*parts, content_type=kind) as url:
        return await answer_of(url, **given)


async def answer_of(url: str, learned: Learned | None = None, **given: Any) -> list[Piece]:
    settings = ModelSettings.model_validate({"base_url": url, "api_key": "k", **given})
    model = OpenAIModel("known", settings, learned)
    try:
        return [piece async for piece in model.stream(HELLO)]
    finally:
        await model.aclose()


async def reply_to(*parts: bytes, kind: str = "text/event-stream") -> ModelReply:
    reply = (await ask(*parts, kind=kind))[-1]
    assert isinstance(reply, ModelReply)
    return reply


async def calls_in(*parts: bytes) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in (await reply_to(*parts)).calls]


# Calls


async def test_gemini_s_parallel_calls_all_have_index_0_and_the_first_is_signed() -> None:
    first = (
        b'data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"extra_content":{"google":'
        b'{"thought_signature":"c2lnbmF0dXJl"}},"function":{"arguments":"{\\"city\\":\\"Paris\\"}",'
        b'"name":"weather"},"id":"function-call-1","index":0,"type":"function"}]},"index":0}],'
        b'"created":1,"id":"r","model":"gemini-3-pro","object":"chat.completion.chunk"}\n\n'
    )
    second = (
        b'data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"function":{"arguments":'
        b'"{\\"city\\":\\"Rome\\"}","name":"weather"},"id":"function-call-2","index":0,"type":'
        b'"function"}]},"finish_reason":"tool_calls","index":0}],"created":1,"id":"r","model":'
        b'"gemini-3-pro","object":"chat.completion.chunk"}\n\n'
    )
    reply = await reply_to(first, second, DONE)
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("function-call-1", '{"city":"Paris"}'),
        ("function-call-2", '{"city":"Rome"}'),
    ]
    signed = {"extra_content": {"google": {"thought_signature": "c2lnbmF0dXJl"}}}
    assert [call.extra for call in reply.calls] == [signed, {}]


async def test_tgi_sends_its_call_as_an_object_with_arguments_in_fragments() -> None:
    named = (
        b'data:{"object":"chat.completion.chunk","id":"","created":1,"model":"m","choices":[{"index"'
        b':0,"delta":{"role":"assistant","tool_calls":{"index":0,"id":"","type":"function",'
        b'"function":{"name":"weather","arguments":"{\\"city\\":"}}},"finish_reason":null}]}\n\n'
    )
    rest = (
        b'data:{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":{"index":0,"id":"",'
        b'"type":"function","function":{"name":null,"arguments":"\\"Paris\\"}"}}},'
        b'"finish_reason":"eos_token"}]}\n\n'
    )
    ((call_id, *call),) = await calls_in(named, rest)
    assert call_id.startswith("call_")
    assert call == ["weather", '{"city":"Paris"}']


async def test_arguments_may_be_an_object() -> None:
    body = (
        b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"weather","arguments":'
        b'{"city":"Paris"}}}]},"finish_reason":"stop"}]}\n\n'
    )
    assert [call[1:] for call in await calls_in(body)] == [("weather", '{"city":"Paris"}')]


async def test_a_fragment_without_an_index_goes_on_with_the_last_call() -> None:
    parts = (
        b'{"id":"a","function":{"name":"one","arguments":"{\\"x\\""}}',
        b'{"function":{"arguments":":1}"}}',
        b'{"id":"b","function":{"name":"two","arguments":"{"}}',
        b'{"id":"a","function":{"arguments":" "}}',
        b'{"id":"b","function":{"arguments":"}"}}',
    )
    events = [b'data: {"choices":[{"delta":{"tool_calls":[%b]}}]}\n\n' % part for part in parts]
    assert await calls_in(*events, DONE) == [("a", "one", '{"x":1} '), ("b", "two", "{}")]


async def test_equal_ids_within_a_step_are_made_unique() -> None:
    call = b'{"id":"call_0","index":%d,"function":{"name":"one","arguments":"{}"}}'
    body = b'data: {"choices":[{"delta":{"tool_calls":[%b,%b,%b]},"finish_reason":"stop"}]}\n\n'
    found = await calls_in(body % (call % 0, call % 1, call % 2))
    assert [one[0] for one in found] == ["call_0", "call_0_2", "call_0_3"]


async def test_a_name_and_an_id_in_every_fragment_are_still_one_call() -> None:
    part = b'{"index":0,"id":"a","function":{"name":"one","arguments":"%b"}}'
    events = [
        b'data: {"choices":[{"delta":{"tool_calls":[%b]}}]}\n\n' % (part % text)
        for text in (b'{\\"x\\"', b":", b"1}")
    ]
    assert await calls_in(*events, DONE) == [("a", "one", '{"x":1}')]


@pytest.mark.parametrize(
    "chunk",
    [b'{"choices":[{"delta":{"tool_calls":"weather"}}]}', b'{"choices":[7]}', b'{"choices":7}'],
)
async def test_what_is_not_plain_breaks_the_answer(chunk: bytes) -> None:
    with pytest.raises(AnswerBroken):
        await ask(b"data: %b\n\n" % chunk, DONE)


# Text and what carries it


SAID = b'{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}'
WHOLE = b'{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}'


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", WHOLE),
        ("text/event-stream", WHOLE),
        ("application/json", b"data: " + SAID + b"\n\n" + DONE),
        ("text/plain; charset=utf-8", b'{\n "choices": [\n  {"message": {"content": "hi"}}\n ]\n}'),
        ("application/x-ndjson", SAID + b"\n" + SAID.replace(b"hi", b"")),
        ("text/event-stream", b"\xef\xbb\xbfdata: " + SAID + b"\n\n"),
        ("text/event-stream", b"data: " + SAID + b"\r\rdata: [DONE]\r\r"),
        ("text/event-stream", b'event: x\ndata: {"choices":\ndata: [{"text":"hi"}]}\n\n' + DONE),
        ("text/event-stream", b'data: {"choices":["hi"]}\n\n' + DONE),
        ("text/event-stream", b'data: {"choices":{"0":{"text":"hi"}}}\n\n' + DONE),
        ("text/event-stream", b'data: {"choices":[{"delta":"hi","index":"0"}]}\n\n' + DONE),
        (
            "text/event-stream",
            b'data: {"choices":[{"delta":{"content":[{"type":"text","text":"h"},"i"]}}]}\n\n'
            + DONE,
        ),
    ],
    ids=[
        "JSON as text/plain",
        "JSON as a stream",
        "a stream as JSON",
        "JSON in lines, without a finish_reason",
        "a chunk per line",
        "byte order mark",
        "carriage returns",
        "several data lines",
        "choices as strings",
        "choices as a dict",
        "delta as a string",
        "content as parts",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
async def test_the_text_is_understood_however_it_is_wrapped(
    kind: str, body: bytes, size: int
) -> None:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    assert (await reply_to(*parts, kind=kind)).text == "hi"


async def test_of_two_choices_the_first_counts() -> None:
    other = b'{"index":1,"delta":{"content":"other"},"finish_reason":"length"}'
    first = b'{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}'
    reply = await reply_to(
        b'data: {"choices":[%b,%b]}\n\n' % (first, other), b'data: {"choices":[%b]}\n\n' % other
    )
    assert (reply.text, reply.finish_reason) == ("hi", "stop")


async def test_perplexity_repeats_the_whole_message_beside_each_delta() -> None:
    chunk = (
        b'data: {"choices":[{"index":0,"finish_reason":%b,"message":{"role":"assistant","content":'
        b'"%b"},"delta":{"role":"assistant","content":"%b"}}]}\n\n'
    )
    parts = [chunk % (b"null", b"h", b"h"), chunk % (b"null", b"hi", b"i")]
    last = b'data: {"choices":[{"finish_reason":"stop","message":{"content":"hi"},"delta":{}}]}\n\n'
    assert (await reply_to(*parts, last)).text == "hi"


async def test_azure_s_chunks_of_its_filter_say_nothing() -> None:
    opening = (
        b'data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":'
        b'[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}\n\n'
    )
    later = b'data: {"choices":[{"content_filter_results":{},"finish_reason":null,"index":0}]}\n\n'
    reply = await reply_to(opening, b"data: " + SAID + b"\n\n", later)
    assert (reply.text, reply.model) == ("hi", "known")


async def test_halves_of_an_emoji_do_not_spoil_an_answer() -> None:
    text = b'data: {"choices":[{"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n'
    assert (await reply_to(text)).text == "a\ufffd"


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (b'{"prompt_tokens":"9","completion_tokens":2.0}', {"prompt": 9, "completion": 2}),
        (b'{"input_tokens":9,"output_tokens":2}', {"prompt": 9, "completion": 2}),
        (b'{"prompt_tokens":9,"prompt_cache_hit_tokens":4}', {"prompt": 9, "cached": 4}),
        (b'{"prompt_tokens":-1,"completion_tokens":true,"prompt_tokens_details":[]}', {}),
        (b'{"prompt_tokens":1e300,"completion_tokens":null}', {}),
        (b'"9 tokens"', {}),
    ],
    ids=["texts", "Anthropic", "DeepSeek", "nonsense", "too many", "a text"],
)
async def test_odd_usage_is_read_as_far_as_it_is_plain(usage: bytes, read: dict[str, int]) -> None:
    reply = await reply_to(b"data: " + SAID + b"\n\n", b'data: {"usage":%b}\n\n' % usage)
    assert reply.usage == {f"{name}_tokens": value for name, value in read.items()}


async def test_openrouter_reports_an_error_inside_the_stream() -> None:
    with pytest.raises(AnswerBroken, match="Provider disconnected"):
        await ask(
            b": OPENROUTER PROCESSING\n\n",
            b'data: {"id":"gen-1","object":"chat.completion.chunk","error":{"code":"server_error",'
            b'"message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":'
            b'{"content":""},"finish_reason":"error"}]}\n\n',
        )


async def test_llama_cpp_reports_an_error_in_a_line_of_its_own() -> None:
    with pytest.raises(AnswerBroken, match="slot unavailable"):
        await ask(b'error: {"code":500,"message":"slot unavailable","type":"server_error"}\n\n')


# Reasoning


async def test_deepseek_s_reasoning_is_no_text_and_comes_back_whole() -> None:
    pieces = await ask(
        b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,'
        b'"reasoning_content":"The "}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"user"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"hi","reasoning_content":null},'
        b'"finish_reason":"stop"}]}\n\n',
        DONE,
    )
    assert pieces[:-1] == [ReasoningPiece("The "), ReasoningPiece("user"), TextPiece("hi")]
    assert isinstance(pieces[-1], ModelReply)
    assert pieces[-1].extra == {"reasoning_content": "The user"}


async def test_magistral_s_parts_of_thinking_are_no_text() -> None:
    pieces = await ask(
        b'data: {"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":'
        b'"text","text":"hm"}]}]}}]}\n\n',
        b"data: " + SAID + b"\n\n",
    )
    assert pieces[:-1] == [ReasoningPiece("hm"), TextPiece("hi")]


async def test_a_qwen_on_vllm_without_a_parser_closes_reasoning_that_nothing_opened() -> None:
    words = ["Okay, the user greets.", "\n</th", "ink>", "\n\nhi"]
    parts = [
        b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % word.replace("\n", "\\n").encode()
        for word in words
    ]
    learned = Learned()
    async with raw_http(*parts, DONE) as url:
        first, second = [await answer_of(url, learned) for _ in range(2)]
    assert sum(isinstance(piece, ResetPiece) for piece in first) == 1
    assert not any(isinstance(piece, ResetPiece) for piece in second)
    for pieces in (first, second):
        assert isinstance(pieces[-1], ModelReply)
        assert pieces[-1].text == "hi"
    (lesson,) = learned.lessons()
    assert "held back until the closing tag" in str(lesson)


async def test_a_model_set_to_open_is_held_back_from_its_first_answer() -> None:
    parts = (
        b'data: {"choices":[{"delta":{"content":"Okay.</think>"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
    )
    pieces = await ask(*parts, DONE, reasoning="open")
    assert pieces[:-1] == [ReasoningPiece("Okay."), TextPiece("hi")]


# Ends that are no plain stop


@pytest.mark.parametrize("cut", [True, False])
async def test_a_finished_answer_needs_no_end_of_its_stream(cut: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"transfer-encoding: chunked\r\n\r\n")
        event = b"data: " + SAID + b"\n\n"
        writer.write(b"%x\r\n%b\r\n" % (len(event), event))
        await writer.drain()
        if not cut:
            await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        pieces = await answer_of(url, read_timeout=0.5)
    assert pieces[0] == TextPiece("hi")
    assert isinstance(pieces[-1], ModelReply)


def ended(finish: str, **said: str) -> bytes:
    fields = ",".join(f'"{name}":"{text}"' for name, text in said.items())
    return b'data: {"choices":[{"delta":{%b},"finish_reason":"%b"}]}\n\n' % (
        fields.encode(),
        finish.encode(),
    )


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (ended("length"), OutputUsedUp),
        (ended("MAX_TOKENS"), OutputUsedUp),
        (ended("length", reasoning_content="hm"), OutputUsedUp),
        (ended("content_filter"), AnswerFiltered),
        (ended("SAFETY"), AnswerFiltered),
        (ended("sensitive"), AnswerFiltered),
        (ended("stop", refusal="I can't help with that."), AnswerRefused),
        (ended("refusal"), AnswerRefused),
        (ended("stop", reasoning_content="hm"), ReasoningOnly),
        (ended("stop", content="<think>hm"), ReasoningOnly),
        (ended("stop"), AnswerEmpty),
        (ended("stop", content=" "), AnswerEmpty),
        (ended("insufficient_system_resource", content="ha"), AnswerBroken),
        (ended("function_call_filter: MALFORMED_FUNCTION_CALL"), AnswerBroken),
        (ended("abort", content="ha"), AnswerBroken),
    ],
)
async def test_an_end_without_an_answer_has_its_own_error(
    end: bytes, kind: type[ModelError]
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(end, DONE)
    assert type(caught.value) is kind
    assert kind.sentence != ModelError.sentence


@pytest.mark.parametrize(
    ("finish", "read"),
    [("length", "length"), ("model_length", "length"), ("content_filter", "content_filter")],
)
async def test_a_text_that_was_cut_is_an_answer_that_says_so(finish: str, read: str) -> None:
    reply = await reply_to(ended(finish, content="half a"))
    assert (reply.text, reply.finish_reason) == ("half a", read)
