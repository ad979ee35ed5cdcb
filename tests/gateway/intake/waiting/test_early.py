"""Who writes while what an earlier process left over is put into lines waits for no other chat."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.clock import Clock, SystemClock
from gateway.intake.waiting.keys import LineKeys
from gateway.intake.waiting.left_over import BREATH_SECONDS, LeftOver
from gateway.intake.waiting.messages import WaitingMessages, all_of
from gateway.intake.waiting.under_way import UnderWay
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import WaitingChat
from tests.kit.chats import open_group
from tests.kit.doors import talk

NEWEST = 100


def chat(chat_id: str, *ids: int, **change: object) -> WaitingChat:
    found = WaitingChat("plain", chat_id, None, "plain", ids, frozenset(), "")
    return replace(found, **change)  # type: ignore[arg-type]


def row(chat_id: str, to_chat: str = "") -> InboxRow:
    (said,) = talk(chat_id, [1], to_chat=to_chat)
    return InboxRow(NEWEST + 1, "plain", None, None, None, None, "accepted", 0, said)


class Lines:
    """The lines of a gateway's own, and what is left over of an earlier one."""

    def __init__(self, left: LeftOver, waiting: WaitingMessages, keys: LineKeys) -> None:
        self.left, self.waiting, self.keys = left, waiting, keys

    def of(self, session_id: str) -> list[int]:
        return self.waiting.lines.next(self.keys.of(session_id), NEWEST)


@asynccontextmanager
async def lines(
    home: Path, *chats: WaitingChat, clock: Clock | None = None
) -> AsyncIterator[Lines]:
    async with open_group(home) as group:
        services = group.gateway.services
        services = replace(services, clock=clock or services.clock)
        keys, waiting = LineKeys(), WaitingMessages(services, all_of)

        def merge(moved: str, key: str) -> None:
            keys.move(moved, key)
            waiting.lines.merge(moved, key)

        left = LeftOver(services, UnderWay(), keys, waiting, merge)
        await left.add(chats, NEWEST)
        yield Lines(left, waiting, keys)


async def test_what_is_left_of_a_chat_is_put_before_its_new_message_and_no_other(
    tmp_path: Path,
) -> None:
    async with lines(tmp_path, chat("-1", 1, 3), chat("-2", 2, 4, NEWEST + 7)) as found:
        assert found.left
        found.left.put_before(row("-9"))
        assert not found.waiting.lines
        found.left.put_before(row("-2"))
        assert (found.of("plain:-1"), found.of("plain:-2")) == ([], [2, 4])
        await found.left.put_rest()
        assert (found.of("plain:-1"), found.of("plain:-2")) == ([1, 3], [2, 4])
        assert not found.left


@pytest.mark.parametrize("asked", ["-1", "-2", "-3"])
async def test_a_chat_that_moved_is_put_with_all_that_it_was_and_became(
    tmp_path: Path, asked: str
) -> None:
    moved = chat("-1", 2, 5, to_chat="-2"), chat("-2", 3, 7, to_chat="-3"), chat("-3", 1, 9)
    async with lines(tmp_path, *moved, chat("-4", 4)) as found:
        found.left.put_before(row(asked))
        assert found.of("plain:-1") == found.of("plain:-3") == [1, 2, 3, 5, 7, 9]
        assert found.of("plain:-4") == []


async def test_what_a_change_moves_to_is_put_before_it(tmp_path: Path) -> None:
    async with lines(tmp_path, chat("-2", 1, 2), chat("-3", 3)) as found:
        found.left.put_before(row("-1", to_chat="-2"), "plain:-1", "plain:-2")
        assert (found.of("plain:-2"), found.of("plain:-3")) == ([1, 2], [])


async def test_chats_of_one_session_are_put_together(tmp_path: Path) -> None:
    same = chat("-1", 1, 4, session_id="plain:both"), chat("-2", 2, 3, session_id="plain:both")
    async with lines(tmp_path, *same, chat("-3", 5)) as found:
        found.left.put_before(row("-2"), "plain:-2")
        assert (found.of("plain:both"), found.of("plain:-3")) == ([1, 2, 3, 4], [])


class Ticking(SystemClock):
    """A clock on which putting a chat into its line takes longer than anybody may wait."""

    ticks = 0

    def monotonic(self) -> float:
        self.ticks += 1
        return self.ticks * BREATH_SECONDS


async def test_many_chats_are_put_while_everything_else_goes_on(tmp_path: Path) -> None:
    chats = [chat(f"-{one}", one) for one in range(1, NEWEST)]
    seen: list[int] = []

    async def go_on() -> None:
        while found.left:
            seen.append(len(found.waiting.lines))
            await anyio.lowlevel.checkpoint()

    async with lines(tmp_path, *chats, clock=Ticking()) as found:
        async with anyio.create_task_group() as group:
            group.start_soon(go_on)
            await found.left.put_rest()
        assert len(found.waiting.lines) == len(chats)
    assert len(seen) > len(chats) / 2
