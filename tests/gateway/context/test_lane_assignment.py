"""Which conversation a group's message belongs to, and what never goes wrong with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Author, InboundMessage, Media
from tape.entry import message
from tape.linking import LaneLink, Linker
from tape.linking.recognition import FIRST_PACE
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.context.memories import hear, says
from tests.kit.chats import GroupChat, open_group


def asks(number: int, who: str, text: str, **more: object) -> InboundMessage:
    return says(number, who, text, addressed=True, why="mention", **more)


def prompt(server: FakeOpenAI, number: int = -1) -> list[str]:
    return [str(m["content"]) for m in server.requests[number].body["messages"]]


async def test_a_message_without_an_id_of_the_platform_stops_no_chat(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    """A slash command has none; nobody may have said a message of a channel's own."""
    for number in (1, 3):
        async with open_group(tmp_path, model) as group:
            slash = replace(asks(number, "1", f"question {number}?"), message_id="")
            nobody = replace(says(number + 1, "", "x"), sender=Author("", ""))
            await group.hear(slash, nobody)
    assert len(model.requests) == 2


async def test_two_questions_without_an_id_are_two_conversations(group: GroupChat) -> None:
    first = replace(asks(1, "1", "where is the red kettle?"), message_id="")
    second = replace(asks(400, "2", "how do I mount an encrypted disk?"), message_id="")
    lanes = await hear(group, first, second)
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
    group: GroupChat, meta: dict[str, Any]
) -> None:
    await group.tape.append(message("user", "?", **meta))
    lanes = await hear(group, says(5, "1", "has anybody seen the kettle?"))
    assert lanes[-1] == "said:-100/5"


async def test_a_fault_of_the_linker_costs_a_message_only_its_conversation(
    group: GroupChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ArithmeticError("no")

    monkeypatch.setattr(Linker, "link", fails)
    monkeypatch.setattr(Linker, "beside", fails)
    monkeypatch.setattr(Linker, "judge_reply", fails)
    replies = [says(number, "3", "yes", reply_to="1") for number in range(3, 3 + FIRST_PACE)]
    lanes = await hear(group, says(1, "1", "hello"), asks(2, "2", "who is there?"), *replies)
    assert lanes == ["said:-100/1", "said:-100/2", *["said:-100/1"] * FIRST_PACE]
    assert len(group.model.requests) == 1


async def test_a_group_with_a_new_id_counts_its_messages_anew(group: GroupChat) -> None:
    old = says(1, "1", "where is the red kettle?")
    change = replace(
        old, kind="change", change="migrated", to_chat="-200", ext_id="-100/m", message_id="9"
    )
    new = replace(
        asks(300, "2", "how do I mount a disk?"), chat_id="-200", ext_id="-200/1", message_id="1"
    )
    lanes = await hear(group, old, change, new)
    memory = await group.gateway.parts.memories.of(group.tape.name)
    assert lanes == ["said:-100/1", "said:-200/1"]
    assert {"-100/1", "-200/1"} <= memory.entries.keys()


@pytest.mark.settings(BUFFER__DEBOUNCE="0.1")
async def test_b6_what_is_said_at_once_is_one_conversation_also_in_one_batch(
    group: GroupChat,
) -> None:
    both = [
        asks(1, "1", "where is the red kettle?"),
        replace(asks(2, "1", "how do I mount an encrypted disk?"), date=says(1, "1", "").date),
    ]
    await group.hear(says(3, "2", "hello everybody"), *both)
    await group.model.wait_for_requests(1)
    entries = await group.settled()
    lanes = {entry.meta["lane"] for entry in entries if entry.meta.get("author") == "1"}
    assert len(lanes) == 1
    assert len(group.model.requests) == 1


async def test_a_question_waits_for_no_answer_to_somebody_else(
    group: GroupChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C2: a guess that it belongs to the other's conversation is not worth the wait."""
    gate = asyncio.Event()
    group.model.enqueue(Text(("for ", "one"), gate=gate))
    await group.accept(asks(1, "1", "where is the red kettle?"))
    await group.model.wait_for_requests(1)
    joins = LaneLink("said:-100/1", "-100/1", "a guess")
    monkeypatch.setattr(Linker, "link", lambda *_: joins)
    await group.accept(asks(2, "2", "is it the kettle of the kitchen?"))
    await group.model.wait_for_requests(2)
    gate.set()
    entries = await group.settled()
    lanes = [entry.meta["lane"] for entry in entries if "inbox" in entry.meta]
    assert lanes == ["said:-100/1", "said:-100/2"]


async def test_turns_side_by_side_see_their_own_calls_and_results_only(group: GroupChat) -> None:
    def script(request: Any) -> ToolCalls | Text:
        messages = request.body["messages"]
        if messages[-1]["role"] == "tool":
            return Text(("done",))
        lost = "kettle" if "kettle" in str(messages[-1]["content"]) else "disk"
        return ToolCalls((Call(f"c-{lost}", "tape_search", f'{{"query":"{lost}"}}'),))

    group.model.default = script
    in_a = asks(1, "1", "where is the kettle?", thread_id="a")
    in_b = asks(2, "1", "how full is the disk?", thread_id="b")
    await group.hear(in_a, in_b)
    finals = [
        request
        for request in group.model.requests
        if request.body["messages"][-1]["role"] == "tool"
    ]
    assert len(finals) == 2
    for request in finals:
        messages = request.body["messages"]
        calls = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
        results = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert calls == results
        assert len(calls) == 1
        assert str(messages[-1]["content"]).count(calls[0].removeprefix("c-")) > 0


async def test_one_person_s_next_conversation_sees_the_last_one_once(group: GroupChat) -> None:
    group.model.enqueue(Text(("In the kitchen.",)), Text(("Ten per cent.",)), Text(("Red.",)))
    await group.hear(asks(1, "1", "where is the kettle?"))
    await group.hear(asks(500, "1", "how full is the disk?"))
    await group.hear(asks(501, "1", "and which colour?", reply_to="1"))
    for number in (1, 2):
        texts = prompt(group.model, number)
        assert len(texts) == len(set(texts))
        assert sum("] where is the kettle?" in text for text in texts) == 1
        assert sum("In the kitchen." in text for text in texts) == 1


async def test_what_was_said_while_a_turn_set_an_anchor_is_shown_to_the_next(
    group: GroupChat,
) -> None:
    gate = asyncio.Event()
    handoff = Call("h", "tape_handoff", '{"name":"task/done","summary":"kettle found"}')
    group.model.enqueue(ToolCalls((handoff,)), Text(("Do", "ne."), gate=gate), Text(("Yes.",)))
    await group.accept(asks(1, "1", "where is the kettle?"))
    await group.model.wait_for_requests(1)
    await group.accept(says(2, "2", "the lid is under the sink", reply_to="1"))
    await group.gateway.taken_in()
    gate.set()
    await group.settled()
    await group.hear(asks(3, "1", "and the lid?", reply_to="1"))
    names = [entry.name for entry in await group.tape.anchors()]
    assert "task/done" in names
    assert sum("under the sink" in text for text in prompt(group.model)) == 1


async def test_a_reply_to_an_answer_is_remembered_as_one_also_by_a_room_that_is_read(
    group: GroupChat,
) -> None:
    await group.hear(asks(101, "1", "which Linux desktop is good for an old laptop?"))
    answer = "1"  # the id of the first post
    dinner = asks(102, "2", "what could I cook with leeks and potatoes?", reply_to=answer)
    joins = asks(103, "3", "and with Debian?", reply_to=answer)
    lanes = await hear(group, dinner, joins)
    assert lanes == ["said:-100/101", "said:-100/102", "said:-100/101"]
    rooms = group.gateway.parts.memories
    kept = await rooms.of(group.tape.name)
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
    for memory in (kept, again):
        replied = [one.reply_to for one in memory.room.heard if one.replied]
        assert replied == [memory.room.by_agent[0].key] * 2


@pytest.mark.parametrize(
    ("text", "more", "shows"),
    [
        ("what do you think of that?", {}, True),
        ("and you, Tapeway?", {}, True),
        ("which mountain is the highest in Austria?", {}, False),
        ("what is this?", {"media": (Media("image", "photo"),)}, False),
    ],
)
async def test_only_a_question_that_refers_to_the_room_is_shown_its_last_messages(
    group: GroupChat, text: str, more: dict[str, Any], *, shows: bool
) -> None:
    await hear(group, says(1, "1", "the harbour office has no canteen"), says(2, "2", "oh no"))
    await group.hear(asks(600, "3", text, **more))
    assert any("canteen" in one for one in prompt(group.model)) == shows
