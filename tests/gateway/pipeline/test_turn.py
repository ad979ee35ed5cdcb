"""Which turns run."""

from __future__ import annotations

from dataclasses import replace

from agent.tool import Role
from agent.turn_log import TurnLog
from gateway.pipeline.turn import Question, RunningTurns, Turn
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of


def turn(number: int, **changes: str) -> Turn:
    tape = Tape(MemoryStore(), "t")
    row = row_of(replace(MESSAGE, **changes))  # type: ignore[arg-type]
    question = Question(f"s{number}", "t", None, Role.MEMBER, (row,))
    return Turn(f"t-{number}", question, tape, TurnLog(tape, f"t-{number}", None))


def test_a_turn_is_found_by_the_message_that_it_answers_while_it_runs() -> None:
    turns = RunningTurns()
    first = turn(1)
    turns.add(first)
    assert turns.by_message(MESSAGE) is first
    assert turns.sessions() == {"s1"}
    turns.remove(first)
    assert turns.by_message(MESSAGE) is None
    assert turns.sessions() == set()


def test_messages_of_two_accounts_with_one_key_have_turns_of_their_own() -> None:
    turns = RunningTurns()
    first, second = turn(1), turn(2, account="other")
    turns.add(first)
    turns.add(second)
    assert turns.by_message(MESSAGE) is first
    assert turns.by_message(replace(MESSAGE, account="other")) is second
