"""The loop of one turn, on a real tape: its steps, hooks and entries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from agent.ends import CUT_BY_LENGTH, MARKS
from agent.errors import AgentError, AnswerEmpty, ModelDown, StepLimit
from agent.loop import digest, run_turn
from agent.model import ModelReply, Piece, ReasoningPiece, ResetPiece, TextPiece
from agent.models.openai import OpenAIModel
from agent.settings import AgentSettings
from agent.testing import ScriptedModel, asks, call, says
from agent.token_meter import estimate_request
from agent.tools import BUILTIN_TOOLS
from tape.entry import TOOL_CALL, Entry, NewEntry, dump, event, tool_call
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tests.agent.looped import deferred, kinds, names, said, shown
from tests.agent.scripted import ECHO, LANE, TURN, begin, stage_of
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI

# Answering


async def test_a_plain_answer_is_one_call_and_its_step_waits_for_the_turn_s_end(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape)
    model = ScriptedModel(says("It is a tape.", usage={"prompt_tokens": 9}))
    events = await stage.run(model)
    assert kinds(events) == ["text", "usage", "final"]
    assert events[-1].data == {"text": "It is a tape."}
    assert await names(tape) == []
    assert deferred(stage) == [(1, "ok")]
    (step,) = stage.log.deferred
    assert step.meta == {"turn": TURN, "lane": LANE}


async def test_a_step_records_the_request_and_the_reply(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape)
    model = ScriptedModel(says("hi", usage={"prompt_tokens": 9}))
    await stage.run(model)
    data = dict(stage.log.deferred[0].payload["data"])
    assert isinstance(data.pop("elapsed_ms"), int)
    asked = list(model.requests[0].messages)
    assert data.pop("estimate") == estimate_request(asked, model.requests[0].tools)
    assert data == {
        "step": 1,
        "status": "ok",
        "upto": await tape.size(),
        "messages": len(asked),
        "prompt": digest(dump(asked)),
        "tools": ["echo"],
        "model": "scripted",
        "usage": {"prompt_tokens": 9},
        "finish_reason": "stop",
    }


async def test_a_turn_with_tools_gives_its_events_and_entries_in_order(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape)
    both = asks(call("echo", "a"), call("echo", "b"))
    events = await stage.run(ScriptedModel(both, says("done")))
    assert kinds(events) == [
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "text",
        "final",
    ]
    assert events[0].data == {"id": "a", "name": "echo", "arguments": "{}"}
    assert [happened.data["id"] for happened in events[2:4]] == ["a", "b"]
    assert await names(tape) == ["tool_call", "tool.done", "tool.done", "tool_result", "loop.step"]
    assert (await stage.steps(), deferred(stage)) == ([(1, "tools")], [(2, "ok")])


async def test_a_call_is_on_the_tape_before_it_runs(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape)
    async with aclosing(run_turn(stage.task, ScriptedModel(asks(call())))) as events:
        assert (await anext(events)).kind == "tool_call"
        assert await names(tape) == ["tool_call"]


async def test_text_beside_calls_is_a_message_before_them_and_a_paragraph_of_its_own(
    tape: Tape,
) -> None:
    stage = stage_of(ECHO, tape=tape)
    events = await stage.run(ScriptedModel(asks(call(), text="Let me look."), says("Found.")))
    assert said(events) == "Let me look.\n\nFound."
    assert events[-1].data == {"text": "Found."}
    assert (await names(tape))[:2] == ["message", "tool_call"]
    first = (await tape.find(turn=TURN, kinds=("message",)))[0]
    assert first.payload == {"role": "assistant", "content": "Let me look."}


async def test_the_next_call_sees_the_calls_and_their_results(tape: Tape) -> None:
    model = ScriptedModel(asks(call(arguments='{"text":"hi"}')), says("done"))
    await stage_of(ECHO, tape=tape).run(model)
    calls, result = model.requests[1].messages[-2:]
    assert calls["tool_calls"][0]["function"] == {"name": "echo", "arguments": '{"text":"hi"}'}
    assert result == {"role": "tool", "content": "echo: hi", "tool_call_id": "c1", "name": "echo"}
    assert model.requests[0].messages == model.requests[1].messages[:-2]


async def test_reasoning_and_a_reset_of_the_model_are_passed_on(tape: Tape) -> None:
    answer = [ReasoningPiece("hm"), TextPiece("half"), ResetPiece("down"), *says("whole")]
    events = await stage_of(tape=tape).run(ScriptedModel(answer))
    assert kinds(events) == ["reasoning", "text", "reset", "text", "final"]


async def test_after_a_reset_the_text_begins_without_a_gap(tape: Tape) -> None:
    events = await stage_of(tape=tape).run(
        ScriptedModel([TextPiece("half"), ResetPiece("down"), *says("whole")])
    )
    assert [happened.data["delta"] for happened in events if happened.kind == "text"][-1] == "whole"


async def test_a_tool_that_help_adds_is_offered_in_the_next_step_of_this_turn(tape: Tape) -> None:
    wanted = call("help", arguments='{"tools":["tape.anchors"]}')
    model = ScriptedModel(asks(wanted), says("ok"))
    await stage_of(*BUILTIN_TOOLS, tape=tape).run(model)
    first, second = ([t["function"]["name"] for t in asked.tools] for asked in model.requests)
    assert set(second) - set(first) == {"tape_anchors"}


async def test_what_a_model_makes_up_as_a_tool_s_name_does_not_break_the_next_request(
    tape: Tape,
) -> None:
    async with FakeOpenAI() as server:
        server.enqueue(ToolCalls((Call("a", "web search.v2!", "{}"),)), Text(("I cannot.",)))
        values = {"base_url": server.base_url, "retries": 0}
        model = OpenAIModel("known", AgentSettings.model_validate(values))
        events = await stage_of(ECHO, tape=tape).run(model)
        await model.aclose()
    assert events[-1].data == {"text": "I cannot."}
    assert server.refused == []
    assert server.requests[1].body["messages"][-1]["content"].startswith("Error: there is no tool")


# The system prompt


async def test_the_system_prompt_is_recorded_once_a_text_and_belongs_to_no_turn(tape: Tape) -> None:
    for system in ("Be brief.", "Be brief.", "Be kind.", "Be brief."):
        model = ScriptedModel(says("ok"))
        await stage_of(tape=tape, system=system).run(model)
        assert model.requests[0].messages[0] == {"role": "system", "content": system}
    recorded = await tape.find(name="prompt.system")
    assert [entry.payload["data"]["text"] for entry in recorded] == ["Be brief.", "Be kind."]
    assert recorded[0].payload["data"]["sha256"] == digest("Be brief.")
    assert recorded[0].meta == {}


async def test_without_a_system_prompt_there_is_no_system_message(tape: Tape) -> None:
    model = ScriptedModel(says("ok"))
    await stage_of(tape=tape).run(model)
    assert {shown["role"] for shown in model.requests[0].messages} == {"assistant", "user"}
    assert await tape.find(name="prompt.system") == []


# Hooks


async def test_hooks_are_called_around_each_call_in_order(tape: Tape) -> None:
    stage = stage_of(ECHO, tape=tape)
    await stage.run(ScriptedModel(asks(call()), says("done")))
    assert stage.hooks.seen == [
        "before_llm_call",
        "after_llm_call",
        "before_tool_call echo",
        "after_tool_call echo",
        "before_step",
        "before_llm_call",
        "after_llm_call",
    ]


async def test_an_exception_before_a_model_call_ends_the_turn_unasked(tape: Tape) -> None:
    stage = stage_of(tape=tape)
    stage.hooks.fail["before_llm_call"] = PermissionError("over the limit")
    model = ScriptedModel(says("never"))
    with pytest.raises(PermissionError, match="over the limit"):
        await stage.run(model)
    assert model.requests == []


async def test_an_exception_after_a_model_call_ends_the_turn_with_its_step(tape: Tape) -> None:
    stage = stage_of(tape=tape)
    stage.hooks.fail["after_llm_call"] = PermissionError("not that")
    with pytest.raises(PermissionError, match="not that"):
        await stage.run(ScriptedModel(says("never")))
    assert deferred(stage) == [(1, "error")]


# Resuming


async def test_a_resumed_turn_gives_open_calls_their_results_before_it_asks(tape: Tape) -> None:
    stage = stage_of(replace(ECHO, repeatable=False), tape=tape)
    done = event("tool.done", {"call_id": "c1", "result": "as recorded", "elapsed_ms": 1})
    await stage.log.record(tool_call([call().as_openai()]), done)
    model = ScriptedModel(says("ok"))
    await stage.run(model)
    assert shown(model)[-1] == "as recorded"
    assert stage.hooks.seen == ["before_llm_call", "after_llm_call"]


async def test_the_reply_of_an_empty_text_is_a_final_event_all_the_same(tape: Tape) -> None:
    events = await stage_of(tape=tape).run(ScriptedModel([ModelReply("scripted")]))
    assert [(happened.kind, happened.data) for happened in events] == [("final", {"text": ""})]


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
