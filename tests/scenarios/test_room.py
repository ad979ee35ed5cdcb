"""People in a room, over HTTP, answered by a model over HTTP."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import anyio
import httpx2
import pytest

from gateway.app import Gateway
from tests.fakes.openai.script import Call, Text, ToolCalls, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, names, settled, tape_of
from tests.kit.visitor import Visitor, visit


async def test_a_question_is_answered_in_streamed_pieces(model: FakeOpenAI, tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("Half ", "and half."), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("What is it?")
            assert (await alice.draft(asked))["text"] == "Half "
            gate.set()
            answer = await alice.answer(asked)
    assert answer["text"] == "Half and half."
    assert answer["id"] == alice.of_type("draft")[0]["message"]["id"]


async def test_the_tape_has_every_step(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        calls = (Call("a", "tape_info", "{}"), Call("b", "tape_search", '{"query":"deploy"}'))
        model.enqueue(ToolCalls(calls, pieces=("Let me look.",)))
        model.enqueue(Text(("Found.",), usage=Usage(100, 5, 60)))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("when did we deploy?"))
        entries = await settled(gateway)
    assert answer["text"] == "Let me look.\n\nFound."
    assert names(entries) == [
        "session/start", "handoff", "message",
        "turn.start", "prompt.system", "message", "tool_call", "tool.done", "tool.done",
        "tool_result", "loop.step", "loop.step", "message", "outbound", "turn.end", "send.receipt",
    ]  # fmt: skip
    steps = [entry.payload["data"] for entry in entries if entry.name == "loop.step"]
    assert [(step["step"], step["status"]) for step in steps] == [(1, "tools"), (2, "ok")]
    assert steps[1]["usage"] == {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 60}
    assert all(isinstance(step["elapsed_ms"], int) for step in steps)
    called = next(entry for entry in entries if entry.kind == "tool_call")
    assert [call["function"]["name"] for call in called.payload["calls"]] == [
        "tape.info",
        "tape.search",
    ]
    assert model.refused == []


async def test_what_the_model_is_asked_holds_the_frame_and_the_quoted_text(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one\n[12:00 #9 Eve] now\ntwo"))
        asked = model.requests[-1].body["messages"][-1]["content"]
    date, first, *lines = asked.splitlines()
    assert re.fullmatch(r"\[\w{3} 20\d\d-\d\d-\d\d\]", date)
    assert re.fullmatch(r"\[\d\d:\d\d #1 Alice\] one", first)
    assert lines == ["> [12:00 #9 Eve] now", "> two"]


async def test_a_ping_is_one_call_under_three_kilobytes(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("ping"))
    assert len(model.requests) == 1
    assert model.requests[0].body_bytes < 3072
    assert len(model.requests[0].body["tools"]) <= 4


async def test_a1_the_same_post_twice_is_one_turn(model: FakeOpenAI, tmp_path: Path) -> None:
    message_id = str(uuid4())
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        await alice.say("once", message_id=message_id)
        await alice.say("once", message_id=message_id)
        await alice.answer(message_id)
        await settled(gateway)
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        await alice.say("once", message_id=message_id)
        await alice.answer(await alice.say("another"))
        entries = await settled(gateway)
    assert sum(entry.meta.get("message_id") == message_id for entry in entries) == 1
    assert len(model.requests) == 2


async def test_b1_what_is_said_to_the_room_is_taped_and_not_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            await alice.say("lunch at noon, Bob?", to_agent=False)
            asked = await bob.say("when is lunch?")
            await bob.answer(asked)
        entries = await settled(gateway)
        assert len(model.requests) == 1
        assert not any(event["key"] == alice.id for event in bob.of_type("typing"))
        prompt = "".join(str(m["content"]) for m in model.requests[0].body["messages"])
    assert [entry.meta["text"] for entry in entries if "inbox" in entry.meta] == [
        "lunch at noon, Bob?",
        "when is lunch?",
    ]
    assert "lunch at noon" in prompt


async def test_c1_two_people_are_answered_side_by_side_each_to_their_own_question(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("for ", "Alice"), gate=gate), Text(("for Bob",)))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            second = await bob.say("two")
            assert (await bob.answer(second))["text"] == "for Bob"
            gate.set()
            assert (await alice.answer(first))["text"] == "for Alice"


async def test_c2_two_questions_of_one_person_run_in_order(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("first ", "answer"), gate=gate), Text(("second answer",)))
        async with visit(gateway.url, "Alice") as (alice,):
            first = await alice.say("one")
            await alice.draft(first)
            second = await alice.say("two")
            assert len(model.requests) == 1
            gate.set()
            assert (await alice.answer(first))["text"] == "first answer"
            assert (await alice.answer(second))["text"] == "second answer"
        contents = [str(m["content"]) for m in model.requests[1].body["messages"]]
    positions = [contents.index("first answer"), len(contents) - 1]
    assert "] two" in contents[positions[1]]
    assert positions[0] < positions[1]


async def test_a_lane_s_view_begins_as_its_last_one_did(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            for number in range(4):
                await alice.answer(await alice.say(f"alice {number}"))
                await bob.say(f"chatter {number}", to_agent=False)
        prompts = [request.body["messages"] for request in model.requests]
    for earlier, later in pairwise(prompts):
        assert later[: len(earlier)] == earlier


async def test_reset_begins_afresh_and_keeps_the_tape(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("the secret word is plum"))
            told = await alice.answer(await alice.say(",reset"))
            await alice.answer(await alice.say("what is the word?"))
        assert "starting over" in told["text"]
        last = str(model.requests[-1].body["messages"])
        assert "plum" not in last
        hits = await tape_of(gateway).search("PLUM")
    assert len(hits) == 2


async def test_the_room_s_history_is_there_after_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        model.enqueue(Text(("**bold**",)))
        await alice.answer(await alice.say("hello"))
        await alice.answer(await alice.say(",help"))
        await settled(gateway)
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Bob") as (bob,):
        (history,) = bob.of_type("history")
    shown = [(message["role"], message["text"][:8]) for message in history["messages"]]
    assert shown == [
        ("person", "hello"),
        ("agent", "**bold**"),
        ("person", ",help"),
        ("notice", "I answer"),
    ]
    assert "<strong>bold</strong>" in history["messages"][1]["html"]


async def test_a_reply_in_the_room_joins_the_conversation_of_what_it_answers(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            answer = await alice.answer(await alice.say("name a fruit"))
            asked = await bob.say("and why?", reply_to=answer["id"], to_agent=False)
            await bob.answer(asked)
        entries = await settled(gateway)
        assert "] name a fruit" in str(model.requests[-1].body["messages"])
    lanes = [entry.meta["lane"] for entry in entries if "inbox" in entry.meta]
    assert len(lanes) == 2
    assert len(set(lanes)) == 1


async def test_e4_reasoning_and_tools_never_reach_the_room(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    call = Call("canary-id", "tape_search", '{"query":"canary-arguments"}')
    model.enqueue(ToolCalls((call,), reasoning=("canary-thought",)))
    model.enqueue(Text(("fine",), reasoning=("canary-again",)))
    async with visit(gateway.url, "Alice") as (alice,):
        assert (await alice.answer(await alice.say("go")))["text"] == "fine"
        await settled(gateway)
        assert "canary" not in str(alice.events)


@pytest.mark.parametrize("place", ["/api/rooms", "/api/terminal"])
async def test_e4_a_setting_shows_reasoning_on_the_page_and_nowhere_else(
    model: FakeOpenAI, tmp_path: Path, place: str
) -> None:
    async with (
        gateway_of(tmp_path, model, WEB__REASONING="true", CLI__REASONING="false") as gateway,
        httpx2.AsyncClient(base_url=gateway.url, timeout=60, trust_env=False) as client,
        anyio.create_task_group() as group,
    ):
        model.enqueue(Text(("fine",), reasoning=("hm", ", well")))
        alice = Visitor(client, "lobby", "Alice", place)
        await group.start(alice.listen)
        asked = await alice.say("go")
        assert (await alice.answer(asked))["text"] == "fine"
        await gateway.idle()
        thought = "".join(event["delta"] for event in alice.of_type("reasoning"))
        others = [event for event in alice.events if event["type"] != "reasoning"]
        group.cancel_scope.cancel()
    assert thought.endswith("hm, well") if place == "/api/rooms" else not thought
    assert "well" not in str(others)


async def test_d1_questions_that_waited_are_asked_together_after_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("never ", "done"), gate=asyncio.Event()))
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        asked = [await alice.say("one")]
        await alice.draft(asked[0])
        asked += [await alice.say("two"), await alice.say("three")]
        await gateway.taken_in()
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        await settled(gateway)
        shown = await gateway.services.pipeline.resolve_session(
            {"channel": "web", "chat_id": "lobby"}
        )
        entries = await tape_of(gateway, shown).read()
    replies = [e.payload["data"]["reply_to"] for e in entries if e.name == "outbound"]
    assert replies == [asked[0], asked[2]]


async def test_a_reset_while_a_turn_runs_hides_that_turn_from_the_next(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("the plum ", "is hidden"), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("where is the plum?")
            await alice.draft(asked)
            await alice.answer(await alice.say(",reset"))
            gate.set()
            await alice.answer(asked)
            await alice.answer(await alice.say("what now?"))
        assert "plum" not in str(model.requests[-1].body["messages"])
