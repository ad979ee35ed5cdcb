"""Lanes: which question runs when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio

from gateway.background import Work
from gateway.pipeline.turn import MAX_ADDED, Question, Turn
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.settings.sections import TurnSettings
from tests.gateway.scheduling.bursts import asked
from tests.gateway.scheduling.lanes import Bench, in_lane


async def test_c2_one_lane_runs_in_order_and_lanes_side_by_side(bench: Bench) -> None:
    for number, lane in ((1, "x"), (2, "x"), (3, "y")):
        bench.sessions.submit(in_lane(number, lane))
    await anyio.wait_all_tasks_blocked()
    assert sorted(bench.running) == [1, 3]
    await bench.let_go(1)
    assert bench.running[-1] == 2


async def test_more_lanes_than_may_run_wait_and_none_is_starved(bench: Bench) -> None:
    for number, lane in ((1, "x"), (2, "y"), (3, "x"), (4, "z")):
        bench.sessions.submit(in_lane(number, lane))
    await anyio.wait_all_tasks_blocked()
    assert sorted(bench.running) == [1, 2]
    await bench.let_go(1)
    assert bench.running[-1] == 4
    await bench.let_go(4)
    assert bench.running[-1] == 3


def waiting(bench: Bench) -> list[list[int]]:
    return [[row.id for row in question.rows] for question in bench.sessions.queued("s")]


async def test_what_an_author_adds_to_a_waiting_question_is_asked_with_it(bench: Bench) -> None:
    def ask(number: int, author: str = "a", thread: str = "adds", admitted: str = "") -> None:
        own = replace(asked(number, author, thread=thread), lane="x", admitted=admitted)
        bench.sessions.ask(own)

    ask(1)
    await anyio.wait_all_tasks_blocked()
    for number in (2, 3):
        ask(number)
    ask(4, "b")
    for number in (5, 6):
        ask(number)
    ask(7, admitted="follow_up")
    ask(8)
    for number in (9, 10):
        ask(number, thread="elsewhere")
    assert waiting(bench) == [[2, 3], [4], [5, 6], [7], [8], [9], [10]]
    await bench.let_go(1)
    assert bench.running == [1, 2]
    for number in range(11, 40):
        ask(number)
    assert [len(rows) for rows in waiting(bench)[-2:]] == [MAX_ADDED, 29 - MAX_ADDED]


async def test_a_press_and_what_had_begun_before_a_crash_are_asked_by_themselves(
    bench: Bench,
) -> None:
    first, pressed = (replace(asked(number, thread="adds"), lane="x") for number in (1, 2))
    row = pressed.rows[0]
    pressed = replace(pressed, rows=(replace(row, message=replace(row.message, kind="press")),))
    lost = replace(asked(4, thread="adds"), lane="x").resuming("t-lost")
    bench.sessions.submit(first)
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(pressed)
    bench.sessions.ask(replace(asked(3, thread="adds"), lane="x"))
    bench.sessions.submit(lost)
    bench.sessions.ask(replace(asked(5, thread="adds"), lane="x"))
    assert waiting(bench) == [[2], [3], [4], [5]]


async def test_one_person_s_many_questions_do_not_shut_another_out(bench: Bench) -> None:
    for number in range(1, 9):
        bench.sessions.submit(in_lane(number, f"a{number}", "a"))
    bench.sessions.submit(in_lane(9, "b", "b"))
    await anyio.wait_all_tasks_blocked()
    await bench.let_go(1)
    assert bench.running == [1, 2, 9]


async def test_sessions_do_not_wait_for_each_other(bench: Bench) -> None:
    for number in range(5):
        bench.sessions.submit(in_lane(number, None, session=f"s{number}"))
    await anyio.wait_all_tasks_blocked()
    assert sorted(bench.running) == list(range(5))


async def test_a_session_with_many_questions_leaves_places_to_the_others(bench: Bench) -> None:
    for number in range(20):
        bench.sessions.submit(in_lane(number, f"lane{number}", session=f"busy{number % 4}"))
    await anyio.wait_all_tasks_blocked()
    assert len(bench.running) == 5
    bench.sessions.submit(in_lane(100, None, session="quiet"))
    for number in list(bench.running):
        await bench.let_go(number)
        if 100 in bench.running:
            break
    assert bench.running.index(100) <= 5 + 4


async def test_c2_another_session_is_let_in_once_each_that_is_here_has_had_a_turn(
    bench: Bench,
) -> None:
    let_in: list[bool] = []

    async def enter() -> None:
        await bench.sessions.room()
        let_in.append(bench.sessions.has_room())

    for number in range(7):
        bench.sessions.submit(in_lane(number, f"lane{number}", session=f"s{min(number, 4)}"))
    bench.sessions.submit(in_lane(8, None, session="new"))
    await anyio.wait_all_tasks_blocked()
    async with anyio.create_task_group() as group:
        group.start_soon(enter)
        await anyio.wait_all_tasks_blocked()
        assert (len(bench.running), let_in) == (5, [])
        await bench.let_go(0)
        assert (bench.running[-1], let_in) == (5, [])
        await bench.let_go(1)
        assert (bench.running[-1], let_in) == (8, [False])


def suspect(number: int, lane: str, session: str = "s") -> Question:
    question = in_lane(number, lane, session=session).resuming(f"t{number}")
    return replace(question, rows=tuple(replace(row, crashes=2) for row in question.rows))


async def test_suspects_run_one_at_a_time_beside_the_others(bench: Bench) -> None:
    for number, session in ((1, "s"), (2, "s"), (3, "u")):
        bench.sessions.submit(suspect(number, f"lane{number}", session))
    bench.sessions.submit(in_lane(4, "lane2"))
    bench.sessions.submit(in_lane(5, "lane5"))
    bench.sessions.submit(in_lane(6, None, session="v"))
    await anyio.wait_all_tasks_blocked()
    assert sorted(bench.running) == [1, 5, 6]
    await bench.let_go(5)
    assert sorted(bench.running) == [1, 5, 6]
    for number, then in ((1, [2]), (2, [3, 4])):
        before = set(bench.running)
        await bench.let_go(number)
        assert sorted(set(bench.running) - before) == then


async def test_no_suspect_runs_while_they_are_held_and_all_is_not_idle(bench: Bench) -> None:
    bench.sessions.hold_suspects()
    bench.sessions.submit(suspect(1, "x"))
    bench.sessions.submit(in_lane(2, "x"))
    bench.sessions.submit(in_lane(3, "y"))
    await anyio.wait_all_tasks_blocked()
    await bench.let_go(3)
    with anyio.move_on_after(0) as waited:
        await bench.sessions.idle()
    assert (bench.running, waited.cancelled_caught) == ([3], True)
    bench.sessions.release_suspects()
    await anyio.wait_all_tasks_blocked()
    assert bench.running == [3, 1]


async def test_a_suspect_in_another_session_runs_once_the_first_was_stopped(bench: Bench) -> None:
    bench.sessions.submit(suspect(1, "x"))
    bench.sessions.submit(suspect(2, "x", "u"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.stop("s", lambda _question: True, {"why": "test"})
    await anyio.wait_all_tasks_blocked()
    assert bench.running == [1, 2]


async def test_places_that_are_free_again_are_filled(bench: Bench) -> None:
    for number in range(12):
        bench.sessions.submit(in_lane(number, None, session=f"s{number}"))
    while len(bench.ended) < 12:
        await anyio.wait_all_tasks_blocked()
        assert len(bench.running) - len(bench.ended) <= 5
        await bench.let_go(bench.running[len(bench.ended)])
    assert bench.running == list(range(12))


async def test_nothing_is_kept_of_a_session_that_is_idle(bench: Bench) -> None:
    for number in range(6):
        bench.sessions.submit(in_lane(number, f"lane{number % 3}"))
    for _round in range(6):
        await anyio.wait_all_tasks_blocked()
        for gate in bench.gates.values():
            gate.set()
    await bench.sessions.idle()
    await anyio.wait_all_tasks_blocked()
    assert len(bench.ended) == 6
    assert bench.sessions.sessions == {}


async def test_after_close_nothing_new_is_started(bench: Bench) -> None:
    bench.sessions.close()
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    assert bench.running == []
    assert len(bench.sessions.queued("s")) == 1


async def test_d1_a_turn_that_is_handed_over_is_followed_by_none() -> None:
    begun: list[int] = []

    async def run(one: Question, started: Callable[[Turn], None]) -> None:
        begun.append(one.rows[0].id)
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:

        def spawn(_name: str, work: Work) -> None:
            async def do() -> None:
                await work()

            group.start_soon(do)

        sessions = LaneScheduler(run, spawn, TurnSettings(parallel_per_chat=2, parallel_total=5))
        for number in (1, 2):
            sessions.submit(in_lane(number, None))
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert begun == [1]
    assert len(sessions.queued("s")) == 1


async def test_a_message_that_is_forgotten_leaves_its_question_where_it_stands(
    bench: Bench,
) -> None:
    burst = replace(in_lane(2, "l"), rows=(*in_lane(2, "l").rows, *in_lane(3, "l").rows))
    for one in (in_lane(1, "l"), burst, in_lane(4, "l")):
        bench.sessions.submit(one)
    await anyio.wait_all_tasks_blocked()
    gone = bench.sessions.forget(2)
    assert gone is not None
    assert gone.id == 2
    assert bench.sessions.forget(9) is None
    for number in (1, 3, 4):
        await bench.let_go(number)
    assert bench.running == [1, 3, 4]


async def test_a_question_that_waits_to_be_steered_can_be_forgotten(bench: Bench) -> None:
    bench.sessions.submit(in_lane(1, "l"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "l"), "steer")
    assert bench.sessions.forget(2) is not None
    await bench.let_go(1)
    assert bench.running == [1]
