"""A few schedules of the chaos run with fixed seeds, and what its oracle tells of."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench.chaos import Wanted, play_all
from bench.chaos_oracle import judge
from bench.chaos_plan import LINES, Question, make_plan
from bench.chaos_stage import Record, Row, Sent, line
from gateway.delivery import RESENT
from tests.fakes.telegram_world import Chat

pytestmark = pytest.mark.anyio

OWN = 5000
ASKED = Question(0.0, "Q0001", 0, 0, "short")


@pytest.mark.timeout(180)
async def test_every_question_has_one_answer(tmp_path: Path) -> None:
    names = ("lost-answer", "redeliver", "kill-handed", "kill-told-final")
    wanted: list[Wanted] = [(name, "7.1", "resend") for name in names]
    played = await play_all(wanted, 2, tmp_path, a_home=2)
    assert [each.verdict.notes for each in played if each.verdict.failed] == []
    assert len(played) == 4
    assert all(each.verdict.asked >= 3 for each in played)


def test_a_seed_is_one_plan() -> None:
    assert make_plan("mixed", "7.1") == make_plan("mixed", "7.1")
    assert make_plan("mixed", "7.1") != make_plan("mixed", "7.2")


def test_the_oracle_sees_what_is_lost() -> None:
    assert judge(_record((2, _answer(1, 6)))).lost == 1


def test_the_oracle_sees_an_answer_that_is_there_twice() -> None:
    twice = _record((2, _answer()), (3, _answer()))
    assert judge(twice).outside == 1
    assert judge(_record((2, _answer()))).outside == 0


def test_a_marked_copy_is_inside_the_window_where_the_first_was_not_heard_of() -> None:
    record = _record((2, _answer()), (3, RESENT + _answer()))
    assert (judge(record).inside, judge(record).outside) == (0, 1)
    record.sent.append(Sent(2, OWN, 1.0, 1.0, heard=False))
    assert (judge(record).inside, judge(record).outside) == (1, 0)


def test_a_beginning_is_an_orphan_where_the_gateway_was_killed_after_it() -> None:
    record = _record((2, _answer(1, 3)), (3, _answer()))
    record.sent.append(Sent(2, OWN, 1.0, 1.0, heard=True))
    assert (judge(record).orphans, judge(record).outside) == (0, 1)
    record.kills.append(1.5)
    assert (judge(record).orphans, judge(record).outside) == (1, 0)


def _answer(first: int = 1, last: int = LINES["short"]) -> str:
    numbers = range(first, last + 1)
    return "".join(line(ASKED.token, number, LINES["short"]) for number in numbers)


def _record(*messages: tuple[int, str]) -> Record:
    record = Record(make_plan("none", "1"), Path("/nowhere"), [Chat(OWN, "private")], [ASKED])
    record.texts[OWN] = list(messages)
    record.rows[ASKED.token] = Row("done", "", [])
    record.seconds = time.monotonic()
    return record
