"""Catching up: what was said while a channel was away comes in, once, and nothing is skipped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import anyio
import pytest

from channels.base import Capability
from channels.host import Marks
from channels.message import InboundMessage
from gateway.app import Gateway
from tape.entry import utc_iso
from tests.clock import QuickClock
from tests.gateway.test_access import Brings
from tests.gateway.test_delivery import QUESTION, EditingChannel, Platform
from tests.gateways import gateway_of, settled

pytestmark = pytest.mark.anyio

NOW = datetime.now(UTC)


def said(number: int, minutes: float, chat: str = "1", thread: str | None = None) -> InboundMessage:
    """Return what was said so many minutes ago, to nobody; negative: so long after the start."""
    return replace(
        QUESTION,
        chat_id=chat,
        ext_id=f"{chat}/{number}",
        message_id=str(number),
        text=f"number {number}",
        date=utc_iso(NOW - timedelta(minutes=minutes)),
        addressed=False,
        thread_id=thread,
    )


class History(EditingChannel):
    """A channel whose platform keeps what was said; `asked` are the marks that it was given."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"edit", "backfill"})

    def __init__(self, *kept: InboundMessage, catches_up: bool = True) -> None:
        super().__init__(Platform())
        self.kept = kept
        self.asked: Marks | None = None
        self.catches_up = catches_up
        self.ready = anyio.Event()

    async def run(self) -> None:
        if self.catches_up:
            await self.catch_up()
        self.host.ready()
        self.ready.set()
        await anyio.sleep_forever()

    async def missed(self, marks: Marks) -> AsyncIterator[Sequence[InboundMessage]]:
        self.asked = marks
        for message in self.kept:
            since = marks.of(message.chat_id)
            if since is not None and datetime.fromisoformat(message.date) > since:
                yield [message]


async def texts(gateway: Gateway, chat: str = "1") -> list[str]:
    await gateway.conversation.intake.taken_in()
    entries = await settled(gateway, f"editing:{chat}")
    return [entry.meta["text"] for entry in entries if "inbox" in entry.meta]


async def test_d2_what_was_said_while_away_is_taped_once_and_in_order(tmp_path: Path) -> None:
    first = History()
    async with gateway_of(tmp_path, None, Brings(first)) as gateway:
        await first.ready.wait()
        await first.host.accept([said(1, -2)])
        await gateway.conversation.idle()
    second = History(said(0, 700), said(1, -2), said(2, -20), said(3, -30))
    async with gateway_of(tmp_path, None, Brings(second)) as gateway:
        await second.ready.wait()
        assert await texts(gateway) == ["number 1", "number 2", "number 3"]
    assert second.asked is not None
    assert second.asked.of("1") == NOW - timedelta(minutes=8)


async def test_a_first_start_asks_for_nothing(tmp_path: Path) -> None:
    channel = History(said(1, 5))
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        await channel.ready.wait()
        assert await texts(gateway) == []


async def test_a_chat_that_was_never_heard_of_is_asked_from_when_the_first_start_was(
    tmp_path: Path,
) -> None:
    first = History()
    async with gateway_of(tmp_path, None, Brings(first)) as gateway:
        await first.ready.wait()
        await until_marked(gateway)
    second = History(said(7, 200, "2"), said(8, -1, "2"))
    async with gateway_of(tmp_path, None, Brings(second)) as gateway:
        await second.ready.wait()
        assert await texts(gateway, "2") == ["number 8"]


async def test_what_comes_in_before_the_gap_is_filled_moves_no_mark(tmp_path: Path) -> None:
    first = History()
    async with gateway_of(tmp_path, None, Brings(first)) as gateway:
        await first.ready.wait()
        await first.host.accept([said(1, -2)])
        await gateway.conversation.idle()
    # It ends between the first of its live messages and the gap's.
    second = History(catches_up=False)
    async with gateway_of(tmp_path, None, Brings(second)):
        await second.ready.wait()
        await second.host.accept([said(3, -90)])
    third = History(said(2, -60), said(3, -90))
    async with gateway_of(tmp_path, None, Brings(third)) as gateway:
        await third.ready.wait()
        assert sorted(await texts(gateway)) == ["number 1", "number 2", "number 3"]


async def test_a_lost_connection_keeps_the_marks_where_they_were(tmp_path: Path) -> None:
    channel = History()
    async with gateway_of(tmp_path, None, Brings(channel)):
        await channel.ready.wait()
        await channel.host.accept([said(1, -20)])
        channel.host.behind()
        await channel.host.accept([said(2, -30)])
        assert (await channel.host.marks()).of("1") == NOW + timedelta(minutes=10)
        channel.host.caught_up()
        await channel.host.accept([said(3, -40)])
        assert (await channel.host.marks()).of("1") == NOW + timedelta(minutes=30)


async def test_an_old_message_moves_no_mark_back_and_no_gap_is_longer_than_a_week(
    tmp_path: Path,
) -> None:
    channel = History()
    clock = QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock):
        await channel.ready.wait()
        await channel.host.accept([said(1, -90)])
        await channel.host.accept([said(2, -60)])
        assert (await channel.host.marks()).of("1") == NOW + timedelta(minutes=80)
        clock.jump(timedelta(days=30))
        since = (await channel.host.marks()).of("1")
        assert since is not None
        assert since >= NOW + timedelta(days=23)


async def until_marked(gateway: Gateway) -> None:
    """Wait until the end of a gap is written down."""
    with anyio.fail_after(10):
        while not await gateway.core.store.select("ledger.marks", {"channel": "editing"}):  # noqa: ASYNC110 - a row has no event
            await anyio.sleep(0.005)


async def test_the_threads_of_a_chat_are_those_in_which_something_was_said(tmp_path: Path) -> None:
    channel = History()
    async with gateway_of(tmp_path, None, Brings(channel)):
        await channel.ready.wait()
        await channel.host.accept([said(1, 5, thread="77"), said(2, 5), said(3, 5, "2", "88")])
        assert await channel.host.threads("1", NOW - timedelta(hours=1)) == ["77"]
        assert await channel.host.threads("1", NOW + timedelta(hours=1)) == []
