"""One budget a chat: who may write next, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.abc import TaskGroup

from channels.pacing import MOST_CHATS, TYPING_EVERY, Budget, Pacing, Priority
from tests.clock import ManualClock, settle

pytestmark = pytest.mark.anyio


class Writers:
    """Tasks that want to write, and the moments at which they could."""

    def __init__(self, group: TaskGroup) -> None:
        self.clock = ManualClock()
        self.pacing = Pacing(lambda _chat: Budget(1.0), self.clock)
        self.wrote: list[tuple[float, str]] = []
        self._group = group

    def begin(self, name: str, priority: Priority, chat: str = "chat") -> anyio.CancelScope:
        scope = anyio.CancelScope()

        async def write() -> None:
            with scope:
                await self.pacing.slot(chat, priority)
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


async def test_typing_goes_out_at_most_every_few_seconds_and_costs_no_slot(
    writers: Writers,
) -> None:
    assert writers.pacing.may_type("chat")
    await writers.writes("one", Priority.FINAL)
    assert writers.wrote == [(0, "one")]
    await writers.clock.advance(TYPING_EVERY - 0.1)
    assert not writers.pacing.may_type("chat")
    assert writers.pacing.may_type("another")
    await writers.clock.advance(0.1)
    assert writers.pacing.may_type("chat")


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
    for number in range(MOST_CHATS + 1):
        writers.pacing.may_type(f"other {number}")
    await writers.writes("late", Priority.FINAL, "closed")
    assert writers.wrote == [(0, "one")]
    await writers.clock.advance(60)
    assert writers.wrote == [(0, "one"), (1, "two"), (40, "late")]
