"""Restoring the order of messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
from hypothesis import given
from hypothesis import strategies as st

from channels.errors import ChannelDown
from channels.message import Author, InboundMessage
from channels.slack.reorder import ReorderBuffer, stamp_of
from tests.kit.clock import ManualClock, settle


class Disk:
    """Stores messages; while `refuses` is set, raises it instead."""

    def __init__(self, seconds: float = 0.2) -> None:
        self.clock = ManualClock()
        self.kept: list[list[str]] = []
        self.refuses: Exception | None = None
        self.held = ReorderBuffer(seconds, self.clock, self.keep)

    async def keep(self, messages: list[InboundMessage]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.kept.append([message.message_id for message in messages])

    def put(self, ts: str, chat: str = "C1") -> Callable[[], object]:
        message = InboundMessage("slack", chat, f"{chat}/{ts}", ts, Author("U1", "Ada"), "", "")
        return partial(self.held.put, message, ts)


async def test_an_earlier_message_that_arrives_within_the_hold_is_stored_first() -> None:
    disk = Disk()
    async with anyio.create_task_group() as group:
        group.start_soon(disk.put("3.000002"))  # type: ignore[arg-type]
        await settle()
        await disk.clock.advance(0.15)
        group.start_soon(disk.put("3.000001"))  # type: ignore[arg-type]
        await settle()
        await disk.clock.advance(0.05)
        assert disk.kept == [["3.000001", "3.000002"]]


async def test_other_chats_and_later_messages_are_not_released() -> None:
    disk = Disk()
    async with anyio.create_task_group() as group:
        group.start_soon(disk.put("3.1"))  # type: ignore[arg-type]
        await settle()
        await disk.clock.advance(0.1)
        group.start_soon(disk.put("3.2"))  # type: ignore[arg-type]
        group.start_soon(disk.put("1.0", "C2"))  # type: ignore[arg-type]
        await settle()
        await disk.clock.advance(0.1)
        assert disk.kept == [["3.1"]]
        await disk.clock.advance(0.1)
        assert sorted(ts for kept in disk.kept[1:] for ts in kept) == ["1.0", "3.2"]


async def test_d7_a_failed_write_is_raised_to_everyone_who_waits() -> None:
    disk = Disk()
    disk.refuses = ChannelDown("the disk is full")
    errors: list[str] = []

    async def put(ts: str) -> None:
        try:
            await disk.put(ts)()  # type: ignore[misc]
        except ChannelDown as cause:
            errors.append(str(cause))

    async with anyio.create_task_group() as group:
        for ts in ("2.0", "1.0"):
            group.start_soon(put, ts)
        await settle()
        await disk.clock.advance(1)
    assert errors == ["the disk is full"] * 2
    disk.refuses = None
    async with anyio.create_task_group() as group:
        group.start_soon(disk.put("1.0"))  # type: ignore[arg-type]
        await settle()
        await disk.clock.advance(1)
    assert disk.kept == [["1.0"]]


@given(st.permutations([f"{n}.{n:06d}" for n in range(8)]))
async def test_messages_that_arrive_together_are_stored_in_order(order: list[str]) -> None:
    disk = Disk(0)
    async with anyio.create_task_group() as group:
        for ts in order:
            group.start_soon(disk.put(ts))  # type: ignore[arg-type]
    assert [ts for kept in disk.kept for ts in kept] == sorted(order)


def test_stamps_are_compared_as_numbers() -> None:
    assert stamp_of("9.9") > stamp_of("9.000001")
    assert stamp_of("10.0") > stamp_of("9.9")
    assert stamp_of("") == stamp_of("x") == (0, 0)
