"""Anchors that are suggested, and anchors that are set by themselves, in the loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.anchors import HINT
from agent.errors import ModelDown
from agent.handoffs import SUGGEST, Handoffs, Mode, Why, is_note
from agent.model import ModelRequest
from agent.models.offline import last_question
from agent.testing import ScriptedModel, asks, call, new_tape, says
from agent.tools import BUILTIN_TOOLS
from tape.entry import event, message
from tape.handle import Tape
from tape.turn_events import TURN_RETAKE, TURN_START
from tests.agent.scripted import ECHO, LANE, QUESTION, TURN, Stage, begin, stage_of


@pytest.fixture
async def tape() -> AsyncIterator[Tape]:
    made = new_tape()
    await made.append(message("assistant", "x" * 4000, lane=LANE))
    await begin(made)
    yield made
    await made.store.close()


def stage(tape: Tape, mode: Mode = "suggest", looks: Why = "", **more: Any) -> Stage:
    limits = {"budget": 1200, "handoffs": Handoffs(mode, looks), **more}
    return stage_of(ECHO, *BUILTIN_TOOLS, tape=tape, **limits)


def notes(request: ModelRequest) -> list[int]:
    """Return where the hints of a request stand, from its end."""
    texts = [str(shown["content"]) for shown in request.messages]
    return [at - len(texts) for at, text in enumerate(texts) if is_note(text)]


async def ended(stage: Stage) -> None:
    """Write down what the loop has left for its turn's end, as the gateway does."""
    await stage.log.record(*stage.log.deferred, message("assistant", "ok", final=True))


async def next_turn(tape: Tape, turn: str = "t-2") -> None:
    (asked,) = await tape.append(message("user", "And now?", lane=LANE, inbox=2))
    await tape.append(event(TURN_START, {"turn": turn, "takes": [asked.id]}, turn=turn, lane=LANE))


async def test_near_the_budget_an_anchor_is_suggested_at_the_end_of_the_view(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    made = stage(tape)
    await made.run(model)
    assert notes(model.requests[0]) == [-1]
    (suggestion,) = await tape.find(name=SUGGEST)
    data = suggestion.payload["data"]
    assert (data["why"], data["budget"]) == ("budget", 1200)
    assert 0.8 * 1200 < data["tokens"] <= 1200
    assert suggestion.meta == {"turn": TURN, "lane": LANE}


async def test_what_stands_before_a_hint_is_what_would_have_been_sent_without(tape: Tape) -> None:
    without, model = ScriptedModel(says("ok")), ScriptedModel(says("ok"))
    await stage(tape, "off").run(without)
    await stage(tape).run(model)
    assert list(model.requests[0].messages[:-1]) == list(without.requests[0].messages)


async def test_a_view_with_a_hint_is_only_ever_appended_to(tape: Tape) -> None:
    first, second = ScriptedModel(asks(call()), says("ok")), ScriptedModel(says("ok"))
    made = stage(tape)
    await made.run(first)
    await ended(made)
    await next_turn(tape)
    await stage(tape, turn="t-2").run(second)
    hinted = list(first.requests[0].messages)
    assert list(first.requests[1].messages[: len(hinted)]) == hinted
    assert list(second.requests[0].messages[: len(hinted)]) == hinted


async def test_it_is_suggested_once_for_a_lane_and_anchor(tape: Tape) -> None:
    made = stage(tape)
    await made.run(ScriptedModel(asks(call()), says("ok")))
    await ended(made)
    await next_turn(tape)
    await stage(tape, turn="t-2").run(ScriptedModel(says("ok")))
    assert len(await tape.find(name=SUGGEST)) == 1
    await tape.handoff("task/done", lane=LANE)
    await tape.append(message("assistant", "x" * 4000, lane=LANE))
    await next_turn(tape, "t-3")
    await stage(tape, turn="t-3").run(ScriptedModel(says("ok")))
    assert len(await tape.find(name=SUGGEST)) == 2


async def test_another_lane_has_its_own(tape: Tape) -> None:
    await stage(tape).run(ScriptedModel(says("ok")))
    elsewhere = Handoffs("suggest")
    other = stage_of(tape=tape, turn="t-2").log
    other.lane = "lane-2"
    assert await elsewhere.suggest(other, "budget", 9, 10)
    assert [entry.meta["lane"] for entry in await tape.find(name=SUGGEST)] == [LANE, "lane-2"]


async def test_far_from_the_budget_nothing_is_suggested(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    await stage(tape, budget=10_000).run(model)
    assert notes(model.requests[0]) == []
    assert await tape.find(name=SUGGEST) == []


@pytest.mark.parametrize("looks", ["done", "quiet"])
async def test_a_question_that_looks_like_an_end_or_a_beginning_is_enough(
    tape: Tape, looks: Why
) -> None:
    model = ScriptedModel(says("ok"))
    await stage(tape, looks=looks, budget=10_000).run(model)
    assert notes(model.requests[0]) == [-1]
    assert [e.payload["data"]["why"] for e in await tape.find(name=SUGGEST)] == [looks]


async def test_off_is_off(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    await stage(tape, "off", "done").run(model)
    assert notes(model.requests[0]) == []


async def test_an_overflow_is_no_time_for_suggestions(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    await stage(tape, budget=500, looks="done").run(model)
    assert await tape.find(name=SUGGEST) == []


async def test_a_call_without_tools_has_no_hint(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    await stage(tape, steps=1).run(model)
    assert notes(model.requests[0]) == []


async def test_a_model_without_the_tool_gets_no_hint_to_use_it(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    made = stage_of(ECHO, tape=tape, budget=1200, handoffs=Handoffs("auto"))
    await made.run(model)
    await ended(made)
    assert notes(model.requests[0]) == []
    assert len(await tape.find(name=SUGGEST)) == 1
    assert [a.name for a in await tape.find(turn=TURN, kinds=("anchor",))] == ["task/progress"]


async def test_the_correction_by_usage_counts(tape: Tape) -> None:
    made = stage(tape, budget=1800)
    for _call in range(20):
        shown = {"usage": {"prompt_tokens": 1500}, "estimate": 1000, "model": "scripted"}
        made.task.meter.learn("scripted", shown)
    model = ScriptedModel(says("ok"))
    await made.run(model)
    assert notes(model.requests[0]) == [-1]


async def test_an_anchor_that_the_model_then_sets_is_not_followed_by_another_hint(
    tape: Tape,
) -> None:
    wanted = call("tape.handoff", arguments='{"name":"task/done","summary":"it is a tape"}')
    long = call("echo", "c2", f'{{"text":"{"y" * 100}"}}')
    model = ScriptedModel(asks(wanted), asks(long), says("ok"))
    made = stage(tape, "auto", "done", budget=1300)
    await made.run(model)
    assert len(await tape.find(name=SUGGEST)) == 1
    await ended(made)
    own = await tape.find(turn=TURN, kinds=("anchor",))
    assert [anchor.name for anchor in own] == ["task/done"]
    assert own[0].payload["state"]["summary"] == "it is a tape"
    assert own[0].payload["state"]["rests_on"]


@pytest.mark.parametrize(
    ("looks", "budget", "name"), [("done", 10_000, "task/done"), ("", 1200, "task/progress")]
)
async def test_by_setting_an_anchor_is_set_where_the_model_sets_none(
    tape: Tape, looks: Why, budget: int, name: str
) -> None:
    await tape.append(message("assistant", "It is a tape.", lane=LANE))
    made = stage(tape, "auto", looks, budget=budget)
    await made.run(ScriptedModel(says("ok")))
    await ended(made)
    (anchor,) = await tape.find(turn=TURN, kinds=("anchor",))
    assert (anchor.name, anchor.meta) == (name, {"turn": TURN, "lane": LANE})
    state = anchor.payload["state"]
    assert state["summary"].endswith("\nI answered somebody: It is a tape.")
    assert QUESTION not in state["summary"]
    said = [e.id for e in await tape.find(kinds=("message",)) if HINT not in e.meta]
    assert state["rests_on"] == said[:3]
    assert state["why"] == (looks or "budget")


async def test_a_resumed_turn_is_hinted_at_once(tape: Tape) -> None:
    with pytest.raises(ModelDown):
        await stage(tape).run(ScriptedModel([ModelDown("out")]))
    model = ScriptedModel(says("ok"))
    await stage(tape).run(model)
    assert notes(model.requests[0]) == [-1]
    assert len(await tape.find(name=SUGGEST)) == 1


async def test_by_setting_suggest_no_anchor_is_set(tape: Tape) -> None:
    made = stage(tape, "suggest", "done")
    await made.run(ScriptedModel(says("ok")))
    await ended(made)
    assert await tape.find(turn=TURN, kinds=("anchor",)) == []


async def test_after_an_automatic_anchor_the_view_begins_with_it_and_the_last_question(
    tape: Tape,
) -> None:
    (asked,) = [entry.id for entry in await tape.read() if "inbox" in entry.meta]
    made = stage(tape, handoffs=Handoffs("auto", "done", (asked,)))
    await made.run(ScriptedModel(says("ok")))
    await ended(made)
    await next_turn(tape)
    model = ScriptedModel(says("ok"))
    await stage(tape, turn="t-2").run(model)
    texts = [str(shown["content"]) for shown in model.requests[0].messages]
    assert texts[0].startswith("[Anchor created: task/done]")
    assert texts[1:] == [QUESTION, "ok", "And now?"]


async def test_after_an_automatic_anchor_a_question_that_was_steered_into_the_turn_is_shown(
    tape: Tape,
) -> None:
    (asked,) = [entry.id for entry in await tape.read() if "inbox" in entry.meta]
    made = stage(tape, handoffs=Handoffs("auto", "done", (asked,)))
    (other,) = await tape.append(message("user", "And where?", inbox=2, lane=LANE))
    take = {"turn": TURN, "takes": [other.id], "steered": True}
    await made.log.record(event(TURN_RETAKE, take))
    await made.log.record(event(TURN_RETAKE, take))
    await made.run(ScriptedModel(says("ok")))
    await ended(made)
    await next_turn(tape)
    model = ScriptedModel(says("ok"))
    await stage(tape, turn="t-2").run(model)
    texts = [str(shown["content"]) for shown in model.requests[0].messages]
    assert texts[1:] == [QUESTION, "And where?", "ok", "And now?"]


def test_the_offline_model_does_not_take_a_hint_for_a_person_s_words() -> None:
    note = "[Note of the gateway, not of a person: the task above seems to be finished."
    assert is_note(note)
    said = [{"role": "user", "content": "hello"}, {"role": "user", "content": note}]
    assert last_question(said) == "hello"
