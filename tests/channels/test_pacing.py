"""One budget a chat and a bot: who may write next, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import given
from hypothesis import strategies as st

from channels.pacing import (
    EDIT_SLOWDOWN,
    MAX_CHATS,
    RESERVED_SHARES,
    UNLIMITED,
    Budget,
    Gate,
    OwnGate,
    Pacing,
    Priority,
)
from tests.kit.clock import ManualClock, settle
from tests.kit.examples import examples

SECOND = Budget(1.0)


class Writers:
    """Tasks that want to write, and the moments at which they could."""

    def __init__(self, group: TaskGroup, chat: Budget = SECOND, bot: Budget = UNLIMITED) -> None:
        self.clock = ManualClock()
        self.pacing = Pacing(lambda _chat: chat, self.clock, OwnGate(bot, self.clock))
        self.wrote: list[tuple[float, str]] = []
        self._group = group

    def begin(self, name: str, priority: Priority, chat: str = "chat") -> anyio.CancelScope:
        scope = anyio.CancelScope()

        async def write() -> None:
            with scope:
                await self.pacing.permit(chat, priority)
                self.wrote.append((self.clock.monotonic(), name))

        self._group.start_soon(write)
        return scope

    async def writes(self, name: str, priority: Priority, chat: str = "chat") -> None:
        """Begin, and come to rest."""
        self.begin(name, priority, chat)
        await settle()


@pytest.fixture
async def writers() -> AsyncIterator[Writers]:
    async with anyio.create_task_group() as group:
        yield Writers(group)
        group.cancel_scope.cancel()


async def test_the_first_write_goes_at_once_and_the_next_after_the_interval(
    writers: Writers,
) -> None:
    await writers.writes("one", Priority.EDIT)
    await writers.writes("two", Priority.EDIT)
    assert writers.wrote == [(0, "one")]
    await writers.clock.advance(0.99)
    assert len(writers.wrote) == 1
    await writers.clock.advance(5)
    assert writers.wrote == [(0, "one"), (1, "two")]


async def test_who_waits_goes_by_priority_and_then_in_order(writers: Writers) -> None:
    await writers.writes("first", Priority.EDIT)
    await writers.writes("status", Priority.STATUS)
    await writers.writes("edit", Priority.EDIT)
    await writers.writes("text", Priority.FIRST_TEXT)
    await writers.writes("edit again", Priority.EDIT)
    await writers.clock.advance(0.5)
    await writers.writes("final", Priority.FINAL)
    await writers.clock.advance(60)
    order = ["first", "final", "text", "edit", "edit again", "status"]
    assert writers.wrote == list(enumerate(order))


async def test_chats_do_not_wait_for_each_other(writers: Writers) -> None:
    writers.pacing.close("closed", 40)
    await writers.writes("late", Priority.FINAL, "closed")
    for name in ("one", "two"):
        await writers.writes(name, Priority.STATUS, name)
    assert writers.wrote == [(0, "one"), (0, "two")]


async def test_a_closed_gate_holds_the_chats_writes_until_it_opens(writers: Writers) -> None:
    writers.pacing.close("chat", 40)
    await writers.writes("edit", Priority.EDIT)
    await writers.writes("final", Priority.FINAL)
    await writers.clock.advance(39.9)
    assert writers.wrote == []
    await writers.clock.advance(2)
    assert writers.wrote == [(40, "final"), (41, "edit")]


async def test_a_gate_that_closes_while_somebody_waits_holds_them_too(writers: Writers) -> None:
    await writers.writes("one", Priority.EDIT)
    await writers.writes("two", Priority.EDIT)
    writers.pacing.close("chat", 10)
    writers.pacing.close("chat", 3)
    await writers.clock.advance(60)
    assert writers.wrote == [(0, "one"), (10, "two")]


async def test_who_gives_up_uses_no_slot_and_holds_nobody_up(writers: Writers) -> None:
    await writers.writes("one", Priority.EDIT)
    first = writers.begin("gone, the first of all", Priority.FINAL)
    await writers.writes("two", Priority.EDIT)
    middle = writers.begin("gone, in the middle", Priority.EDIT)
    await writers.writes("three", Priority.STATUS)
    first.cancel()
    middle.cancel()
    await writers.clock.advance(60)
    assert writers.wrote == [(0, "one"), (1, "two"), (2, "three")]


async def test_typing_goes_on_between_two_writes(writers: Writers) -> None:
    await writers.writes("one", Priority.EDIT)
    assert writers.pacing.may_type("chat")


@pytest.mark.parametrize("seconds", [0.5, 1.0, 40.0])
async def test_typing_stops_while_the_gate_is_closed(writers: Writers, seconds: float) -> None:
    writers.pacing.close("chat", seconds)
    assert not writers.pacing.may_type("chat")
    await writers.clock.advance(seconds)
    assert writers.pacing.may_type("chat")


async def test_many_chats_do_not_make_it_forget_who_waits_or_must_wait(writers: Writers) -> None:
    writers.pacing.close("closed", 40)
    await writers.writes("one", Priority.EDIT)
    await writers.writes("two", Priority.EDIT)
    for number in range(MAX_CHATS + 1):
        writers.pacing.may_type(f"other {number}")
    await writers.writes("late", Priority.FINAL, "closed")
    assert writers.wrote == [(0, "one")]
    await writers.clock.advance(60)
    assert writers.wrote == [(0, "one"), (1, "two"), (40, "late")]


MINUTE = Budget(1.0, 20, 60.0)
TINY = 1e-9


async def test_a_window_lets_only_so_many_writes_through() -> None:
    async with anyio.create_task_group() as group:
        writers = Writers(group, Budget(0.0, 3, 60.0))
        for number in range(7):
            await writers.writes(str(number), Priority.FINAL)
        await writers.clock.advance(120)
    assert [moment for moment, _ in writers.wrote] == [0, 0, 0, 60, 60, 60, 120]


@pytest.mark.parametrize("priority", list(Priority))
def test_a_part_of_a_window_is_kept_for_who_goes_before(priority: Priority) -> None:
    gate = Gate(Budget(0.0, 20, 60.0))
    wrote = 0
    while gate.wait(0.0, priority) <= 0:
        gate.write(0.0)
        wrote += 1
    assert wrote == round(20 * (1 - RESERVED_SHARES[priority]))
    assert gate.wait(0.0, priority) == 60
    sooner = [other for other in Priority if other < priority]
    assert all(gate.wait(0.0, other) <= 0 for other in sooner)


def test_what_is_left_of_a_window_comes_with_when_all_of_it_is_back() -> None:
    gate = Gate(MINUTE)
    assert gate.left(0.0) == (20, 20, 60.0, 0.0)
    gate.write(0.0)
    gate.write(10.0)
    assert gate.left(20.0) == (18, 20, 60.0, 50.0)
    gate.close(100.0)
    assert gate.left(20.0) == (0, 20, 60.0, 80.0)
    assert gate.left(100.0) == (20, 20, 60.0, 0.0)
    assert Gate(Budget(1.0)).left(0.0) is None


def test_a_budget_of_one_is_for_everybody() -> None:
    gate = Gate(Budget(0.0, 1, 60.0))
    assert all(gate.wait(0.0, priority) <= 0 for priority in Priority)


def test_edits_come_the_more_rarely_the_more_of_the_window_is_used() -> None:
    gate = Gate(MINUTE)
    waits = []
    for at in (0.0, 2.0, 4.0):
        gate.write(at)
        waits.append(gate.wait(at, Priority.EDIT))
        assert gate.wait(at, Priority.FINAL) == 1
    assert waits == pytest.approx([EDIT_SLOWDOWN, EDIT_SLOWDOWN**2, EDIT_SLOWDOWN**3])


async def test_all_chats_together_share_the_bot_s_budget() -> None:
    async with anyio.create_task_group() as group:
        writers = Writers(group, Budget(1.0), bot=Budget(0.0, 3, 10.0))
        for number in range(5):
            await writers.writes(str(number), Priority.FINAL, f"chat {number}")
        assert [moment for moment, _ in writers.wrote] == [0, 0, 0]
        await writers.clock.advance(10)
        assert [moment for moment, _ in writers.wrote[3:]] == [10, 10]


async def test_what_is_idle_is_forgotten_and_what_is_used_is_not() -> None:
    clock = ManualClock()
    pacing = Pacing(lambda _chat: Budget(1.0, 2, 60.0), clock)
    await pacing.permit("used", Priority.FINAL)
    for number in range(MAX_CHATS):
        pacing.may_type(f"other {number}")
    assert len(pacing.chats) < 10
    assert "used" in pacing.chats
    await clock.advance(60)
    for number in range(MAX_CHATS):
        pacing.may_type(f"another {number}")
    assert "used" not in pacing.chats


async def test_a_permit_of_this_process_alone_is_never_too_late() -> None:
    clock = ManualClock()
    pacing = Pacing(lambda _chat: SECOND, clock)
    await pacing.permit("chat", Priority.FINAL)
    await clock.advance(3600)
    assert not pacing.is_late("chat")


WRITE = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from(list(Priority)),
    st.sampled_from([0.0, 0.0, 0.3, 2.0]),
    st.sampled_from([None, None, None, None, 5.0]),
)


@given(writes=st.lists(WRITE, max_size=40), count=st.integers(1, 5))
@examples(60)
async def test_d3_whatever_comes_no_window_is_exceeded_and_finals_go_before_edits(
    writes: list[tuple[str, Priority, float, float | None]], count: int
) -> None:
    chat, bot = Budget(1.0, count, 10.0), Budget(0.0, 4, 3.0)
    asked: list[float] = []
    async with anyio.create_task_group() as group:
        writers = Writers(group, chat, bot)
        for number, (name, priority, pause, closed) in enumerate(writes):
            asked.append(writers.clock.monotonic())
            await writers.writes(f"{name} {priority.value} {number}", priority, name)
            if closed is not None:
                writers.pacing.close(name, closed)
            await writers.clock.advance(pause)
        await writers.clock.advance(1000)
    assert len(writers.wrote) == len(writes)
    for name in ("a", "b"):
        own = [(at, word) for at, word in writers.wrote if word.startswith(name)]
        _holds([at for at, _ in own], count, 10.0)
        assert all(later - at >= 1.0 - TINY for (at, _), (later, _) in pairwise(own))
        for (at, word), (_, next_word) in pairwise(own):
            waited = asked[int(next_word.split()[2])] < at
            assert not waited or word.split()[1] <= next_word.split()[1]
    _holds([at for at, _ in writers.wrote], 4, 3.0)


def _holds(moments: list[float], count: int, window: float) -> None:
    """Hold that no window has more than so many writes."""
    assert all(
        later - at >= window - TINY for at, later in zip(moments, moments[count:], strict=False)
    )
