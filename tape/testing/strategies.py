"""Checks of a strategy, which chooses what a context for a task shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from tape.construct import Candidate, ContextConstructor, Strategy
from tape.entry import message
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tape.testing.tapes import T

StrategyCheck = Callable[[Strategy], Awaitable[None]]

TASK: Final = "how is the tea made?"
BUDGET: Final = 200
CANDIDATES: Final = tuple(
    Candidate((number,), ("words",), 1 / number, 40, text=f"tea number {number}")
    for number in range(1, 11)
)


async def each_candidate_is_chosen_or_not_once(strategy: Strategy) -> None:
    """There is one choice for each candidate, with the reason, and none for anything else."""
    choices = await strategy.choose(TASK, CANDIDATES, BUDGET)
    found = sorted(choice.candidate.ids for choice in choices)
    assert found == [one.ids for one in CANDIDATES], f"the choices are of {found}"
    assert all(choice.why for choice in choices), "a choice has no reason"


async def nothing_to_choose_from_is_no_error(strategy: Strategy) -> None:
    """Without candidates there are no choices."""
    assert not await strategy.choose(TASK, (), BUDGET)


async def a_context_stays_within_its_budget_and_can_be_rebuilt(strategy: Strategy) -> None:
    """What it chooses of a long tape fits, is recorded with its name, and is found once more."""
    tape = Tape(MemoryStore(), T)
    await tape.append(*(message("user", f"tea number {n}: {'hot ' * 20}") for n in range(30)))
    constructor = ContextConstructor(strategy)
    made = await constructor.construct_for_task(TASK, tape, budget=BUDGET)
    assert made.tokens <= BUDGET, f"{made.tokens} tokens are shown, {BUDGET} were allowed"
    assert made.record["strategy"] == strategy.name != ""
    again = await constructor.rebuild(tape, made.record)
    assert again.messages == made.messages


STRATEGY_CHECKS: Final[tuple[StrategyCheck, ...]] = (
    each_candidate_is_chosen_or_not_once,
    nothing_to_choose_from_is_no_error,
    a_context_stays_within_its_budget_and_can_be_rebuilt,
)
