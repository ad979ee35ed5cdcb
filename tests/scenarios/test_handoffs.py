"""Anchors at work in a running gateway: by the model, by a person, by rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.handoffs import is_note
from tape.context import LATEST, to_messages, view_entries
from tape.entry import Entry
from tests.fakes.openai.script import Call, Request, Text, ToolCalls, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, names, settled, tape_of
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel
from tests.kit.visitor import visit


def shown(request: Request) -> list[str]:
    """Return the texts that a request shows, without the system prompt."""
    return [str(told["content"]) for told in request.body["messages"][1:]]


def anchors(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.kind == "anchor" and entry.id > 1]


def lane_of(entries: list[Entry]) -> str:
    """Return the one lane in which everything was said."""
    (lane,) = {str(entry.meta["lane"]) for entry in entries if "inbox" in entry.meta}
    return lane


async def test_thanks_bring_a_hint_the_model_sets_an_anchor_and_the_next_view_begins_there(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    arguments = '{"name":"task/done","summary":"nginx reloads with -s","next_steps":"none"}'
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("how does nginx reload"))
            model.enqueue(ToolCalls((Call("a", "tape_handoff", arguments),)), Text(("Welcome.",)))
            await alice.answer(await alice.say("thanks, that worked"))
            model.enqueue(Text(("Later.",)))
            await alice.answer(await alice.say("which train goes to Lisbon"))
        entries = await settled(gateway)
    assert model.refused == []
    hinted = shown(model.requests[1])
    assert is_note(hinted[-1])
    assert hinted[-2].endswith("] thanks, that worked")
    (suggested,) = [entry for entry in entries if entry.name == "handoff.suggest"]
    assert suggested.payload["data"]["why"] == "done"
    (anchor,) = anchors(entries)
    assert anchor.name == "task/done"
    said = [e.id for e in entries if e.kind == "message" and e.id < anchor.id]
    assert anchor.payload["state"]["rests_on"] == [n for n in said if not is_note_at(entries, n)]
    last = shown(model.requests[-1])
    assert last[0].startswith('[Anchor created: task/done]: {"summary": "nginx reloads with -s"')
    assert "how does nginx reload" not in str(last)


def is_note_at(entries: list[Entry], number: int) -> bool:
    return is_note(entries[number - 1].text)


async def test_g3_a_view_with_a_hint_is_built_again_from_the_tape_byte_for_byte(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            for text in ("how does nginx reload", "thanks!", "and how does it stop"):
                model.enqueue(Text((f"About {text}.",)))
                await alice.answer(await alice.say(text))
            entries = await settled(gateway)
        lane = lane_of(entries)
        built = to_messages(await view_entries(tape_of(gateway), LATEST, lane))
        sent: list[Any] = model.requests[-1].body["messages"][1:]
    assert [is_note(text) for text in shown(model.requests[-1])].count(True) == 1
    assert built[: len(sent)] == sent


async def test_near_the_budget_the_hint_comes_before_the_overflow(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, CONTEXT__PROMPT_TOKENS="2000") as gateway:
        model.default = lambda _request: Text(("word " * 300,))
        async with visit(gateway.url, "Alice") as (alice,):
            for number in range(7):
                await alice.answer(await alice.say(f"question {number}"))
        entries = await settled(gateway)
    found = [e.name for e in entries if e.name in ("handoff.suggest", "context:overflow")]
    assert found[:2] == ["handoff.suggest", "context:overflow"]
    told = next(e.payload["data"] for e in entries if e.name == "handoff.suggest")
    assert told["why"] == "budget"
    assert 1600 < told["tokens"] <= told["budget"] == 2000


async def test_by_setting_the_gateway_sets_the_anchor_itself(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, CONTEXT__HANDOFF="auto") as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            for text in ("how does nginx reload", "thanks!", "and how does it stop"):
                model.enqueue(Text(("With -s reload.",)))
                await alice.answer(await alice.say(text))
        entries = await settled(gateway)
    (anchor,) = anchors(entries)
    assert (anchor.name, anchor.meta["lane"]) == ("task/done", lane_of(entries))
    state = anchor.payload["state"]
    assert state["summary"] == "I answered #1 Alice: With -s reload."
    assert len(state["rests_on"]) == 3
    begun = names(entries).index("task/done")
    assert names(entries)[begun : begun + 4] == ["task/done", "handoff", "turn.retake", "message"]
    first, thanks, answer, question = shown(model.requests[-1])
    assert first.startswith("[Anchor created: task/done]")
    assert thanks.endswith("] thanks!")
    assert answer == "With -s reload."
    assert question.endswith("] and how does it stop")


async def test_switched_off_there_is_neither(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model, CONTEXT__HANDOFF="off") as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            for text in ("how does nginx reload", "thanks!"):
                await alice.answer(await alice.say(text))
        entries = await settled(gateway)
    assert "handoff.suggest" not in names(entries)
    assert anchors(entries) == []


async def test_what_the_provider_tells_corrects_the_next_prompt_s_size(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, CONTEXT__PROMPT_TOKENS="4000") as gateway:
        model.default = lambda request: Text(
            ("word " * 200,), usage=Usage(request.body_bytes // 2, 10)
        )
        async with visit(gateway.url, "Alice") as (alice,):
            for number in range(9):
                await alice.answer(await alice.say(f"question {number}"))
        entries = await settled(gateway)
    steps = [e.payload["data"] for e in entries if e.name == "loop.step"]
    assert all(step["estimate"] < 4000 for step in steps)
    assert "context:overflow" in names(entries)


async def test_a_person_sets_an_anchor_with_a_line(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("which database"))
            told = await alice.answer(await alice.say(",handoff we took Postgres"))
            line = ',handoff name=task/done summary="it is done" next_steps="tell Bob"'
            await alice.answer(await alice.say(line))
        entries = await settled(gateway)
    assert "I've set the checkpoint `phase:handoff`." in told["text"]
    first, second = anchors(entries)
    assert first.payload["state"]["summary"] == "we took Postgres"
    assert first.payload["state"]["rests_on"]
    assert "lane" not in first.meta
    assert second.name == "task/done"
    assert second.payload["state"]["next_steps"] == "tell Bob"


@pytest.mark.parametrize("handoff", ["suggest", "auto"])
async def test_in_a_group_without_lanes_nobody_s_question_sets_an_anchor_for_everybody(
    model: FakeOpenAI, tmp_path: Path, handoff: str
) -> None:
    channel = PlainChannel()
    more = {"ACCESS__MODE": "open", "CONTEXT__MODE": "anchor", "CONTEXT__HANDOFF": handoff}
    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        arguments = '{"name":"task/done","summary":"forget it all"}'
        model.enqueue(
            Text(("With -s reload.",)),
            ToolCalls((Call("a", "tape_handoff", arguments),)),
            Text(("No.",)),
        )
        for number, text in ((1, "how does nginx reload"), (2, "thanks!")):
            said = replace(MESSAGE, text=text, ext_id=f"-100/{number}", message_id=str(number))
            await channel.host.accept([said])
            await settled(gateway, "plain:-100")
        entries = await settled(gateway, "plain:-100")
    assert anchors(entries) == []
    assert "handoff.suggest" not in names(entries)
    (result,) = [entry for entry in entries if entry.kind == "tool_result"]
    assert "this is only a suggestion" in str(result.payload)
