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

from agent.ends import ending
from channels.errors import InboundRefused
from channels.message import Author, InboundMessage
from tests.fakes.openai.script import (
    Call,
    CutStream,
    EmptyStream,
    Failure,
    Text,
    ToolCalls,
    Usage,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, names, settled, tape_of
from tests.visitor import Visitor, visit

pytestmark = pytest.mark.anyio

STRANGER = InboundMessage(
    channel="web",
    chat_id="lobby",
    chat_kind="group",
    ext_id="lobby/stop",
    message_id="stop",
    sender=Author("w-mallory", "Mallory"),
    text=",stop",
    date="2026-01-02T03:04:05+00:00",
)


async def test_a_question_is_answered_in_streamed_pieces(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("Half ", "and half."), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("What is it?")
            assert (await alice.draft(asked))["text"] == "Half "
            gate.set()
            answer = await alice.answer(asked)
    assert answer["text"] == "Half and half."
    assert answer["id"] == alice.of_type("draft")[0]["message"]["id"]


async def test_the_tape_has_every_step(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        calls = (Call("a", "tape_info", "{}"), Call("b", "tape_search", '{"query":"deploy"}'))
        server.enqueue(ToolCalls(calls, pieces=("Let me look.",)))
        server.enqueue(Text(("Found.",), usage=Usage(100, 5, 60)))
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
    assert server.refused == []


async def test_what_the_model_is_asked_holds_the_frame_and_the_quoted_text(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one\n[12:00 #9 Eve] now\ntwo"))
        asked = server.requests[-1].body["messages"][-1]["content"]
    date, first, *lines = asked.splitlines()
    assert re.fullmatch(r"\[\w{3} 20\d\d-\d\d-\d\d\]", date)
    assert re.fullmatch(r"\[\d\d:\d\d #1 Alice\] one", first)
    assert lines == ["> [12:00 #9 Eve] now", "> two"]


async def test_a_ping_is_one_call_under_three_kilobytes(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("ping"))
        assert len(server.requests) == 1
        assert server.requests[0].body_bytes < 3072
        assert len(server.requests[0].body["tools"]) <= 4


async def test_a1_the_same_post_twice_is_one_turn(tmp_path: Path) -> None:
    message_id = str(uuid4())
    async with FakeOpenAI() as server:
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Alice") as (alice,):
            await alice.say("once", message_id=message_id)
            await alice.say("once", message_id=message_id)
            await alice.answer(message_id)
            await settled(gateway)
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Alice") as (alice,):
            await alice.say("once", message_id=message_id)
            await alice.answer(await alice.say("another"))
            entries = await settled(gateway)
    assert sum(entry.meta.get("message_id") == message_id for entry in entries) == 1
    assert len(server.requests) == 2


async def test_b1_what_is_said_to_the_room_is_taped_and_not_answered(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            await alice.say("lunch at noon, Bob?", to_agent=False)
            asked = await bob.say("when is lunch?")
            await bob.answer(asked)
        entries = await settled(gateway)
        assert len(server.requests) == 1
        assert not any(event["key"] == alice.id for event in bob.of_type("typing"))
        prompt = "".join(str(m["content"]) for m in server.requests[0].body["messages"])
    assert [entry.meta["text"] for entry in entries if "inbox" in entry.meta] == [
        "lunch at noon, Bob?",
        "when is lunch?",
    ]
    assert "lunch at noon" in prompt


async def test_b6_a_burst_of_one_person_is_one_turn(tmp_path: Path) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, BUFFER__DEBOUNCE="0.2") as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        await alice.say("first")
        await alice.say("second")
        await alice.answer(await alice.say("third"))
        assert len(server.requests) == 1
        said = [m["content"] for m in server.requests[0].body["messages"]]
        assert [text.rpartition("] ")[2] for text in said[-3:]] == ["first", "second", "third"]


async def test_c1_two_people_are_answered_side_by_side_each_to_their_own_question(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("for ", "Alice"), gate=gate), Text(("for Bob",)))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            second = await bob.say("two")
            assert (await bob.answer(second))["text"] == "for Bob"
            gate.set()
            assert (await alice.answer(first))["text"] == "for Alice"


async def test_c2_two_questions_of_one_person_run_in_order(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("first ", "answer"), gate=gate), Text(("second answer",)))
        async with visit(gateway.url, "Alice") as (alice,):
            first = await alice.say("one")
            await alice.draft(first)
            second = await alice.say("two")
            assert len(server.requests) == 1
            gate.set()
            assert (await alice.answer(first))["text"] == "first answer"
            assert (await alice.answer(second))["text"] == "second answer"
        contents = [str(m["content"]) for m in server.requests[1].body["messages"]]
    positions = [contents.index("first answer"), len(contents) - 1]
    assert "] two" in contents[positions[1]]
    assert positions[0] < positions[1]


async def test_c4_stop_on_the_page_ends_one_s_own_newest_answer_and_is_no_message(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(*(Text((f"part {n} ", "never"), gate=asyncio.Event()) for n in (1, 2)))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            other = await bob.say("@Tapeway and another thing entirely")
            await bob.draft(other)
            assert await alice.stop()
            assert (await alice.answer(first))["text"] == "part 1\n\n*Stopped by Alice.*"
            assert not await alice.stop()
            assert [e for e in bob.of_type("message") if e["message"]["reply_to"] == other] == []
            assert await bob.stop()
            stopped = await bob.answer(other)
            ids = (alice.id, bob.id)
        entries = await settled(gateway)
    assert (stopped["role"], stopped["text"]) == ("agent", "part 2\n\n*Stopped by Bob.*")
    ends = [entry.payload["data"] for entry in entries if entry.name == "turn.end"]
    assert [(end["status"], end["by"]) for end in ends] == [
        ("stopped", ids[0]),
        ("stopped", ids[1]),
    ]
    asked = [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
    assert asked == ["one", "@Tapeway and another thing entirely"]


async def test_c4_somebody_else_s_answer_ends_by_its_own_stop_and_for_admins_only(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("half ", "never"), gate=asyncio.Event()))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            asked = await alice.say("one")
            draft = await alice.draft(asked)
            host = gateway.channels["web"].host
            with pytest.raises(InboundRefused, match="Only admins"):
                await host.stop_answer(STRANGER, draft["id"])
            assert not await bob.stop()
            assert await bob.stop(draft["id"])
            assert (await alice.answer(asked))["text"] == "half\n\n*Stopped by Bob.*"


async def test_c4_stop_takes_back_a_question_that_waits(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, TURN__PARALLEL_TOTAL="1") as gateway,
    ):
        server.enqueue(Text(("first ", "answer"), gate=gate))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            waits = await bob.say("@Tapeway two")
            await gateway.taken_in()
            assert await bob.stop()
            assert (await bob.answer(waits))["text"] == "Stopped."
            gate.set()
            assert (await alice.answer(first))["text"] == "first answer"
        await settled(gateway)
    assert len(server.requests) == 1


async def test_e6_typing_shows_and_stops_also_when_the_turn_fails(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Failure(500, "out of order", None, "server_error"))
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
            await alice.until(lambda event: event["type"] == "typing" and not event["on"])
            assert [event["on"] for event in alice.of_type("typing")] == [True, False]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Failure(401, "bad key sk-canary", "invalid_api_key", "auth"), "rejected the API key"),
        (Failure(404, "no such model", "model_not_found", "request"), "doesn't know the model"),
        (Failure(500, "boom", None, "server_error"), "having trouble"),
        (Failure(429, "slow down", None, "rate"), "busy"),
        (CutStream(("half",)), "broke off"),
        (EmptyStream(), "broke off"),
    ],
    ids=["wrong key", "unknown model", "down", "busy", "cut", "empty"],
)
async def test_e7_a_failing_model_is_one_sentence_with_an_id(
    tmp_path: Path, reply: Failure | CutStream | EmptyStream, sentence: str
) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(reply)
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("one"))
            assert answer["role"] == "notice"
            assert sentence in answer["text"]
            assert "(Ref E-" in answer["text"]
            again = await alice.answer(await alice.say("two"))
            assert again["role"] == "agent"
        entries = await settled(gateway)
    error = next(entry for entry in entries if entry.kind == "error")
    assert error.meta["error_id"] in answer["text"]
    assert [e.payload["data"]["status"] for e in entries if e.name == "turn.end"] == [
        "failed",
        "done",
    ]


async def test_a_model_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    async with FakeOpenAI() as server:
        url = server.base_url
    more = {
        "AGENT__BASE_URL": url,
        "AGENT__API_KEY": "k",
        "AGENT__MODEL": "m",
        "AGENT__RETRIES": "0",
    }
    async with (
        gateway_of(tmp_path, None, **more) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        answer = await alice.answer(await alice.say("one"))
    assert "can't reach the model service" in answer["text"]


@pytest.mark.parametrize("with_code", [True, False])
async def test_a_context_overflow_ends_in_one_answer(tmp_path: Path, with_code: bool) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("before",)))
        server.enqueue(context_length_exceeded(with_code), Text(("after all",)))
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("earlier"))
            answer = await alice.answer(await alice.say("too much"))
        entries = await settled(gateway)
    assert answer["text"] == "after all"
    anchor = next(e for e in entries if e.name == "auto_handoff/context_overflow")
    assert anchor.kind == "anchor"
    assert anchor.payload["state"]["reason"] == "context_length_exceeded"
    assert anchor.payload["state"]["error"]
    statuses = [e.payload["data"]["status"] for e in entries if e.name == "loop.step"]
    assert statuses == ["ok", "auto_handoff", "ok"]
    last = [str(m["content"]) for m in server.requests[-1].body["messages"]]
    assert "] too much" in last[-1]
    assert not any("before" in text for text in last)


async def test_a_second_overflow_in_one_turn_is_an_error_that_a_person_can_read(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(context_length_exceeded(True), context_length_exceeded(True))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("too much"))
        assert "too long for the model" in answer["text"]
        assert len(server.requests) == 2


async def test_an_overflow_after_tools_keeps_their_results(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(ToolCalls((Call("a", "tape_info", "{}"),)))
        server.enqueue(context_length_exceeded(True), Text(("done",)))
        async with visit(gateway.url, "Alice") as (alice,):
            assert (await alice.answer(await alice.say("look")))["text"] == "done"
        roles = [m["role"] for m in server.requests[-1].body["messages"]]
    assert roles == ["system", "assistant", "user", "assistant", "tool"]
    assert server.refused == []


async def test_a_view_beyond_the_budget_is_cut_before_the_call(tmp_path: Path) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(
            tmp_path, server, CONTEXT__PROMPT_TOKENS="900", CONTEXT__NEW_TOKENS="400"
        ) as gateway,
    ):
        server.default = lambda _request: Text(("word " * 300,))
        async with visit(gateway.url, "Alice") as (alice,):
            for number in range(6):
                await alice.answer(await alice.say(f"question {number}"))
        entries = await settled(gateway)
    anchors = [entry for entry in entries if entry.name == "context:overflow"]
    assert anchors
    assert anchors[0].payload["state"].keys() == {"reason", "rests_on"}
    assert anchors[0].meta["lane"].startswith("said:")
    assert all(request.body_bytes < 900 * 4 + 4000 for request in server.requests)


async def test_a_lane_s_view_begins_as_its_last_one_did(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            for number in range(4):
                await alice.answer(await alice.say(f"alice {number}"))
                await bob.say(f"chatter {number}", to_agent=False)
        prompts = [request.body["messages"] for request in server.requests]
    for earlier, later in pairwise(prompts):
        assert later[: len(earlier)] == earlier


async def test_reset_begins_afresh_and_keeps_the_tape(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("the secret word is plum"))
            told = await alice.answer(await alice.say(",reset"))
            await alice.answer(await alice.say("what is the word?"))
        assert "starting over" in told["text"]
        last = str(server.requests[-1].body["messages"])
        assert "plum" not in last
        hits = await tape_of(gateway).search("PLUM")
    assert len(hits) == 2


async def test_the_room_s_history_is_there_after_a_restart(tmp_path: Path) -> None:
    async with FakeOpenAI() as server:
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Alice") as (alice,):
            server.enqueue(Text(("**bold**",)))
            await alice.answer(await alice.say("hello"))
            await alice.answer(await alice.say(",help"))
            await settled(gateway)
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Bob") as (bob,):
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
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            answer = await alice.answer(await alice.say("name a fruit"))
            asked = await bob.say("and why?", reply_to=answer["id"], to_agent=False)
            await bob.answer(asked)
        entries = await settled(gateway)
        assert "] name a fruit" in str(server.requests[-1].body["messages"])
    lanes = [entry.meta["lane"] for entry in entries if "inbox" in entry.meta]
    assert len(lanes) == 2
    assert len(set(lanes)) == 1


async def test_e4_reasoning_and_tools_never_reach_the_room(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        call = Call("canary-id", "tape_search", '{"query":"canary-arguments"}')
        server.enqueue(ToolCalls((call,), reasoning=("canary-thought",)))
        server.enqueue(Text(("fine",), reasoning=("canary-again",)))
        async with visit(gateway.url, "Alice") as (alice,):
            assert (await alice.answer(await alice.say("go")))["text"] == "fine"
            await settled(gateway)
            assert "canary" not in str(alice.events)


@pytest.mark.parametrize("place", ["/api/rooms", "/api/terminal"])
async def test_e4_a_setting_shows_reasoning_on_the_page_and_nowhere_else(
    tmp_path: Path, place: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, WEB__REASONING="true") as gateway,
        httpx2.AsyncClient(base_url=gateway.url, timeout=60, trust_env=False) as client,
        anyio.create_task_group() as group,
    ):
        server.enqueue(Text(("fine",), reasoning=("hm", ", well")))
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


@pytest.mark.parametrize("reason", ["length", "content_filter", "stop"])
async def test_an_answer_that_was_cut_off_says_so_to_the_page(tmp_path: Path, reason: str) -> None:
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("half",), finish_reason=reason))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("go"))
        async with visit(gateway.url, "Alice") as (alice,):
            (history,) = alice.of_type("history")
        await settled(gateway)
    assert answer["text"] == f"half{ending('half', reason)}"
    assert answer["cut"] == history["messages"][-1]["cut"] == (reason != "stop")


async def test_d1_questions_that_waited_are_questions_of_their_own_after_a_restart(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as server:
        server.enqueue(Text(("never ", "done"), gate=asyncio.Event()))
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Alice") as (alice,):
            asked = [await alice.say("one")]
            await alice.draft(asked[0])
            asked += [await alice.say("two"), await alice.say("three")]
            await gateway.taken_in()
        async with gateway_of(tmp_path, server) as gateway, visit(gateway.url, "Alice") as (alice,):
            await settled(gateway)
            shown = await gateway.services.pipeline.resolve_session(
                {"channel": "web", "chat_id": "lobby"}
            )
            entries = await tape_of(gateway, shown).read()
    replies = [e.payload["data"]["reply_to"] for e in entries if e.name == "outbound"]
    assert replies == asked


async def test_a_reset_while_a_turn_runs_hides_that_turn_from_the_next(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server) as gateway:
        server.enqueue(Text(("the plum ", "is hidden"), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("where is the plum?")
            await alice.draft(asked)
            await alice.answer(await alice.say(",reset"))
            gate.set()
            await alice.answer(asked)
            await alice.answer(await alice.say("what now?"))
        assert "plum" not in str(server.requests[-1].body["messages"])
