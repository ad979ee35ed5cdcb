"""Which conversation a group's message belongs to, and what never goes wrong with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Author, InboundMessage
from gateway.app import Gateway
from tape.entry import message
from tape.linking import LaneLink, Linker
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.context.memories import SESSION, hear, room_of, says
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import Brings, PlainChannel

OPEN = {"ACCESS__MODE": "open"}
pytestmark = pytest.mark.settings(**OPEN)


def asks(number: int, who: str, text: str, **more: object) -> InboundMessage:
    return says(number, who, text, addressed=True, why="mention", **more)


def prompt(server: FakeOpenAI, number: int = -1) -> list[str]:
    return [str(m["content"]) for m in server.requests[number].body["messages"]]


async def test_a_message_without_an_id_of_the_platform_stops_no_chat(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    """A slash command has none; nobody may have said a message of a channel's own."""
    for number in (1, 3):
        channel = PlainChannel()
        async with gateway_of(tmp_path, model, Brings(channel), **OPEN) as gateway:
            slash = replace(asks(number, "1", f"question {number}?"), message_id="")
            nobody = replace(says(number + 1, "", "x"), sender=Author("", ""))
            await hear(gateway, channel, slash, nobody)
    assert len(model.requests) == 2


async def test_two_questions_without_an_id_are_two_conversations(
    gateway: Gateway, plain: PlainChannel
) -> None:
    first = replace(asks(1, "1", "where is the red kettle?"), message_id="")
    second = replace(asks(400, "2", "how do I mount an encrypted disk?"), message_id="")
    lanes = await hear(gateway, plain, first, second)
    assert len(set(lanes)) == 2


@pytest.mark.parametrize(
    "meta",
    [
        {"inbox": 1, "lane": "x"},
        {"inbox": 1, "lane": "x", "message_id": "1", "said_at": "yesterday", "author": "1"},
        {"inbox": 1, "lane": "x", "message_id": "1", "link": "none", "said_at": "2026-01-01"},
        {"lane": "x", "final": True, "turn": 7},
    ],
)
async def test_what_an_entry_holds_that_we_did_not_write_stops_no_chat(
    gateway: Gateway, plain: PlainChannel, meta: dict[str, Any]
) -> None:
    await gateway.services.tapes.session_tape(SESSION).append(message("user", "?", **meta))
    lanes = await hear(gateway, plain, says(5, "1", "has anybody seen the kettle?"))
    assert lanes[-1] == "said:-100/5"


async def test_a_fault_of_the_linker_costs_a_message_only_its_conversation(
    model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ArithmeticError("no")

    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **OPEN) as gateway:
        monkeypatch.setattr(Linker, "link", fails)
        monkeypatch.setattr(Linker, "chosen", fails)
        lanes = await hear(gateway, channel, says(1, "1", "hello"), asks(2, "2", "who is there?"))
    assert lanes == ["said:-100/1", "said:-100/2"]
    assert len(model.requests) == 1


async def test_a_group_with_a_new_id_counts_its_messages_anew(
    gateway: Gateway, plain: PlainChannel
) -> None:
    old = says(1, "1", "where is the red kettle?")
    change = replace(
        old, kind="change", change="migrated", to_chat="-200", ext_id="-100/m", message_id="9"
    )
    new = replace(
        asks(300, "2", "how do I mount a disk?"), chat_id="-200", ext_id="-200/1", message_id="1"
    )
    lanes = await hear(gateway, plain, old, change, new)
    room = await gateway.parts.memories.of(room_of(gateway))
    assert lanes == ["said:-100/1", "said:-200/1"]
    assert {"-100/1", "-200/1"} <= room.entries.keys()


async def test_b6_what_is_said_at_once_is_one_conversation_also_in_one_batch(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(
        tmp_path, model, Brings(channel), BUFFER__DEBOUNCE="0.1", **OPEN
    ) as gateway:
        both = [
            asks(1, "1", "where is the red kettle?"),
            replace(asks(2, "1", "how do I mount an encrypted disk?"), date=says(1, "1", "").date),
        ]
        await hear(gateway, channel, says(3, "2", "hello everybody"), *both)
        await model.wait_for_requests(1)
        entries = await settled(gateway, SESSION)
    lanes = {entry.meta["lane"] for entry in entries if entry.meta.get("author") == "1"}
    assert len(lanes) == 1
    assert len(model.requests) == 1


async def test_a_question_waits_for_no_answer_to_somebody_else(
    gateway: Gateway, model: FakeOpenAI, plain: PlainChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C2: a guess that it belongs to the other's conversation is not worth the wait."""
    gate = asyncio.Event()
    model.enqueue(Text(("for ", "one"), gate=gate))
    await plain.host.accept([asks(1, "1", "where is the red kettle?")])
    await model.wait_for_requests(1)
    joins = LaneLink("said:-100/1", "-100/1", "a guess")
    monkeypatch.setattr(Linker, "link", lambda *_: joins)
    await plain.host.accept([asks(2, "2", "is it the kettle of the kitchen?")])
    await model.wait_for_requests(2)
    gate.set()
    entries = await settled(gateway, SESSION)
    lanes = [entry.meta["lane"] for entry in entries if "inbox" in entry.meta]
    assert lanes == ["said:-100/1", "said:-100/2"]


async def two_threads(gateway: Gateway, channel: PlainChannel) -> None:
    """Let one person ask in two threads at once."""
    await channel.host.accept(
        [
            asks(1, "1", "where is the kettle?", thread_id="a"),
            asks(2, "1", "how full is the disk?", thread_id="b"),
        ]
    )
    await settled(gateway, SESSION)


async def test_turns_side_by_side_see_their_own_calls_and_results_only(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **OPEN) as gateway:

        def script(request: Any) -> ToolCalls | Text:
            messages = request.body["messages"]
            if messages[-1]["role"] == "tool":
                return Text(("done",))
            lost = "kettle" if "kettle" in str(messages[-1]["content"]) else "disk"
            return ToolCalls((Call(f"c-{lost}", "tape_search", f'{{"query":"{lost}"}}'),))

        model.default = script
        await two_threads(gateway, channel)
    finals = [
        request for request in model.requests if request.body["messages"][-1]["role"] == "tool"
    ]
    assert len(finals) == 2
    for request in finals:
        messages = request.body["messages"]
        calls = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
        results = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert calls == results
        assert len(calls) == 1
        assert str(messages[-1]["content"]).count(calls[0].removeprefix("c-")) > 0


async def test_one_person_s_next_conversation_sees_the_last_one_once(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **OPEN) as gateway:
        model.enqueue(Text(("In the kitchen.",)), Text(("Ten per cent.",)), Text(("Red.",)))
        await hear(gateway, channel, asks(1, "1", "where is the kettle?"))
        await hear(gateway, channel, asks(500, "1", "how full is the disk?"))
        await hear(gateway, channel, asks(501, "1", "and which colour?", reply_to="1"))
    for number in (1, 2):
        texts = prompt(model, number)
        assert len(texts) == len(set(texts))
        assert sum("where is the kettle?" in text for text in texts) == 1
        assert sum("In the kitchen." in text for text in texts) == 1


async def test_what_was_said_while_a_turn_set_an_anchor_is_shown_to_the_next(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model, Brings(channel), **OPEN) as gateway:
        handoff = Call("h", "tape_handoff", '{"name":"task/done","summary":"kettle found"}')
        model.enqueue(ToolCalls((handoff,)), Text(("Do", "ne."), gate=gate), Text(("Yes.",)))
        await hear_until(channel, model, asks(1, "1", "where is the kettle?"), 1)
        await channel.host.accept([says(2, "2", "the lid is under the sink", reply_to="1")])
        await gateway.taken_in()
        gate.set()
        await settled(gateway, SESSION)
        await hear(gateway, channel, asks(3, "1", "and the lid?", reply_to="1"))
        names = [entry.name for entry in await tape_of(gateway, SESSION).anchors()]
    assert "task/done" in names
    assert sum("under the sink" in text for text in prompt(model)) == 1


async def hear_until(
    channel: PlainChannel, server: FakeOpenAI, said: InboundMessage, requests: int
) -> None:
    await channel.host.accept([said])
    await server.wait_for_requests(requests)
