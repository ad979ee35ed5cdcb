"""One answer without a gateway."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agent
from agent import ModelDown, answer
from agent.testing import ScriptedModel, asks, call, new_tape
from tests.agent.looped import TOO_LONG
from tests.agent.scripted import ECHO


async def test_question_calls_and_answer_are_on_the_tape() -> None:
    tape = new_tape()
    model = ScriptedModel(asks(call("echo")), "done")
    assert await answer(model, tape, "Say it.", tools=[ECHO], system="Be brief.") == "done"
    opening = 2  # the anchor of the tape, and its event
    entries = (await tape.find())[opening:]
    assert [entry.name or entry.kind for entry in entries] == [
        "turn.start",
        "message",
        "prompt.system",
        "tool_call",
        "tool.done",
        "tool_result",
        "loop.step",
        "loop.step",
        "message",
        "turn.end",
    ]
    assert entries[-1].payload["data"]["status"] == "done"
    assert len({entry.meta.get("turn") for entry in entries if entry.name != "prompt.system"}) == 1


async def test_a_second_answer_knows_the_first() -> None:
    tape = new_tape()
    model = ScriptedModel("one", "two")
    await answer(model, tape, "First?")
    await answer(model, tape, "Second?")
    assert [(m["role"], m["content"]) for m in model.requests[1].messages[1:]] == [
        ("user", "First?"),
        ("assistant", "one"),
        ("user", "Second?"),
    ]


async def test_a_prompt_that_is_too_long_is_asked_again_with_the_question_alone() -> None:
    tape = new_tape()
    model = ScriptedModel("one", TOO_LONG, "two")
    await answer(model, tape, "First?")
    assert await answer(model, tape, "Second?") == "two"
    anchor, question = (message["content"] for message in model.requests[-1].messages)
    assert anchor.startswith("[Anchor created: auto_handoff/context_overflow]")
    assert question == "Second?"


async def test_a_failed_answer_has_its_end_on_the_tape() -> None:
    tape = new_tape()
    with pytest.raises(ModelDown):
        await answer(ScriptedModel(ModelDown("500")), tape, "Well?")
    step, end = (await tape.find())[-2:]
    assert (step.payload["data"]["status"], step.payload["data"]["error"]) == (
        "error",
        "ModelDown: 500",
    )
    assert end.payload["data"]["status"] == "failed"


async def test_a_script_that_is_over_says_so() -> None:
    with pytest.raises(AssertionError, match="no step 1"):
        await answer(ScriptedModel(), new_tape(), "Well?")


def test_the_public_names_are_sorted_and_there() -> None:
    assert agent.__all__ == sorted(agent.__all__)
    assert all(hasattr(agent, name) for name in agent.__all__)


def test_importing_the_agent_imports_no_sdk() -> None:
    check = (
        "import agent, agent.testing, sys;"
        " sys.exit('openai' in sys.modules or 'pytest' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
