"""How the loop of a turn ends: failures, stops, and answers that were cut off."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

import anyio
import anyio.lowlevel
import pytest

from agent.ends import CUT_BY_LENGTH, MARKS
from agent.errors import AgentError, AnswerEmpty, ModelDown, StepLimit
from agent.loop import run_turn
from agent.model import ModelReply, Piece, ResetPiece, TextPiece
from agent.testing import ScriptedModel, asks, call, says
from tape.entry import TOOL_CALL, Entry, NewEntry
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tests.agent.looped import deferred, names, said
from tests.agent.scripted import ECHO, begin, stage_of

# Failing


@pytest.mark.parametrize("cause", [ModelDown("out of order"), LookupError("a plugin's model")])
async def test_a_failed_call_leaves_its_step_for_the_turn_s_end(
    tape: Tape, cause: Exception
) -> None:
    stage = stage_of(tape=tape)
    with pytest.raises(type(cause)):
        await stage.run(ScriptedModel([TextPiece("half"), cause]))
    assert deferred(stage) == [(1, "error")]
    assert type(cause).__name__ in stage.log.deferred[0].payload["data"]["error"]


async def test_a_call_that_somebody_stopped_is_a_cancelled_step(tape: Tape) -> None:
    stage = stage_of(tape=tape)
    async with aclosing(run_turn(stage.task, ScriptedModel(says("never finished")))) as events:
        await anext(events)
    assert deferred(stage) == [(1, "cancelled")]


class Stopping(MemoryStore):
    """A store in whose write of tool calls somebody presses Stop."""

    def __init__(self, stopped: anyio.CancelScope) -> None:
        super().__init__()
        self.stopped = stopped

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        written = await super().append(tape, entries, key)
        if any(entry.kind == TOOL_CALL for entry in written):
            self.stopped.cancel()
            await anyio.lowlevel.checkpoint()
        return written


async def test_a_step_that_is_stopped_in_its_write_still_says_that_the_tape_has_it() -> None:
    stopped = anyio.CancelScope()
    tape = Tape(Stopping(stopped), "chat")
    await begin(tape)
    stage = stage_of(ECHO, tape=tape)
    seen: list[str] = []
    with stopped:
        model = ScriptedModel(asks(call(), text="I look."))
        async for happened in run_turn(stage.task, model):
            seen.append(happened.kind)
            await anyio.lowlevel.checkpoint()
    assert seen == ["text", "tool_call"]
    assert (await names(tape))[-2:] == ["message", "tool_call"]


async def test_a_model_that_gives_no_reply_is_an_error(tape: Tape) -> None:
    with pytest.raises(AgentError, match="scripted gave no reply"):
        await stage_of(tape=tape).run(ScriptedModel([TextPiece("half")]))


async def test_the_last_call_shows_the_tools_but_allows_no_call(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape, steps=2)
    model = ScriptedModel(asks(call()), says("all I know"))
    events = await stage.run(model)
    assert events[-1].data == {"text": "all I know"}
    assert [len(asked.tools) for asked in model.requests] == [1, 1]
    assert [asked.tool_choice for asked in model.requests] == [None, "none"]


async def test_an_empty_last_step_keeps_the_text_that_was_shown_before_its_tools(
    tape: Tape,
) -> None:
    model = ScriptedModel(asks(call(), text="I looked: four."), [AnswerEmpty("nothing")])
    stage = stage_of(ECHO, tape=tape)
    events = await stage.run(model)
    assert said(events) == "I looked: four."
    assert events[-1].data == {"text": ""}
    assert deferred(stage) == [(2, "empty")]


async def test_a_step_that_starts_over_keeps_the_text_of_the_steps_before_it(tape: Tape) -> None:
    over = [TextPiece("Fi"), ResetPiece("cut"), *says("Four.")]
    stage = stage_of(ECHO, tape=tape)
    events = await stage.run(ScriptedModel(asks(call(), text="I look."), over))
    shown = ""
    for happened in events:
        shown = "" if happened.kind == "reset" else shown + str(happened.data.get("delta", ""))
    assert shown == "I look.\n\nFour."


async def test_an_empty_answer_without_any_text_before_it_is_an_error(tape: Tape) -> None:
    with pytest.raises(AnswerEmpty):
        await stage_of(ECHO, tape=tape).run(ScriptedModel(asks(call()), [AnswerEmpty("nothing")]))


async def test_a_last_answer_beside_a_call_that_was_not_allowed_is_the_answer(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape, steps=1)
    events = await stage.run(ScriptedModel(asks(call(), text="Four.")))
    assert events[-1].data == {"text": "Four."}


# Answers that the provider cuts off


def cut(text: str, finish_reason: str) -> list[Piece]:
    return [TextPiece(text), ModelReply("scripted", text, finish_reason=finish_reason)]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_cut_answer_is_shown_with_a_mark_that_says_so(tape: Tape, reason: str) -> None:
    events = await stage_of(tape=tape).run(ScriptedModel(cut("The first half", reason)))
    shown = f"The first half\n\n{MARKS[reason]}"
    assert said(events) == shown
    assert events[-1].data == {"text": shown, "ended": reason}


async def test_a_mark_stands_outside_of_a_code_block_that_was_cut(tape: Tape) -> None:
    events = await stage_of(tape=tape).run(ScriptedModel(cut("```py\nx = 1", "length")))
    assert said(events) == f"```py\nx = 1\n```\n\n{CUT_BY_LENGTH}"


async def test_a_model_that_still_calls_at_the_limit_ends_the_turn(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape, steps=2)
    model = ScriptedModel(asks(call()), asks(call()))
    with pytest.raises(StepLimit, match="step 2"):
        await stage.run(model)
    assert await stage.steps() == [(1, "tools"), (2, "step_limit")]
    assert len(await tape.find(kinds=("tool_call",))) == 1
