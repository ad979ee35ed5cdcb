"""What ends a turn in its lane, or goes into it: Stop, an interruption, and what is steered."""

from __future__ import annotations

import anyio

from tests.gateway.scheduling.lanes import Bench, in_lane


async def test_c4_stop_ends_the_turn_and_returns_what_waited(bench: Bench) -> None:
    for number in (1, 2):
        bench.sessions.submit(in_lane(number, "x"))
    bench.sessions.submit(in_lane(3, "y", author="b"))
    await anyio.wait_all_tasks_blocked()
    ended, dropped = bench.sessions.stop(
        "s", lambda one: one.message.sender.id == "a", {"why": "stop"}
    )
    await anyio.wait_all_tasks_blocked()
    assert (ended, [one.rows[0].id for one in dropped]) == (1, [2])
    assert bench.ended == [(1, "stop")]
    assert 3 in bench.running


async def test_a_turn_that_is_stopped_while_it_begins_ends_once_it_has(bench: Bench) -> None:
    bench.begin = anyio.Event()
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    assert bench.sessions.stop("s", lambda _one: True, {"why": "stop"}) == (1, [])
    bench.begin.set()
    await bench.sessions.idle()
    assert bench.ended == [(1, "stop")]


async def test_a_lost_turn_that_is_stopped_ends_once_it_has_begun_again(bench: Bench) -> None:
    bench.lost[1] = anyio.Event()
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "x"), "steer")
    assert [turn for _question, turn in bench.sessions.running("s")] == ["t1"]
    ended, dropped = bench.sessions.stop("s", lambda _one: True, {"why": "stop"})
    await anyio.wait_all_tasks_blocked()
    assert (ended, [one.rows[0].id for one in dropped], bench.ended) == (1, [2], [])
    bench.lost[1].set()
    await bench.sessions.idle()
    assert bench.ended == [(1, "stop")]
    assert bench.sessions.sessions == {}


async def test_interrupt_ends_the_running_turn_and_goes_next(bench: Bench) -> None:
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "x"), "interrupt")
    await anyio.wait_all_tasks_blocked()
    assert bench.ended == [(1, "interrupted")]
    assert bench.running == [1, 2]


async def test_nobody_s_question_interrupts_the_answer_to_somebody_else(bench: Bench) -> None:
    bench.begin = anyio.Event()
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "x", author="b"), "interrupt")
    bench.begin.set()
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(3, "x", author="b"), "interrupt")
    await anyio.wait_all_tasks_blocked()
    assert (bench.running, bench.ended) == ([1], [])
    assert len(bench.sessions.queued("s")) == 2


async def test_steer_goes_into_the_running_turn_of_the_same_author_only(bench: Bench) -> None:
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "x", author="b"), "steer")
    bench.sessions.submit(in_lane(3, "x"), "steer")
    assert len(bench.sessions.queued("s")) == 1


async def test_what_was_steered_and_not_taken_runs_next(bench: Bench) -> None:
    bench.sessions.submit(in_lane(1, "x"))
    await anyio.wait_all_tasks_blocked()
    bench.sessions.submit(in_lane(2, "x"), "steer")
    await bench.let_go(1)
    assert bench.running == [1, 2]
