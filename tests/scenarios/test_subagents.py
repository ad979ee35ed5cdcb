"""Subagents in a running gateway."""

from __future__ import annotations

from pathlib import Path

import anyio

from agent.tool_runner import UNKNOWN_OUTCOME
from agent.tools import BUILTIN_TOOLS
from tape.handle import Tape
from tests.fakes.openai.script import (
    Call,
    Hang,
    Request,
    Text,
    ToolCalls,
    Usage,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, gateway_process, make_environ, settled
from tests.kit.visitor import visit

GIVE = ToolCalls((Call("s1", "subagent", '{"task":"When did we deploy?"}'),))


def hangs_in_the_subagent(server: FakeOpenAI) -> anyio.Event:
    """Have the model give a task and never answer the subagent; returns when that has begun."""
    begun = anyio.Event()

    def hang(_request: Request) -> Hang:
        begun.set()
        return Hang()

    server.enqueue(GIVE)
    server.default = hang
    return begun


async def test_a_subagent_searches_the_same_tape_and_its_answer_is_the_tool_s_result(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        look = ToolCalls((Call("a", "tape_search", '{"query":"deploy"}'),))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            await bob.say("we deploy on Monday", to_agent=False)
            model.enqueue(GIVE, look, Text(("Monday.",), usage=Usage(50, 5, 10)), Text(("Mon.",)))
            answer = await alice.answer(await alice.say("ask a helper"))
        entries = await settled(gateway)
        end = next(e.payload["data"] for e in entries if e.name == "subagent.end")
        fork = await gateway.services.tapes.tape(end["fork"]).read()
    assert answer["text"] == "Mon."
    asked = [request.body["messages"] for request in model.requests]
    assert asked[1][-1] == {"role": "user", "content": "When did we deploy?"}
    assert "we deploy on Monday" in asked[2][-1]["content"]
    assert asked[3][-1]["content"] == "Monday."
    assert (end["status"], end["steps"], end["usage"]["cached_tokens"]) == ("done", 2, 10)
    assert [e.name for e in fork if e.name in ("fork.open", "fork.discarded")] == [
        "fork.open",
        "fork.discarded",
    ]
    assert "Monday." not in [e.text for e in entries if e.kind == "message"]
    assert model.refused == []


async def test_subagents_are_two_deep_and_not_deeper(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(GIVE, GIVE, GIVE, Text(("deepest",)), Text(("middle",)), Text(("top",)))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("ask a helper"))
        await settled(gateway)
        told = model.requests[3].body["messages"][-1]["content"]
    assert answer["text"] == "top"
    assert told.startswith("Error: a subagent is not available here")


async def test_a_subagent_has_a_budget_of_steps_of_its_own(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, AGENT__SUBAGENT_STEPS="2") as gateway:
        info = ToolCalls((Call("a", "tape_info", "{}"),))
        model.enqueue(GIVE, info, info, Text(("I do it myself.",)))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("ask a helper"))
        await settled(gateway)
    assert answer["text"] == "I do it myself."
    assert "did not finish" in model.requests[3].body["messages"][-1]["content"]


async def test_a_subagent_s_overflow_takes_its_task_again(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        info = ToolCalls((Call("a", "tape_info", "{}"),))
        model.enqueue(GIVE, info, context_length_exceeded(), Text(("Monday.",)), Text(("Mon.",)))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("ask a helper"))
        entries = await settled(gateway)
    again = model.requests[3].body["messages"]
    assert [m["role"] for m in again] == ["system", "assistant", "user", "assistant", "tool"]
    assert again[2]["content"] == "When did we deploy?"
    assert answer["text"] == "Mon."
    assert "auto_handoff/context_overflow" not in [entry.name for entry in entries]


async def test_stop_ends_a_turn_with_its_subagent(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        begun = hangs_in_the_subagent(model)
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("ask a helper")
            await begun.wait()
            await alice.stop()
            answer = await alice.answer(asked)
        entries = await settled(gateway)
        left = await gateway.services.tapes.open_forks()
    assert answer["text"] == "Stopped."
    assert [e.payload["data"]["status"] for e in entries if e.name == "subagent.end"] == [
        "cancelled"
    ]
    assert left == []


async def test_switched_off_there_are_none(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model, AGENT__SUBAGENTS="0") as gateway:
        model.enqueue(GIVE, Text(("Alone, then.",)))
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("ask a helper"))
        await settled(gateway)
    assert model.requests[1].body["messages"][-1]["content"].startswith("Error: a subagent")


async def test_killed_while_a_subagent_works_its_fork_is_closed_and_its_outcome_unknown(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, model)
    begun = hangs_in_the_subagent(model)
    async with gateway_process(environ, home) as first:
        async with visit(await first.url(), "Alice") as (alice,):
            asked = await alice.say("ask a helper")
            await begun.wait()
            await first.kill()
    model.enqueue(Text(("I cannot say.",)))
    async with gateway_of(home, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await settled(gateway)
            history = alice.of_type("history")[0]["messages"]
        entries = await settled(gateway)
        left = await gateway.services.tapes.open_forks()
        end = next(e.payload["data"] for e in entries if e.name == "subagent.end")
        fork = await Tape(gateway.services.store, end["fork"]).read()
    shown = [m["text"] for m in (*history, *messages_of(alice.events)) if m["reply_to"] == asked]
    assert set(shown) == {"I cannot say."}
    assert model.requests[2].body["messages"][-1]["content"] == UNKNOWN_OUTCOME
    assert end["status"] == "lost"
    assert fork[-1].name == "fork.discarded"
    assert left == []


def messages_of(events: list[dict[str, object]]) -> list[dict[str, object]]:
    return [dict(event["message"]) for event in events if event["type"] == "message"]  # type: ignore[call-overload]


def test_the_subagent_is_not_among_the_first_tools() -> None:
    (tool,) = [tool for tool in BUILTIN_TOOLS if tool.name == "subagent"]
    assert not tool.first
    assert not tool.repeatable
