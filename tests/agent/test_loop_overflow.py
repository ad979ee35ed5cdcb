"""A prompt that is too long: the loop starts the view over, and asks again."""

from __future__ import annotations

import json

import pytest

from agent.errors import ContextOverflow, ModelDown
from agent.loop import MAX_REASON_CHARACTERS, MIN_RETAKE_TOKENS, OVERFLOW_NOTICED, OVERFLOW_REPORTED
from agent.model import TextPiece
from agent.models.retry import FallbackModel
from agent.testing import ScriptedModel, asks, call, says
from tape.entry import event, message
from tape.handle import Tape
from tape.tokens import estimate
from tape.turn_events import TURN_START
from tests.agent.looped import TOO_LONG, deferred, kinds, names, shown
from tests.agent.scripted import ECHO, LANE, QUESTION, TURN, begin, returning, stage_of


async def with_history(tape: Tape, size: int = 4000) -> None:
    """Put a long answer into the lane, and ask again."""
    await tape.append(message("assistant", "x" * size, lane=LANE))
    await begin(tape)


async def test_a_view_over_the_budget_starts_over_before_the_call(tape: Tape) -> None:
    await with_history(tape)
    stage, model = stage_of(tape=tape, budget=500), ScriptedModel(says("ok"))
    await stage.run(model)
    (anchor,) = await stage.named(OVERFLOW_NOTICED)
    state = anchor.payload["state"]
    assert (anchor.kind, state["reason"]) == ("anchor", "length")
    assert set(state) == {"reason", "rests_on"}
    asked = [entry.id for entry in await tape.find(kinds=("message",))]
    assert state["rests_on"] == asked
    assert anchor.meta == {"lane": LANE, "turn": TURN}
    assert stage.retakes == [500]
    assert (await names(tape, OVERFLOW_NOTICED))[:2] == ["handoff", "turn.retake"]
    assert shown(model) == [f"[Anchor created: {OVERFLOW_NOTICED}]: {json.dumps(state)}", QUESTION]


async def test_a_view_of_just_the_budget_stays_as_it_is(tape: Tape) -> None:
    model = ScriptedModel(says("ok"), says("ok"))
    await stage_of(tape=tape).run(model)
    stage = stage_of(tape=tape, budget=estimate(model.requests[0].messages))
    await stage.run(model)
    assert stage.retakes == []


async def test_a_view_starts_over_once_a_turn(tape: Tape) -> None:
    await with_history(tape)
    stage = stage_of(returning("long", "y" * 4000), tape=tape, budget=500)
    await stage.run(ScriptedModel(asks(call("long")), says("ok")))
    assert len(await stage.named(OVERFLOW_NOTICED)) == len(stage.retakes) == 1


async def test_a_resumed_turn_does_not_start_its_view_over_again(tape: Tape) -> None:
    await with_history(tape)
    first = stage_of(returning("long", "y" * 4000), tape=tape, budget=500)
    with pytest.raises(ModelDown):
        await first.run(ScriptedModel(asks(call("long")), [ModelDown("out")]))
    again = stage_of(tape=tape, budget=500)
    await again.run(ScriptedModel(says("ok")))
    assert again.retakes == []
    assert len(await again.named(OVERFLOW_NOTICED)) == 1


async def test_a_prompt_that_the_provider_finds_too_long_is_asked_again_after_an_anchor(
    tape: Tape,
) -> None:
    await with_history(tape)
    stage, model = stage_of(tape=tape), ScriptedModel(TOO_LONG, says("ok"))
    events = await stage.run(model)
    assert kinds(events) == ["reset", "text", "final"]
    (anchor,) = await stage.named(OVERFLOW_REPORTED)
    state = anchor.payload["state"]
    assert (state["reason"], state["error"]) == ("context_length_exceeded", "too long")
    assert state["rests_on"] == [entry.id for entry in await tape.find(kinds=("message",))]
    assert anchor.meta == {"lane": LANE, "turn": TURN}
    after = await names(tape, OVERFLOW_REPORTED)
    assert after == ["handoff", "loop.step", "turn.retake"]
    assert (await stage.steps(), deferred(stage)) == ([(1, "auto_handoff")], [(1, "ok")])
    assert shown(model)[1:] == [QUESTION]


async def test_of_a_provider_s_long_words_the_anchor_has_the_beginning(tape: Tape) -> None:
    stage = stage_of(tape=tape)
    await stage.run(ScriptedModel([ContextOverflow("too long " * 10_000)], says("ok")))
    (anchor,) = await stage.named(OVERFLOW_REPORTED)
    assert len(anchor.payload["state"]["error"]) == MAX_REASON_CHARACTERS


async def test_both_overflows_may_happen_in_one_turn_each_once(tape: Tape) -> None:
    await with_history(tape)
    stage = stage_of(tape=tape, budget=500)
    await stage.run(ScriptedModel(TOO_LONG, says("ok")))
    assert stage.retakes == [500, 500]
    assert (
        len(await stage.named(OVERFLOW_NOTICED)) == len(await stage.named(OVERFLOW_REPORTED)) == 1
    )


async def test_what_usage_has_taught_makes_the_view_that_is_taken_again_smaller(tape: Tape) -> None:
    await with_history(tape)
    stage = stage_of(tape=tape, budget=1200)
    for _call in range(30):
        happened = {"usage": {"prompt_tokens": 2000}, "estimate": 1000, "model": "scripted"}
        stage.task.meter.learn("scripted", happened)
    await stage.run(ScriptedModel(says("ok")))
    assert stage.retakes == [600]


async def test_the_second_try_may_have_half_of_what_was_too_long(tape: Tape) -> None:
    await with_history(tape, 40_000)
    stage, model = stage_of(tape=tape), ScriptedModel(TOO_LONG, says("ok"))
    await stage.run(model)
    assert stage.retakes == [estimate(model.requests[0].messages) // 2]


@pytest.mark.parametrize(("budget", "retaken"), [(100_000, MIN_RETAKE_TOKENS), (300, 300)])
async def test_a_small_prompt_is_not_halved_to_nothing_and_the_budget_holds(
    tape: Tape, budget: int, retaken: int
) -> None:
    stage = stage_of(tape=tape, budget=budget)
    await stage.run(ScriptedModel(TOO_LONG, says("ok")))
    assert stage.retakes == [retaken]


async def test_what_was_said_before_an_overflow_is_taken_back(tape: Tape) -> None:
    first = asks(call(), text="Let me look.")
    model = ScriptedModel(first, [TextPiece("half"), *TOO_LONG], says("whole"))
    events = await stage_of(ECHO, tape=tape).run(model)
    assert kinds(events)[-4:] == ["text", "reset", "text", "final"]
    assert events[-2].data == {"delta": "whole"}


async def test_an_overflow_does_not_count_as_a_step(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape, steps=2)
    model = ScriptedModel(asks(call()), TOO_LONG, says("ok"))
    await stage.run(model)
    assert (await stage.steps(), deferred(stage)) == (
        [(1, "tools"), (2, "auto_handoff")],
        [(2, "ok")],
    )


async def test_a_second_overflow_in_one_turn_is_answered_by_a_model_with_a_larger_window(
    tape: Tape,
) -> None:
    small = ScriptedModel(TOO_LONG, TOO_LONG, name="small")
    large = ScriptedModel(says("ok"), name="large")
    stage = stage_of(tape=tape)
    events = await stage.run(FallbackModel([small, large], [8_000, 100_000]))
    assert kinds(events) == ["reset", "text", "final"]
    assert large.requests == small.requests[1:]
    assert len(await stage.named(OVERFLOW_REPORTED)) == 1


async def test_a_second_overflow_in_one_turn_is_an_error(tape: Tape) -> None:
    stage = stage_of(tape=tape)
    with pytest.raises(ContextOverflow):
        await stage.run(ScriptedModel(TOO_LONG, TOO_LONG))
    assert await stage.steps() == [(1, "auto_handoff"), (1, "error")]
    assert len(await stage.named(OVERFLOW_REPORTED)) == len(stage.retakes) == 1


async def test_an_overflow_of_a_turn_that_had_one_before_it_was_resumed_is_an_error(
    tape: Tape,
) -> None:
    with pytest.raises(ModelDown):
        await stage_of(tape=tape).run(ScriptedModel(TOO_LONG, [ModelDown("out")]))
    again = stage_of(tape=tape)
    with pytest.raises(ContextOverflow):
        await again.run(ScriptedModel(TOO_LONG))
    assert again.retakes == []


async def test_the_overflow_of_another_turn_does_not_count(tape: Tape) -> None:
    await stage_of(tape=tape).run(ScriptedModel(TOO_LONG, says("ok")))
    another = stage_of(tape=tape, turn="t-2")
    await another.log.record(event(TURN_START, {"turn": "t-2", "takes": []}))
    await another.run(ScriptedModel(TOO_LONG, says("ok")))
    assert len(another.retakes) == 1
