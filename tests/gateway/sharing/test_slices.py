"""Rate limits that several processes share: no window has too many writes, whoever writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import anyio
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.pacing import RESERVED_SHARES, Budget, Priority
from tests.gateway.sharing.budget_servers import Processes, budget_server, most_within
from tests.kit.clock import settle
from tests.kit.examples import examples

pytestmark = pytest.mark.postgresql

TELEGRAM = Budget(0.0, 30, 1.1)
LIMIT = 30


@pytest.fixture(scope="module")
def server() -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with budget_server() as connection:
        yield connection


@pytest.fixture
async def processes(server: psycopg.Connection[dict[str, Any]]) -> AsyncIterator[Processes]:
    server.execute("DELETE FROM send_limit")
    async with anyio.create_task_group() as group:
        yield Processes(server, group, TELEGRAM)
        group.cancel_scope.cancel()


async def test_four_processes_together_send_what_the_platform_allows_and_never_more(
    processes: Processes,
) -> None:
    four = [await processes.start(way=0.004, late=0.01) for _ in range(4)]
    for process in four:
        processes.load(process, 10, record=0.02)
    await processes.clock.advance(6.0)
    assert most_within(processes.moments(), 1.0) == LIMIT
    assert len(processes.moments()) >= 0.85 * LIMIT * 6


async def test_finals_of_one_process_go_before_edits_of_another(processes: Processes) -> None:
    editing, answering = await processes.start(way=0.003), await processes.start(way=0.003)
    for _ in range(90):
        processes.send(editing, Priority.EDIT)
        processes.send(answering, Priority.FINAL)
    await processes.clock.advance(3.4)
    sent = [name for _, name in processes.arrived]
    done = len(sent) - sent[::-1].index("1 FINAL")
    assert sent.count("1 FINAL") == 90
    assert sent[:done].count("0 EDIT") <= LIMIT * (1 - RESERVED_SHARES[Priority.EDIT])
    await processes.clock.advance(6.0)
    assert [name for _, name in processes.arrived].count("0 EDIT") == 90


async def test_when_the_platform_refuses_the_bot_in_one_process_all_others_pause(
    processes: Processes,
) -> None:
    four = [await processes.start() for _ in range(4)]
    for process in four:
        processes.load(process, 4)
    await processes.clock.advance(2.0)
    four[0].close(5.0)
    await processes.clock.advance(1.0)
    known = len(processes.moments())
    await processes.clock.advance(3.9)
    assert len(processes.moments()) == known
    await processes.clock.advance(1.0)
    assert len(processes.moments()) >= known + LIMIT / 2


async def test_an_idle_process_hears_of_a_pause_before_it_sends(processes: Processes) -> None:
    refused, idle = await processes.start(), await processes.start()
    refused.close(20.0)
    await settle()
    await idle.budgets.look()
    processes.send(idle)
    await processes.clock.advance(19.9)
    assert processes.arrived == []
    assert idle.database.asked == 1
    await processes.clock.advance(0.5)
    assert len(processes.arrived) == 1


async def test_a_token_that_one_process_finds_refused_is_refused_for_all_until_it_is_accepted(
    processes: Processes,
) -> None:
    one, other = (await processes.start()).budgets, (await processes.start()).budgets
    one.refuse("1:secret")
    await settle()
    await other.look()
    assert other.is_refused("1:secret")
    assert not other.is_refused("2:another")
    other.refuse("1:secret", refused=False)
    await settle()
    await one.look()
    assert not one.is_refused("1:secret")
    rows = processes.connection.execute("SELECT name FROM send_limit").fetchall()
    assert not [row for row in rows if "secret" in row["name"]]


async def test_what_another_process_has_used_is_known_without_waiting_for_more(
    processes: Processes,
) -> None:
    processes.bot = Budget(0.0, 5, 60.0)
    one, other = await processes.start(), await processes.start()
    for _ in range(5):
        processes.send(one)
    await processes.clock.advance(1.0)
    assert len(processes.arrived) == 5
    gate = other.budgets.gate("bot", processes.bot)
    assert not await gate.allows(Priority.EDIT)
    await processes.clock.advance(61.0)
    assert await gate.allows(Priority.EDIT)


async def test_sends_wait_for_the_database_and_go_on_by_themselves(processes: Processes) -> None:
    process = await processes.start()
    process.database.is_away = True
    processes.send(process)
    await processes.clock.advance(30.0)
    assert processes.arrived == []
    process.database.is_away = False
    await processes.clock.advance(3.0)
    assert len(processes.arrived) == 1


JUMPS = [sign * seconds for seconds in (60.0, 3600.0, 86400.0) for sign in (-1, 1)]


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_jump_of_the_servers_clock_holds_nobody_up(
    processes: Processes, jump: float
) -> None:
    processes.bot = Budget(0.0, 5, 60.0)
    two = [await processes.start() for _ in range(2)]
    for process in two:
        processes.send(process)
    await processes.clock.advance(1.0)
    assert len(processes.arrived) == 2
    processes.off = jump
    for process in two:
        processes.send(process)
    await processes.clock.advance(5.0)
    assert len(processes.arrived) == 4
    if jump < 0:  # what was used before still counts
        processes.load(two[0], 5)
        await processes.clock.advance(30.0)
        assert len(processes.arrived) == 5


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_pause_is_as_long_as_it_was_whatever_the_servers_clock_does(
    processes: Processes, jump: float
) -> None:
    refused, idle = await processes.start(), await processes.start()
    refused.close(5.0)
    await settle()
    processes.off = jump
    await idle.budgets.look()
    processes.send(idle)
    await processes.clock.advance(8.0)
    assert len(processes.arrived) == 1


async def test_an_answer_alone_waits_for_one_reservation_and_nothing_else(
    processes: Processes,
) -> None:
    process = await processes.start()
    await processes.clock.advance(5.0)
    processes.send(process)
    await processes.clock.advance(0.05)
    assert len(processes.arrived) == process.database.asked == 1


@given(
    seed=st.integers(0, 2**32),
    way=st.sampled_from([0.0, 0.003, 0.04, 0.3]),
    late=st.sampled_from([0.0, 0.02, 0.2]),
    record=st.sampled_from([0.0, 0.03, 0.3]),
    dies=st.lists(st.floats(0.05, 2.0), max_size=3),
    bot=st.sampled_from([TELEGRAM, Budget(0.0, 5, 1.1), Budget(0.0, 45, 1.05)]),
)
@examples(25)
async def test_whoever_is_late_or_dies_no_window_is_exceeded(
    server: psycopg.Connection[dict[str, Any]],
    seed: int,
    way: float,
    late: float,
    record: float,
    dies: list[float],
    bot: Budget,
) -> None:
    server.execute("DELETE FROM send_limit")
    async with anyio.create_task_group() as group:
        processes = Processes(server, group, bot, Random(seed))
        four = [await processes.start(way=way, late=late) for _ in range(4)]
        for process in four:
            processes.load(process, 5, record=record)
        now = 0.0
        for number, at in enumerate(sorted(dies)):
            await processes.clock.advance(at - now)
            four[number].kill()
            now = at
        await processes.clock.advance(3.0 - now)
        group.cancel_scope.cancel()
    assert most_within(processes.moments(), 1.0) <= bot.count
