"""A few schedules of the chaos run with fixed seeds, and what its oracle tells of."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.delivery.sender import RESENT
from tests.chaos.oracle import Verdict, judge
from tests.chaos.order import Queue, of_each_person, of_the_chat, of_the_chat_unless_cut_off
from tests.chaos.plan import LINES, Policy, Question, make_plan
from tests.chaos.record import Record, Row, Sent, line
from tests.chaos.run import Played, Run, Wanted, more_plans, random_plans
from tests.chaos.stage import CHANNELS, stage_of
from tests.chaos.table import points, table
from tests.chaos.window import NONE, RECEIPTS, Window

ASKED = Question(0.0, "Q0001", 0, 0, "short")
SHORT = {
    "discord": ("lost-answer", "kill-missed", "kill-after-final", "lost-events"),
    "slack": ("lost-answer", "kill-draft", "kill-before-final", "no-streams"),
    "telegram": ("lost-answer", "kill-handed", "kill-told-final"),
    "web": ("lost-answer", "kill-accept", "kill-after-final", "kill-draft"),
}


async def test_every_question_has_one_answer_on_every_channel(tmp_path: Path) -> None:
    assert SHORT.keys() == CHANNELS.keys()
    wanted = [
        Wanted(channel, name, "7.1", "resend") for channel, names in SHORT.items() for name in names
    ]
    run = Run(tmp_path, side_by_side=4, a_home=2)
    await run.play(wanted)
    assert [each.verdict.notes for each in run.played if each.verdict.failed] == []
    assert len(run.played) == len(wanted)
    assert all(each.verdict.asked >= 3 for each in run.played)
    assert [each.plan for each in run.played if each.traps and not sum(each.fired.values())] == []


async def test_a_gateway_in_a_new_interpreter_is_played_with_all_the_same(tmp_path: Path) -> None:
    run = Run(tmp_path, side_by_side=1, fresh=1)
    await run.play([Wanted("web", "none", "7.1", "resend")])
    assert [each.verdict.notes for each in run.played] == [[]]


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_seed_is_one_plan(channel: str) -> None:
    menu = stage_of(channel).menu
    assert make_plan(menu, "mixed", "7.1") == make_plan(menu, "mixed", "7.1")
    assert make_plan(menu, "mixed", "7.1") != make_plan(menu, "mixed", "7.2")


@pytest.mark.parametrize("channel", CHANNELS)
def test_random_schedules_are_about_every_fault_under_both_policies(channel: str) -> None:
    plans = random_plans(channel, 4, 0, 300, (), ("resend", "hold"))
    for policy in ("resend", "hold"):
        faults = {plan.fault for plan in plans if plan.policy == policy}
        assert faults == set(stage_of(channel).menu.faults)
    pieces = [random_plans(channel, 4, at, 100, (), ("resend", "hold")) for at in (0, 100, 200)]
    assert [plan for piece in pieces for plan in piece] == plans


def test_a_kill_point_counts_where_its_trap_fired() -> None:
    played = [_played("kill-draft", fired=True), _played("kill-draft", fired=False)]
    rows = [each.as_json() for each in played]
    assert points("web", "resend", rows)["kill-draft"] == 1
    assert points("web", "hold", rows)["kill-draft"] == 0
    more = more_plans("web", "4", rows, ("resend",), 2)
    assert sum(plan.fault == "kill-draft" for plan in more) == 1
    assert sum(plan.fault == "kill-model" for plan in more) == 2
    told = table("web", rows, "4").splitlines()
    assert told[1].split()[:5] == ["kill-draft", "2", "0", "0", "1/2"]
    assert "kill-draft 1+0" in told[-2]


def test_the_oracle_sees_what_is_lost() -> None:
    assert _judged(_record(("2", _answer(1, 6)))).lost == 1


def test_the_oracle_sees_an_answer_that_is_there_twice() -> None:
    twice = _record(("2", _answer()), ("3", _answer()))
    assert _judged(twice).outside == 1
    assert _judged(_record(("2", _answer()))).outside == 0


def test_a_question_of_the_page_may_be_answered_with_its_author_s_next() -> None:
    record = _two(accepted=(1, 2), answered=("Q0002",))
    record.rows["Q0001"].asked_with = "Q0002"
    assert _judged(record).outside == 1
    record.plan = make_plan(stage_of("web").menu, "none", "1")
    assert _judged(record).failed is False
    assert _judged(record, queue=of_each_person(2)).outside == 1
    record.texts[0].append(("9", _answer(token="Q0001")))
    assert _judged(record).outside == 1
    record.texts[0] = [("3", _answer(1, 6, "Q0002"))]
    assert _judged(record).lost == 1


def test_the_oracle_sees_an_answer_in_another_chat() -> None:
    record = _record(("2", _answer()))
    record.texts[1] = [("3", _answer())]
    assert _judged(record).outside == 1


def test_a_marked_copy_is_inside_the_window_where_the_first_was_not_heard_of() -> None:
    record = _record(("2", _answer()), ("3", RESENT + _answer()))
    assert (_judged(record).inside, _judged(record).outside) == (0, 1)
    record.sent.append(Sent("2", 0, 1.0, 1.0, heard=False))
    assert (_judged(record).inside, _judged(record).outside) == (1, 0)


def test_a_place_that_knows_its_keys_has_no_window() -> None:
    record = _record(("2", _answer()), ("3", RESENT + _answer()))
    record.sent.append(Sent("2", 0, 1.0, 1.0, heard=False))
    record.kills.append(1.0)
    assert (_judged(record, NONE).inside, _judged(record, NONE).outside) == (0, 1)


def test_a_kill_explains_one_marked_copy_in_a_chat() -> None:
    copies = [("3", RESENT + _answer()), ("4", RESENT + _answer())]
    record = _record(("2", _answer()), *copies)
    record.sent = [Sent(number, 0, 1.0, 1.0, heard=True) for number in ("2", "3")]
    record.kills, record.starts = [1.01], [1.2]
    assert (_judged(record).inside, _judged(record).outside) == (2, 1)
    record.sent[1].called_at = record.sent[1].applied_at = 2.0
    record.kills.append(2.01)
    assert (_judged(record).inside, _judged(record).outside) == (2, 0)


def test_a_request_of_the_next_gateway_was_not_cut_off_by_the_kill_before_it() -> None:
    record = _record(("2", _answer()), ("3", RESENT + _answer()))
    record.kills, record.starts = [1.0], [0.1, 1.1]
    record.sent = [Sent("2", 0, 1.3, 1.3, heard=True)]
    assert _judged(record).outside == 1
    record.sent = [Sent("2", 0, 1.15, 1.15, heard=True)]
    assert _judged(record).outside == 0


def test_where_sends_are_held_there_is_no_copy_at_all() -> None:
    record = _record(("2", _answer()), ("3", RESENT + _answer()), policy="hold")
    record.sent.append(Sent("2", 0, 1.0, 1.0, heard=False))
    assert _judged(record).outside == 1


def test_an_answer_is_held_where_that_is_wanted_and_something_was_cut_off() -> None:
    record = _record(policy="hold")
    record.rows[ASKED.token].sends.append(("ambiguous", _answer(), "None"))
    assert (_judged(record).held, _judged(record).lost) == (1, 1)
    record.kills.append(1.0)
    assert (_judged(record).held, _judged(record).lost) == (1, 0)
    assert _judged(record, NONE).lost == 1
    resent = _record()
    resent.rows, resent.kills = record.rows, record.kills
    assert _judged(resent).lost == 1


def test_a_beginning_is_an_orphan_where_the_gateway_was_killed_after_it() -> None:
    record = _record(("2", _answer(1, 3)), ("3", _answer()))
    record.sent.append(Sent("2", 0, 1.0, 1.0, heard=True))
    assert (_judged(record).orphans, _judged(record).outside) == (0, 1)
    record.kills.append(1.5)
    assert (_judged(record).orphans, _judged(record).outside) == (1, 0)


@pytest.mark.parametrize("queue", [of_the_chat, of_each_person(2), of_the_chat_unless_cut_off])
def test_a_lane_is_answered_as_it_was_accepted(queue: Queue) -> None:
    record = _two(accepted=(1, 2), answered=("Q0002", "Q0001"))
    assert _judged(record, queue=queue).disorder == 1
    record = _two(accepted=(1, 2), answered=("Q0001", "Q0002"))
    assert _judged(record, queue=queue).disorder == 0


def test_another_order_than_the_asking_is_one_only_where_the_platform_keeps_it() -> None:
    turned = _two(accepted=(2, 1), answered=("Q0002", "Q0001"))
    assert _judged(turned, queue=of_the_chat).disorder == 1
    assert _judged(turned, queue=of_each_person(2)).disorder == 0
    assert _judged(turned, queue=of_each_person(1)).disorder == 1


@pytest.mark.parametrize(
    ("fault", "disorder"), [("none", 1), ("model-500", 1), ("kill", 0), ("half-open", 0)]
)
def test_slack_may_deliver_late_what_was_cut_off(fault: str, disorder: int) -> None:
    turned = _two(accepted=(2, 1), answered=("Q0002", "Q0001"))
    turned.plan = make_plan(stage_of("slack").menu, fault, "1")
    assert _judged(turned, queue=of_the_chat_unless_cut_off).disorder == disorder


def _judged(record: Record, window: Window = RECEIPTS, queue: Queue = of_the_chat) -> Verdict:
    return judge(record, window, queue)


def _answer(first: int = 1, last: int = LINES["short"], token: str = ASKED.token) -> str:
    return "".join(line(token, number, LINES["short"]) for number in range(first, last + 1))


def _two(accepted: tuple[int, int], answered: tuple[str, ...]) -> Record:
    """Return what came of two people's questions in one lane."""
    record = _record(*((str(at), _answer(token=token)) for at, token in enumerate(answered, 2)))
    record.asked.append(replace(ASKED, token="Q0002", person=1))
    for question, number in zip(record.asked, accepted, strict=True):
        record.rows[question.token] = Row("done", "", [], number)
    return record


def _record(*messages: tuple[str, str], policy: Policy = "resend") -> Record:
    plan = make_plan(stage_of("telegram").menu, "none", "1", policy)
    record = Record(plan, Path("/nowhere"), asked=[ASKED])
    record.texts[0] = list(messages)
    record.rows[ASKED.token] = Row("done", "", [])
    record.seconds = time.monotonic()
    return record


def _played(fault: str, *, fired: bool) -> Played:
    plan = make_plan(stage_of("web").menu, fault, "1")
    return Played(plan, Verdict(), {fault: 1}, {fault: int(fired)}, 1.0, "")
