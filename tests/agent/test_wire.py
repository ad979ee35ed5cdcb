"""What providers put beside messages and calls goes back to them, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.errors import RequestRejected
from agent.loop import as_prompt
from agent.model import ChatModel, ModelReply, ToolCall
from agent.models.registry import make_model
from agent.settings import AgentSettings
from agent.simple import answer
from agent.testing import new_tape
from agent.wire import SIGNATURE_FILLER, attach, wire_of, without_wire
from tape.context import to_messages
from tape.entry import message
from tape.handle import Tape
from tests.agent.scripted import ECHO
from tests.fakes.played_http import Answer, Played, events, played_http, refusal

SIGNATURE = '{"google":{"thought_signature":"CiQBcsjafKcPQPZ1/+2b=="}}'
SAYS = (
    '{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":'
    '{"role":"assistant","content":"Done."},"finish_reason":"stop"}]}'
)
GEMINI_CALLS = (
    '{"choices":[{"delta":{"role":"assistant","tool_calls":[{"extra_content":' + SIGNATURE + ","
    '"function":{"arguments":"{\\"text\\":\\"AA100\\"}","name":"echo"},"id":"function-call-1",'
    '"type":"function"}]},"finish_reason":"tool_calls","index":0}],"created":1763640000,'
    '"model":"gemini-3-pro-preview","object":"chat.completion.chunk"}'
)
GEMINI_WANTS = (
    '[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall'
    ' parts. This is required for tools to work correctly.","status":"INVALID_ARGUMENT"}}]'
)
GEMINI_DOUBTS = (
    '{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}'
)
DEEPSEEK_THINKS = (
    (
        '{"id":"d","object":"chat.completion.chunk","model":"deepseek-v4","choices":[{"index":0,'
        '"delta":{"role":"assistant","content":null,"reasoning_content":"The user "}}]}'
    ),
    (
        '{"id":"d","object":"chat.completion.chunk","model":"deepseek-v4","choices":[{"index":0,'
        '"delta":{"content":null,"reasoning_content":"wants an echo."}}]}'
    ),
)
DEEPSEEK_CALLS = (
    *DEEPSEEK_THINKS,
    (
        '{"id":"d","object":"chat.completion.chunk","model":"deepseek-v4","choices":[{"index":0,'
        '"delta":{"content":"I call. ","reasoning_content":null}}]}'
    ),
    (
        '{"id":"d","object":"chat.completion.chunk","model":"deepseek-v4","choices":[{"index":0,'
        '"delta":{"tool_calls":[{"index":0,"id":"call_00_x","type":"function","function":{"name":"echo"'
        ',"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}'
    ),
)
DEEPSEEK_WANTS = (
    '{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the'
    ' API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}'
)
GROQ_REFUSES = (
    '{"error":{"message":"\'messages.1\' : for \'role:assistant\' the following must be satisfied'
    "[('messages.1' : property 'reasoning_content' is unsupported)]\",\"type\":"
    '"invalid_request_error"}}'
)
PLAIN_CALLS = DEEPSEEK_CALLS[-1]


@pytest.fixture
async def tape() -> AsyncIterator[Tape]:
    made = new_tape()
    yield made
    await made.store.close()


def model_on(server: Played, name: str = "m") -> ChatModel:
    return make_model(
        AgentSettings.model_validate(
            {"model": name, "base_url": server.base_url, "api_key": "k", "retries": 0}
        )
    )


async def ask(tape: Tape, server: Played, text: str = "Echo!", name: str = "m") -> str:
    model = model_on(server, name)
    try:
        return await answer(model, tape, text, tools=[ECHO])
    finally:
        await model.aclose()


def said(server: Played, request: int) -> list[dict[str, Any]]:
    """Return a request's messages, without the system message and the tape's first anchor."""
    found: list[dict[str, Any]] = json.loads(server.bodies[request])["messages"]
    return [one for one in found if not str(one.get("content")).startswith("[Anchor created")]


def gemini_calls() -> Answer:
    return events(GEMINI_CALLS)


async def test_gemini_s_signature_goes_back_with_its_call_in_the_next_step(tape: Tape) -> None:
    async with played_http(gemini_calls(), events(SAYS)) as server:
        assert await ask(tape, server) == "Done."
    called = said(server, 1)[1]
    function = {"name": "echo", "arguments": '{"text":"AA100"}'}
    extra = {"extra_content": json.loads(SIGNATURE)}
    call = {"id": "function-call-1", "type": "function", "function": function, **extra}
    assert called == {"role": "assistant", "content": "", "tool_calls": [call]}
    assert f'"extra_content":{SIGNATURE}'.encode() in server.bodies[1].replace(b": ", b":")


async def test_gemini_s_signature_goes_back_in_later_turns(tape: Tape) -> None:
    async with played_http(gemini_calls(), events(SAYS), events(SAYS)) as server:
        await ask(tape, server)
        await ask(tape, server, "And now?")
    assert said(server, 2)[1] == said(server, 1)[1]


async def test_deepseek_s_step_goes_back_as_the_one_message_that_it_was(tape: Tape) -> None:
    async with played_http(events(*DEEPSEEK_CALLS), events(SAYS), events(SAYS)) as server:
        await ask(tape, server)
        await ask(tape, server, "And now?")
    function = {"name": "echo", "arguments": "{}"}
    assert said(server, 1)[1:] == [
        {
            "role": "assistant",
            "content": "I call. ",
            "tool_calls": [{"id": "call_00_x", "type": "function", "function": function}],
            "reasoning_content": "The user wants an echo.",
        },
        {"role": "tool", "content": "echo: nothing", "tool_call_id": "call_00_x", "name": "echo"},
    ]
    later = said(server, 2)
    assert later[1:3] == said(server, 1)[1:]
    assert later[3] == {"role": "assistant", "content": "Done.", "reasoning_content": ""}


async def test_a_conversation_without_calls_carries_no_reasoning(tape: Tape) -> None:
    thinks = events(*DEEPSEEK_THINKS, SAYS)
    async with played_http(thinks, events(SAYS)) as server:
        await ask(tape, server)
        await ask(tape, server, "And now?")
    assert said(server, 1)[1] == {"role": "assistant", "content": "Done."}


async def test_fields_go_only_to_the_server_and_model_that_they_came_from(tape: Tape) -> None:
    first = (gemini_calls(), events(SAYS))
    second = (events(*DEEPSEEK_CALLS), events(SAYS))
    async with played_http(*first, events(SAYS)) as gemini, played_http(*second) as deepseek:
        await ask(tape, gemini, name="gemini-3-pro-preview")
        await ask(tape, deepseek, "Again!", name="deepseek-v4")
        await ask(tape, gemini, "Once more!", name="gemini-3-pro-preview")
    assert b"thought_signature" not in b"".join(deepseek.bodies)
    assert b"reasoning_content" not in b"".join(gemini.bodies)
    calls = [one["tool_calls"][0] for one in said(gemini, 2) if one.get("tool_calls")]
    assert [call["extra_content"] for call in calls] == [json.loads(SIGNATURE), SIGNATURE_FILLER]
    known = [one for one in said(deepseek, 1) if one["role"] == "assistant"]
    assert [one["reasoning_content"] for one in known] == ["", "", "The user wants an echo."]


async def test_another_name_on_the_same_server_gets_none_of_the_fields(tape: Tape) -> None:
    async with played_http(gemini_calls(), events(SAYS), events(SAYS)) as server:
        await ask(tape, server, name="gemini-3-pro-preview")
        await ask(tape, server, "And now?", name="gemini-2.0-flash")
    assert b"thought_signature" not in server.bodies[2]


@pytest.mark.parametrize(
    ("wants", "filler"),
    [
        (GEMINI_WANTS, b'"thought_signature":"skip_thought_signature_validator"'),
        (DEEPSEEK_WANTS, b'"reasoning_content":""'),
    ],
    ids=["gemini", "deepseek"],
)
async def test_what_a_server_demands_of_calls_by_others_is_learned_from_its_error(
    tape: Tape, wants: str, filler: bytes
) -> None:
    async with played_http(events(PLAIN_CALLS), events(SAYS)) as other:
        await ask(tape, other)
    async with played_http(refusal(wants), events(SAYS), events(SAYS)) as server:
        model = model_on(server)
        assert await answer(model, tape, "And now?") == "Done."
        await answer(model, tape, "And then?")
        await model.aclose()
    found = [filler in body.replace(b": ", b":") for body in server.bodies]
    assert found == [False, True, True]


async def test_a_doubted_signature_is_replaced_once(tape: Tape) -> None:
    async with played_http(gemini_calls(), refusal(GEMINI_DOUBTS), events(SAYS)) as server:
        assert await ask(tape, server) == "Done."
    repeated = said(server, 2)[1]["tool_calls"][0]
    assert repeated["extra_content"] == SIGNATURE_FILLER
    doubts = [refusal(GEMINI_DOUBTS)] * 3
    async with played_http(gemini_calls(), *doubts) as server:
        with pytest.raises(RequestRejected, match="Corrupted"):
            await ask(tape, server, "Again!")
    assert len(server.bodies) == 3


async def test_a_server_that_refuses_its_own_fields_gets_them_no_more(tape: Tape) -> None:
    refused = (events(*DEEPSEEK_CALLS), refusal(GROQ_REFUSES), events(SAYS), events(SAYS))
    async with played_http(*refused) as server:
        model = model_on(server)
        assert await answer(model, tape, "Echo!", tools=[ECHO]) == "Done."
        await answer(model, tape, "And now?")
        await model.aclose()
    assert [b"reasoning_content" in body for body in server.bodies] == [False, True, False, False]


async def test_any_other_rejection_is_not_repeated(tape: Tape) -> None:
    other = refusal('{"error":{"message":"temperature is too high"}}')
    async with played_http(gemini_calls(), other, events(SAYS)) as server:
        with pytest.raises(RequestRejected, match="temperature"):
            await ask(tape, server)
    assert len(server.bodies) == 2


async def test_the_fields_stay_out_of_views_and_searches(tape: Tape) -> None:
    async with played_http(events(*DEEPSEEK_CALLS), events(SAYS)) as server:
        await ask(tape, server)
    assert "wants an echo" not in str(await tape.full_context())
    assert await tape.search("wants an echo", kinds=("message", "tool_call", "anchor")) == []
    entries = await tape.read()
    shown = as_prompt(attach(to_messages(entries), entries), "")
    assert "wants an echo" in str(shown)
    assert "wants an echo" not in str(without_wire(shown))


def test_a_reply_without_anything_beside_it_keeps_nothing() -> None:
    assert wire_of(ModelReply("m", "text", (ToolCall("a", "echo", "{}"),))) == {}


async def test_two_equal_answers_keep_their_own_fields(tape: Tape) -> None:
    for number in (1, 2):
        kept = {"server": "s", "model": "m", "message": {"reasoning": str(number)}}
        await tape.append(message("assistant", "Yes.", wire=kept))
    entries = await tape.read()
    found = [one["wire"]["message"] for one in attach(to_messages(entries), entries)[1:]]
    assert found == [{"reasoning": "1"}, {"reasoning": "2"}]
