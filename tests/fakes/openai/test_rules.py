"""What the fake server refuses, seen through the real SDK."""

from __future__ import annotations

import httpx2
import openai
import pytest

from tests.fakes.openai.client import (
    HELLO,
    Sdk,
    answering,
    asking,
    chunks,
    function,
    post,
    refusal,
    stream,
)
from tests.fakes.openai.script import JsonObject
from tests.fakes.openai.server import FakeOpenAI


async def test_a_wrong_key_is_refused(server: FakeOpenAI) -> None:
    async with Sdk(server, api_key="wrong") as stranger:
        with pytest.raises(openai.AuthenticationError) as caught:
            await stream(stranger)
    assert caught.value.code == "invalid_api_key"


async def test_a_missing_key_is_refused(server: FakeOpenAI) -> None:
    async with httpx2.AsyncClient(timeout=60) as plain:
        response = await plain.get(f"{server.base_url}/models")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_api_key")


async def test_an_unknown_model_is_refused(client: Sdk) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        await stream(client, model="unheard-of")
    assert caught.value.code == "model_not_found"


async def test_an_unknown_path_is_refused(client: Sdk) -> None:
    with pytest.raises(openai.NotFoundError, match="Invalid URL"):
        await client.embeddings.create(model="known", input="x")


@pytest.mark.parametrize("content", [b"{not json", b"[]", b""])
async def test_a_body_that_is_no_json_object_is_refused(server: FakeOpenAI, content: bytes) -> None:
    response = await post(server, content)
    assert response.status_code == 400
    assert "parse the JSON body" in response.json()["error"]["message"]
    assert server.refused[0].request.body == {}


@pytest.mark.parametrize(
    ("messages", "wording"),
    [
        ([], "empty array"),
        (None, "Missing required parameter: 'messages'"),
        ([{"role": "robot", "content": "x"}], "Invalid value: 'robot'"),
        ([{"content": "x"}], "Missing required parameter: 'messages[0].role'"),
        ([{"role": "user", "content": None}], "expected a string, got null"),
        ([{"role": "assistant", "content": None}], "expected a string, got null"),
        ([{"role": "user", "content": 7}], "Invalid type for 'messages[0].content'"),
        ([{"role": "user", "content": []}], "Invalid 'messages[0].content': empty array"),
        ([{"role": "assistant", "content": "x", "tool_calls": []}], "empty array"),
    ],
)
async def test_malformed_messages_are_refused(
    client: Sdk, messages: list[JsonObject], wording: str
) -> None:
    assert wording in (await refusal(client, messages)).message


@pytest.mark.parametrize(
    ("messages", "wording"),
    [
        ([answering("a")], "must be a response to a preceeding message"),
        ([asking("a"), answering("b")], "'tool_call_id' of 'b' not found"),
        ([asking("a"), {"role": "tool", "content": "x"}], "must have a 'tool_call_id'"),
        ([asking("a"), *HELLO, answering("a")], "must be followed by tool messages"),
        ([asking("a", "b"), answering("a"), *HELLO], "response messages: b"),
        ([asking("a")], "must be followed by tool messages"),
        ([asking("a"), answering("a"), *HELLO, answering("a")], "preceeding message"),
    ],
)
async def test_tool_messages_that_do_not_pair_with_calls_are_refused(
    client: Sdk, messages: list[JsonObject], wording: str
) -> None:
    assert wording in (await refusal(client, messages)).message


async def test_tool_messages_that_pair_in_any_order_are_accepted(client: Sdk) -> None:
    messages = [*HELLO, asking("a", "b"), answering("b"), answering("a"), *HELLO, asking("a")]
    assert await chunks(client, [*messages, answering("a")])


async def test_a_dotted_function_name_in_tools_is_refused(client: Sdk) -> None:
    error = await refusal(client, tools=[function("fine"), function("web.search")])
    assert (error.code, error.param) == ("invalid_value", "tools[1].function.name")


async def test_a_dotted_function_name_in_a_past_call_is_refused(client: Sdk) -> None:
    error = await refusal(client, [asking("a", name="web.search"), answering("a")])
    assert error.param == "messages[0].tool_calls[0].function.name"


async def test_a_function_name_of_65_characters_is_refused(client: Sdk) -> None:
    assert (await refusal(client, tools=[function("n" * 65)])).code == "string_above_max_length"


@pytest.mark.parametrize(
    ("tools", "wording"),
    [
        ([function("a"), function("a")], "Tool names must be unique"),
        ([function("a", parameters={"type": "string"})], "got 'type: \"string\"'"),
        ([function("a", parameters=None)], "got 'type: \"None\"'"),
        ([function("a", parameters={"type": "object"})], "missing properties"),
        ([{"type": "function"}], "Missing required parameter: 'tools[0].function'"),
        ([], "Invalid 'tools': empty array"),
    ],
)
async def test_malformed_tools_are_refused(
    client: Sdk, tools: list[JsonObject], wording: str
) -> None:
    assert wording in (await refusal(client, tools=tools)).message


async def test_stream_options_without_stream_are_refused(client: Sdk) -> None:
    error = await refusal(client, stream=False, stream_options={"include_usage": True})
    assert error.param == "stream_options"


async def test_unknown_body_keys_are_tolerated(client: Sdk) -> None:
    assert await chunks(client, extra_body={"provider": {"sort": "price"}})


# Bookkeeping


async def test_known_models_are_listed(client: Sdk) -> None:
    assert [model.id async for model in client.models.list()] == ["known"]
