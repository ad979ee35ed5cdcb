"""The model of a first start."""

from __future__ import annotations

from typing import Any

import pytest

from agent.model import ModelReply, ModelRequest, TextPiece
from agent.models.offline import INTRODUCTION, REMINDER, OfflineModel
from agent.tools import TAPE_TOOLS

SCHEMAS = tuple(tool.schema() for tool in TAPE_TOOLS)


def person(text: object) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def answer(
    *messages: dict[str, Any], tools: tuple[dict[str, Any], ...] = ()
) -> tuple[list[str], ModelReply]:
    pieces = [piece async for piece in OfflineModel(pause=0).stream(ModelRequest(messages, tools))]
    assert isinstance(pieces[-1], ModelReply)
    return [piece.delta for piece in pieces if isinstance(piece, TextPiece)], pieces[-1]


async def test_it_says_what_it_is_and_repeats_what_it_heard_in_pieces() -> None:
    pieces, reply = await answer(person("good morning"))
    assert reply.text == f"{INTRODUCTION}You said:\n\n> good morning"
    assert "".join(pieces) == reply.text
    assert len(pieces) > 5
    assert reply.finish_reason == "stop"


async def test_it_introduces_itself_once() -> None:
    spoken = {"role": "assistant", "content": "hello"}
    _, reply = await answer(person("one"), spoken, person("two"))
    assert reply.text == f"{REMINDER}You said:\n\n> two"


async def test_an_anchor_is_nothing_that_it_has_said() -> None:
    anchor = {"role": "assistant", "content": "[Anchor created: session/start]: {}"}
    _, reply = await answer(anchor, person("one"))
    assert reply.text.startswith(INTRODUCTION)


async def test_the_frame_of_a_message_is_not_repeated() -> None:
    _, reply = await answer(person("[lobby | Alice (id 1) | now]\n> one\n> two"))
    assert reply.text.endswith("You said:\n\n> one\n> two")


async def test_a_message_of_parts_is_read() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    _, reply = await answer(person([{"type": "text", "text": "look"}, image]))
    assert reply.text.endswith("> look")


@pytest.mark.parametrize("messages", [[], [person("")], [person("[lobby | Alice | now]\n")]])
async def test_silence_is_answered_too(messages: list[dict[str, Any]]) -> None:
    _, reply = await answer(*messages)
    assert "it has no text" in reply.text


async def test_asked_about_the_tape_it_looks_at_it() -> None:
    pieces, reply = await answer(person("What is on the tape?"), tools=SCHEMAS)
    assert pieces == []
    assert [(call.name, call.arguments) for call in reply.calls] == [("tape_info", "{}")]


async def test_it_calls_no_tool_that_is_not_offered() -> None:
    _, reply = await answer(person("What is on the tape?"))
    assert reply.calls == ()


async def test_it_shows_the_tool_s_result_and_does_not_call_again() -> None:
    info = '{"entries":7,"last_anchor":null,"tokens_since_anchor":1}'
    result = {"role": "tool", "content": info, "tool_call_id": "a"}
    _, reply = await answer(person("the tape?"), result, tools=SCHEMAS)
    assert reply.text.endswith(
        "The tape of this chat has 7 entries (about 1 token), and no checkpoint yet."
    )
    assert reply.calls == ()
