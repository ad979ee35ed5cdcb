"""A model that chooses what a context shows."""

from __future__ import annotations

import pytest

from agent import ModelDown
from agent.model_strategy import MAX_OFFERED, ByModel
from agent.testing import ScriptedModel, new_tape
from tape.construct import ContextConstructor
from tape.entry import message
from tape.handle import Tape


@pytest.fixture
async def tape() -> Tape:
    tape = new_tape()
    await tape.append(*(message("user", f"tea number {number}") for number in range(5)))
    return tape


async def shown(tape: Tape, model: ScriptedModel, budget: int = 4000) -> list[str]:
    made = await ContextConstructor(ByModel(model)).construct_for_task("tea", tape, budget=budget)
    assert made.record["strategy"] == "model"
    return [str(one["content"]) for one in made.messages if one["role"] == "user"]


def offered(model: ScriptedModel) -> list[str]:
    text = str(model.requests[0].messages[1]["content"])
    return [line.split(") ", 1)[1] for line in text.splitlines() if "tokens)" in line]


async def test_the_model_s_numbers_choose_in_the_order_of_the_tape(tape: Tape) -> None:
    model = ScriptedModel("I take [4, 2], because they matter.")
    found = await shown(tape, model)
    lines = offered(model)
    assert found == sorted(line for line in (lines[3], lines[1]) if "number" in line)
    assert "The task: tea" in str(model.requests[0].messages[1]["content"])
    assert model.requests[0].tools == ()


@pytest.mark.parametrize("answer", ["none of them", "[]", "[99, 0]", ""])
async def test_the_rules_choose_where_the_model_names_nothing(tape: Tape, answer: str) -> None:
    assert len(await shown(tape, ScriptedModel(answer))) == 5


async def test_the_rules_choose_where_the_model_fails(tape: Tape) -> None:
    assert len(await shown(tape, ScriptedModel(ModelDown("500")))) == 5


async def test_what_exceeds_the_budget_is_left_out(tape: Tape) -> None:
    everything = str(list(range(1, 7)))
    assert len(await shown(tape, ScriptedModel(everything), budget=60)) < 5


async def test_the_model_is_shown_few_candidates(tape: Tape) -> None:
    await tape.append(*(message("user", f"tea {'x' * 999} {number}") for number in range(150)))
    model = ScriptedModel("[1]")
    await shown(tape, model)
    lines = offered(model)
    assert len(lines) == MAX_OFFERED
    assert max(map(len, lines)) <= 300
