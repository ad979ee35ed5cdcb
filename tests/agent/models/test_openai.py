"""The real SDK against a server on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agent.errors import (
    AccountEmpty,
    AnswerBroken,
    ContextOverflow,
    KeyMissing,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelSlow,
    ModelUnreachable,
    OutputLimit,
    PlanLimit,
    RequestRejected,
    UnknownModel,
)
from agent.model import ModelReply, ModelRequest, Piece, ReasoningPiece, TextPiece, ToolCall
from agent.models.openai import OpenAIModel
from agent.models.retry import RetryingModel
from agent.settings import AgentSettings
from tests.agent.scripted import ECHO
from tests.fakes.openai.script import (
    Call,
    CutStream,
    EmptyStream,
    Failure,
    Hang,
    RateLimited,
    Reply,
    StreamError,
    Text,
    ToolCalls,
    Usage,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.raw_http import raw_http
from tests.kit.clock import rest

KEY = "sk-canary"
HELLO = ModelRequest([{"role": "user", "content": "hello"}])
SOON = {"retry-after-ms": "1"}


@pytest.fixture(autouse=True)
def _no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(api_key=KEY) as fake:
        yield fake


@asynccontextmanager
async def model_at(url: str, key: str = KEY, **settings: Any) -> AsyncIterator[OpenAIModel]:
    values = {"base_url": url, "api_key": key, "retries": 0, **settings}
    model = OpenAIModel("known", AgentSettings.model_validate(values))
    try:
        yield model
    finally:
        await model.aclose()


async def ask(url: str, request: ModelRequest = HELLO, **settings: Any) -> list[Piece]:
    async with model_at(url, **settings) as model:
        return [piece async for piece in model.stream(request)]


async def error_of(url: str, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(url, **settings)
    return caught.value


def reply_of(pieces: list[Piece]) -> ModelReply:
    assert isinstance(pieces[-1], ModelReply)
    return pieces[-1]


# Answers


async def test_the_pieces_come_as_they_were_sent_and_the_whole_reply_last(
    server: FakeOpenAI,
) -> None:
    server.enqueue(Text(("Hel", "lo"), usage=Usage(10, 2, 4), reasoning=("hm",)))
    *pieces, last = await ask(server.base_url)
    assert pieces == [ReasoningPiece("hm"), TextPiece("Hel"), TextPiece("lo")]
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}
    where = {"server": f"{server.base_url}/", "requested": "known"}
    extra = {"reasoning_content": "hm"}
    assert last == ModelReply("known", "Hello", (), usage, "stop", extra, **where)


async def test_a_request_has_its_messages_and_tools_and_asks_for_the_usage(
    server: FakeOpenAI,
) -> None:
    await ask(server.base_url, replace(HELLO, tools=[ECHO.schema()]))
    (request,) = server.requests
    assert request.body["messages"] == HELLO.messages
    assert [tool["function"]["name"] for tool in request.body["tools"]] == ["echo"]
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_a_request_without_tools_does_not_name_them(server: FakeOpenAI) -> None:
    await ask(server.base_url)
    assert "tools" not in server.requests[0].body


async def test_parallel_calls_arrive_whole(server: FakeOpenAI) -> None:
    calls = (Call("a", "one", '{"city":"Oslo"}'), Call("b", "two", "{}"))
    server.enqueue(ToolCalls(calls, pieces=("Let me look.",), fragment=2))
    reply = reply_of(await ask(server.base_url))
    assert reply.calls == (ToolCall("a", "one", '{"city":"Oslo"}'), ToolCall("b", "two", "{}"))
    assert (reply.text, reply.finish_reason) == ("Let me look.", "tool_calls")


async def test_comments_between_the_events_are_passed_over(server: FakeOpenAI) -> None:
    server.enqueue(Text(("a", "b"), comments=True))
    assert reply_of(await ask(server.base_url)).text == "ab"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\u0085", "\x0b", "\r\n"])
async def test_a_sign_that_only_looks_like_the_end_of_a_line_ends_none(
    server: FakeOpenAI, sign: str
) -> None:
    server.enqueue(Text((f"one{sign}two",)))
    assert reply_of(await ask(server.base_url)).text == f"one{sign}two"


async def test_a_character_whose_bytes_come_in_different_chunks_is_whole() -> None:
    event = 'data: {"choices":[{"delta":{"content":"a✓𝄞z"},"finish_reason":"stop"}]}\n\n'.encode()
    async with raw_http(*(event[at : at + 1] for at in range(len(event)))) as url:
        pieces = await ask(url)
    assert pieces[0] == TextPiece("a✓𝄞z")


async def test_lines_may_end_with_a_carriage_return_also_between_two_chunks() -> None:
    said = b'data: {"choices":[{"delta":{"content":"hi"}}]}'
    async with raw_http(said + b"\r", b"\n\r\n", b"data: [DONE]\r\n\r\n") as url:
        assert reply_of(await ask(url)).text == "hi"


async def test_a_last_line_without_its_end_counts() -> None:
    async with raw_http(
        b'data: {"choices":[{"delta":{"content":"hi"}}]}\n', b"data: [DONE]"
    ) as url:
        assert reply_of(await ask(url)).text == "hi"


async def test_a_server_that_answers_plain_json_although_a_stream_was_asked_is_understood() -> None:
    call = b'{"id":"a","function":{"name":"one","arguments":"{}"}}'
    body = b'{"choices":[{"message":{"content":"hi","tool_calls":[%b]},"finish_reason":"stop"}]}'
    async with raw_http(body % call, content_type="application/json") as url:
        pieces = await ask(url)
    assert pieces[0] == TextPiece("hi")
    assert reply_of(pieces).calls == (ToolCall("a", "one", "{}"),)


# Errors


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"<html>", b"", b"{}"], ids=str)
async def test_json_that_is_no_completion_is_a_broken_answer(body: bytes) -> None:
    async with raw_http(body, content_type="application/json") as url:
        assert type(await error_of(url)) is AnswerBroken


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Failure(401, "no", "invalid_api_key"), KeyRefused),
        (Failure(403, "no"), KeyRefused),
        (Failure(404, "no", "model_not_found"), UnknownModel),
        (Failure(400, "no"), RequestRejected),
        (Failure(422, "no"), RequestRejected),
        (Failure(400, "max_tokens is too large: 100000."), OutputLimit),
        (Failure(402, "Insufficient Balance"), AccountEmpty),
        (Failure(429, "You exceeded your current quota.", "insufficient_quota"), AccountEmpty),
        (Failure(429, "daily token limit reached"), PlanLimit),
        (Failure(413, "tokens per minute: Limit 8000", "rate_limit_exceeded"), ContextOverflow),
        (context_length_exceeded(), ContextOverflow),
        (context_length_exceeded(with_code=False), ContextOverflow),
        (replace(context_length_exceeded(with_code=False), code=400), ContextOverflow),
        (Failure(413, "prompt is too long"), ContextOverflow),
        (Failure(500, "the context size is exceeded"), ContextOverflow),
        (Failure(500, "no"), ModelDown),
        (Failure(408, "no"), ModelDown),
        (Failure(529, "overloaded"), ModelDown),
        (RateLimited(message="token limit per minute reached"), ModelBusy),
        (CutStream(("half",)), AnswerBroken),
        (EmptyStream(), AnswerBroken),
        (EmptyStream(done=True), AnswerBroken),
        (StreamError(("half",)), AnswerBroken),
        (StreamError((), "too long", "context_length_exceeded"), ContextOverflow),
        (StreamError((), "token limit per minute reached", 429), ModelBusy),
    ],
    ids=str,
)
async def test_every_failure_has_its_own_error(
    server: FakeOpenAI, reply: Reply, kind: type[ModelError]
) -> None:
    server.enqueue(reply)
    assert type(await error_of(server.base_url)) is kind


@pytest.mark.parametrize("seconds", [7.0, None])
async def test_a_busy_server_may_say_when_to_come_back(
    server: FakeOpenAI, seconds: float | None
) -> None:
    server.enqueue(RateLimited(seconds))
    busy = await error_of(server.base_url)
    assert isinstance(busy, ModelBusy)
    assert busy.retry_after == seconds


async def test_a_server_that_is_down_may_say_it_in_milliseconds(server: FakeOpenAI) -> None:
    server.enqueue(Failure(503, "no", headers=SOON))
    assert (await error_of(server.base_url)).retry_after == 0.001


@pytest.mark.parametrize("reply", [Failure(503, "no", headers=SOON), CutStream(("half",))], ids=str)
async def test_a_model_alone_asks_once(server: FakeOpenAI, reply: Reply) -> None:
    server.enqueue(reply)
    await error_of(server.base_url, retries=2)
    assert len(server.requests) == 1


async def test_a_server_that_is_not_there_is_unreachable(server: FakeOpenAI) -> None:
    async with FakeOpenAI() as gone:
        url = gone.base_url
    assert type(await error_of(url)) is ModelUnreachable


async def test_a_server_that_never_answers_takes_too_long_and_is_asked_once(
    server: FakeOpenAI,
) -> None:
    server.enqueue(Hang(), Text(("late",)))
    async with model_at(server.base_url, read_timeout=0.02) as model:
        with pytest.raises(ModelSlow) as caught:
            [piece async for piece in RetryingModel(model, 3).stream(HELLO)]
    assert "too long" in caught.value.sentence
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Failure(429, "Please try again in 7.5s."),
        Failure(429, "busy", headers={"x-ratelimit-reset-tokens": "7.5s"}),
        StreamError((), "Rate limit reached. Please try again in 7.5s.", 429),
    ],
    ids=["in words", "when the limit is lifted", "inside the stream"],
)
async def test_a_busy_server_may_say_it_elsewhere(server: FakeOpenAI, reply: Reply) -> None:
    server.enqueue(reply)
    busy = await error_of(server.base_url)
    assert (type(busy), busy.retry_after) == (ModelBusy, 7.5)


async def test_an_answer_whose_head_alone_comes_takes_too_long_too() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as silent:
        url = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/v1"
        assert type(await error_of(url, read_timeout=0.1)) is ModelSlow


@pytest.mark.parametrize("apart", [True, False])
async def test_a_stream_whose_framing_breaks_is_a_broken_answer(apart: bool) -> None:
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"1\r\n\n\r\n")
        if apart:
            await writer.drain()
            await rest()
        writer.write(b"no size\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as broken:
        url = f"http://127.0.0.1:{broken.sockets[0].getsockname()[1]}/v1"
        assert type(await error_of(url, read_timeout=0.5)) is AnswerBroken


# The key


@pytest.mark.parametrize(
    "reply",
    [
        Failure(401, f"Incorrect API key provided: {KEY}"),
        Failure(500, f"failed for {KEY}"),
        RateLimited(message=f"too many requests of {KEY}"),
        StreamError((), f"Incorrect API key provided: {KEY}"),
        StreamError((), f"prompt too long for {KEY}"),
    ],
    ids=["401", "500", "429", "inside the stream", "overflow inside the stream"],
)
async def test_the_key_is_in_no_error_s_text(server: FakeOpenAI, reply: Reply) -> None:
    server.enqueue(reply)
    error = await error_of(server.base_url)
    assert KEY not in f"{error} {error!r} {error.args}"
    assert "***" in str(error)


async def test_the_key_is_not_in_the_text_of_a_broken_line() -> None:
    async with raw_http(b"data: your key is " + KEY.encode()) as url:
        error = await error_of(url)
    assert KEY not in str(error)


async def test_no_key_and_no_server_is_an_error_that_names_the_settings() -> None:
    with pytest.raises(KeyMissing, match=r"TAPEWAY_AGENT__API_KEY.*TAPEWAY_AGENT__BASE_URL"):
        OpenAIModel("known", AgentSettings())


async def test_a_server_of_one_s_own_needs_no_key() -> None:
    async with FakeOpenAI() as own:
        assert reply_of(await ask(own.base_url, key="")).text == "You said: hello"


async def test_key_and_server_may_come_from_openai_s_own_variables(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    assert reply_of(await ask("", key="")).text == "You said: hello"


@pytest.mark.parametrize("key", ["sk-can\nary", "sk-canäry"])
async def test_a_key_that_fits_no_header_is_an_error_at_the_start_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY") as caught:
        OpenAIModel("known", AgentSettings())
    assert "sk-" not in str(caught.value)
