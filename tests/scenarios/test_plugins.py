"""Plugins in a running gateway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent.tool import NoArguments, Tool, ToolContext
from gateway.hooks.specs import hookimpl
from tape.context import TapeContext, to_messages
from tape.stores.memory import MemoryStore
from tests.fakes.openai.script import Call, Text, ToolCalls, context_length_exceeded
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, names, settled, tape_of
from tests.kit.visitor import visit


async def test_a_built_prompt_is_on_the_tape_and_shown_instead_also_after_an_overflow(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    class Prompt:
        @hookimpl
        def build_prompt(self, message: Any) -> str:
            return f"<<{message.text}>>"

    async with (
        gateway_of(tmp_path, model, Prompt()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(context_length_exceeded(True), Text(("fine",)))
        await alice.answer(await alice.say("one"))
        entries = await settled(gateway)
        for request in model.requests:
            assert request.body["messages"][-1]["content"] == "<<one>>"
    written = next(entry for entry in entries if "prompt_of" in entry.meta)
    assert entries[written.meta["prompt_of"] - 1].meta["text"] == "one"


async def test_a_context_that_a_plugin_loads_stands_before_the_question(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    class Loads:
        @hookimpl
        def load_state(self) -> dict[str, Any]:
            return {"context_str": "Today is Monday."}

    async with (
        gateway_of(tmp_path, model, Loads()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("fine",)))
        await alice.answer(await alice.say("one"))
        entries = await settled(gateway)
        shown = model.requests[0].body["messages"][-1]["content"]
    (asked,) = [entry for entry in entries if "inbox" in entry.meta]
    assert shown.partition("\n")[2] == f"Today is Monday.\n\n{asked.text}"  # below the date


async def test_the_state_of_hooks_is_plain_and_saved_when_a_turn_is_stopped(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    saved: list[str] = []

    class Keeps:
        @hookimpl
        async def load_state(self, message: Any, session_id: str) -> dict[str, Any]:
            return {"mood": "good"}

        @hookimpl
        async def save_state(self, state: dict[str, Any], model_output: str) -> None:
            await anyio.lowlevel.checkpoint()
            saved.append(f"{json.dumps(state['mood'])} {model_output}")
            json.dumps(state)

    async with (
        gateway_of(tmp_path, model, Keeps()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("half ", "whole"), delay=3600))
        asked = await alice.say("one")
        await alice.draft(asked)
        await alice.stop()
        await alice.answer(asked)
    assert saved == ['"good" half ']


async def test_a_plugin_s_tool_is_offered_run_and_can_be_denied(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    ran: list[str] = []

    async def launch(_arguments: NoArguments, context: ToolContext) -> str:
        ran.append(context.turn)
        return "launched"

    class Launcher:
        denies = False

        @hookimpl
        def provide_tools(self) -> list[Tool]:
            return [Tool("rocket.launch", "Launch it.", NoArguments, launch, first=True)]

        @hookimpl
        def before_tool_call(self, name: str) -> None:
            if self.denies:
                raise PermissionError("not on a Sunday")

    plugin = Launcher()
    async with (
        gateway_of(tmp_path, model, plugin) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        for denies in (False, True):
            plugin.denies = denies
            model.enqueue(ToolCalls((Call("c", "rocket_launch", "{}"),)), Text(("ok",)))
            await alice.answer(await alice.say("launch"))
        results = [request.body["messages"][-1]["content"] for request in model.requests[1::2]]
    assert len(ran) == 1
    assert results[0] == "launched"
    assert "not on a Sunday" in results[1]


async def test_a_plugin_may_drop_a_message_and_an_event_tells_so(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    class Doorman:
        @hookimpl
        def admit_message(self, message: Any) -> str | None:
            return "drop" if "spam" in message.text else None

    async with (
        gateway_of(tmp_path, model, Doorman()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        await alice.say("spam spam")
        await alice.answer(await alice.say("hello"))
        entries = await settled(gateway)
    assert len(model.requests) == 1
    assert "message.dropped" in names(entries)
    assert "spam" not in str([entry.payload for entry in entries])


async def test_a_plugin_s_tape_store_holds_the_tapes_and_the_ledger_stands_beside_it(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    store = MemoryStore()

    class Brings:
        @hookimpl
        def provide_tape_store(self) -> MemoryStore:
            return store

    async with (
        gateway_of(tmp_path, model, Brings()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        await alice.answer(await alice.say("one"))
        await settled(gateway)
        (info,) = await store.tapes()
        assert info.name == tape_of(gateway).name
    assert (tmp_path / "ledger.db").exists()
    assert not (tmp_path / "tapeway.db").exists()


async def test_a_plugin_s_context_replaces_the_builtin_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    class Whole:
        @hookimpl
        def build_tape_context(self) -> TapeContext:
            return TapeContext(None, to_messages)

    async with (
        gateway_of(tmp_path, model, Whole()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        await alice.answer(await alice.say("before the reset"))
        await alice.answer(await alice.say(",reset"))
        await alice.answer(await alice.say("after it"))
        assert "before the reset" in str(model.requests[-1].body["messages"])


async def test_a_plugin_whose_every_result_is_wrong_takes_nothing_down(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    @hookimpl
    def wrong(_plugin: object) -> Any:
        return to_messages

    hooks = "resolve_session load_state build_prompt run_model run_model_stream render_outbound"
    hooks += " system_prompt provide_channels provide_tape_store build_tape_context provide_tools"
    wrongs = type("Wrong", (), dict.fromkeys(f"{hooks} admit_message".split(), wrong))

    class Raises:
        @hookimpl
        def provide_channels(self) -> Any:
            raise RuntimeError("no such platform")

        @hookimpl
        def build_tape_context(self) -> TapeContext:
            return TapeContext(None, lambda _entries: ["not", "messages"])  # type: ignore[list-item]

        @hookimpl
        def provide_tools(self) -> list[Tool]:
            async def ran(_arguments: NoArguments, _context: ToolContext) -> str:
                return ""

            return [Tool("tape_search", "A builtin tool, to a provider.", NoArguments, ran)]

    async with (
        gateway_of(tmp_path, model, wrongs(), Raises()) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("fine",)))
        answer = await alice.answer(await alice.say("hello"))
        named = {(found.plugin, found.hook) for found in gateway.services.hooks.findings}
    assert answer["text"] == "fine"
    assert model.refused == []
    assert len({hook for _plugin, hook in named}) == 12
    assert len({plugin for plugin, _hook in named}) == 2


async def test_an_anchor_that_a_turn_sets_counts_from_the_next_turn_on(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        handoff = Call("c", "tape_handoff", '{"name":"task/done","summary":"all is well"}')
        model.enqueue(ToolCalls((handoff,)), Text(("done",)), Text(("next",)))
        await alice.answer(await alice.say("finish it"))
        await alice.answer(await alice.say("what now?"))
        second, third = (r.body["messages"] for r in model.requests[1:])
    assert "] finish it" in str(second)
    assert second[-1]["role"] == "tool"
    assert "finish it" not in str(third)
    assert "all is well" in third[1]["content"]
    assert model.refused == []


@pytest.mark.parametrize("selection", ["rules", "model"])
async def test_a_setting_lets_the_model_choose_what_a_context_shows(
    model: FakeOpenAI, tmp_path: Path, selection: str
) -> None:
    arguments = json.dumps({"task": "tea"})
    async with (
        gateway_of(tmp_path, model, CONTEXT__SELECTION=selection) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("noted",)))
        await alice.answer(await alice.say("the tea is in the tin"))
        choice = [Text(("[2]",))] if selection == "model" else []
        model.enqueue(ToolCalls((Call("c", "tape_context", arguments),)), *choice, Text(("ok",)))
        await alice.answer(await alice.say("where is it?"))
        entries = await settled(gateway)
        systems = [str(request.body["messages"][0]["content"]) for request in model.requests]
    (made,) = [entry for entry in entries if entry.name == "context.construct"]
    assert made.payload["data"]["record"]["strategy"] == selection
    asked = [text for text in systems if text.startswith("Choose the entries")]
    assert len(asked) == (selection == "model")
