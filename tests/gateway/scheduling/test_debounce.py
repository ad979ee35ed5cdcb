"""The debounce buffer, on a clock of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import anyio
import pytest

from gateway.background import Work
from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import Debouncer
from tests.gateway.scheduling.bursts import asked
from tests.kit.clock import ManualClock


@dataclass
class Bench:
    buffer: Debouncer
    clock: ManualClock
    flushed: list[list[int]] = field(default_factory=list)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    clock = ManualClock()
    flushed: list[list[int]] = []

    def flush(one: Question) -> None:
        flushed.append([row.id for row in one.rows])

    async with anyio.create_task_group() as group:

        def spawn(_name: str, work: Work) -> None:
            async def run() -> None:
                await work()

            group.start_soon(run)

        yield Bench(Debouncer(clock, 10.0, flush, spawn), clock, flushed)
        group.cancel_scope.cancel()


async def test_b6_a_burst_goes_on_once_after_its_last_message(bench: Bench) -> None:
    bench.buffer.add(asked(1), 1.0)
    await bench.clock.advance(0.9)
    bench.buffer.add(asked(2), 1.0)
    await bench.clock.advance(0.9)
    assert bench.flushed == []
    await bench.clock.advance(0.2)
    assert bench.flushed == [[1, 2]]


async def test_b6_a_burst_without_end_goes_on_after_the_longest_wait(bench: Bench) -> None:
    for number in range(12):
        bench.buffer.add(asked(number), 1.0)
        await bench.clock.advance(0.9)
    assert bench.flushed[0] == list(range(12))


async def test_authors_threads_and_sessions_do_not_wait_for_each_other(bench: Bench) -> None:
    bench.buffer.add(asked(1), 1.0)
    bench.buffer.add(asked(2, author="b"), 1.0)
    bench.buffer.add(asked(3, session="t"), 1.0)
    bench.buffer.add(asked(4, thread="x"), 1.0)
    await bench.clock.advance(1.0)
    assert sorted(bench.flushed) == [[1], [2], [3], [4]]


async def test_without_a_wait_it_goes_on_at_once(bench: Bench) -> None:
    bench.buffer.add(asked(1), 0)
    assert bench.flushed == [[1]]


async def test_a_burst_that_is_taken_away_is_not_asked(bench: Bench) -> None:
    bench.buffer.add(asked(1), 1.0)
    taken = bench.buffer.take_away(lambda one: one.message.sender.id == "a")
    assert [row.id for one in taken for row in one.rows] == [1]
    await bench.clock.advance(20)
    assert bench.flushed == []


async def test_the_lane_of_a_burst_is_known_while_it_is_collected(bench: Bench) -> None:
    first = asked(1)
    bench.buffer.add(first, 1.0)
    assert bench.buffer.lane_of(first.burst_key) == "lane"
    await bench.clock.advance(1.0)
    assert bench.buffer.lane_of(first.burst_key) is None


async def test_b6_a_burst_waits_for_what_its_author_says_to_others(bench: Bench) -> None:
    bench.buffer.add(asked(1), 1.0)
    await bench.clock.advance(0.9)
    bench.buffer.heard(asked(2).message, 1.0)
    bench.buffer.heard(asked(3, author="b").message, 9.0)
    await bench.clock.advance(0.9)
    assert bench.flushed == []
    await bench.clock.advance(0.1)
    assert bench.flushed == [[1]]


@pytest.mark.parametrize("first", [True, False], ids=["the question", "a part"])
async def test_b6_a_burst_waits_for_the_parts_of_a_message(bench: Bench, first: bool) -> None:
    whole = asked(2)
    (row,) = whole.rows
    whole = replace(whole, rows=(replace(row, message=replace(row.message, joins="rest")),))
    if first:
        bench.buffer.add(asked(1), 1.0)
    bench.buffer.expect(whole.message, 2.6)
    if not first:
        bench.buffer.add(asked(1), 1.0)
    await bench.clock.advance(2)
    assert bench.flushed == []
    bench.buffer.add(whole, 0.0)
    await bench.clock.advance(0.1)
    assert bench.flushed == [[1, 2]]


async def test_b6_a_burst_waits_for_no_parts_that_never_come(bench: Bench) -> None:
    bench.buffer.add(asked(1), 1.0)
    for _ in range(20):
        bench.buffer.expect(asked(2).message, 2.6)
        await bench.clock.advance(0.5)
    assert bench.flushed == [[1]]
