"""Asks the fake server as programs do: with the SDK, and in plain HTTP."""

from __future__ import annotations

from typing import Any, cast

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from tests.fakes.openai.script import Call, JsonObject
from tests.fakes.openai.server import FakeOpenAI

HELLO: list[JsonObject] = [{"role": "user", "content": "hello"}]


TWO_CALLS = (
    Call("call_a", "weather", '{"city": "Oslo", "days": 3}'),
    Call("call_b", "clock", '{"zone": "UTC"}'),
)


class Sdk(openai.AsyncOpenAI):
    """The SDK as a client of the fake server, which tries once."""

    def __init__(self, server: FakeOpenAI, api_key: str = "right") -> None:
        super().__init__(base_url=server.base_url, api_key=api_key, max_retries=0)
        self.server = server


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
