"""Catching up: what was said while a channel was away comes in, once, and nothing is skipped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import anyio
import pytest

from channels.capabilities import Capability
from channels.errors import ChannelDown
from channels.host import Cursors
from channels.message import InboundMessage
from gateway.app import Gateway
from tape.entry import utc_iso
from tests.kit.clock import QuickClock
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import Brings
from tests.kit.waiting import Patience
from tests.scenarios.shared import until

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def _now() -> None:
    """Let each test begin now: the first of them is long ago at the last."""
    global NOW
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
        self.asked: Cursors | None = None
        self.catches_up = catches_up
        self.ready = anyio.Event()

    async def run(self) -> None:
        if self.catches_up:
            await self.catch_up()
        self.host.ready()
        self.ready.set()
        await anyio.sleep_forever()

    async def missed(self, marks: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        self.asked = marks
        for message in self.kept:
            since = marks.of(message.chat_id)
            if since is not None and datetime.fromisoformat(message.date) > since:
                yield [message]


async def texts(gateway: Gateway, chat: str = "1") -> list[str]:
    await gateway.taken_in()
    entries = await settled(gateway, f"editing:{chat}")
    return [entry.meta["text"] for entry in entries if "inbox" in entry.meta]


async def test_d2_what_was_said_while_away_is_taped_once_and_in_order(tmp_path: Path) -> None:
    first = History()
    async with gateway_of(tmp_path, None, Brings(first)) as gateway:
        await first.ready.wait()
        await first.host.accept([said(1, -2)])
        await gateway.idle()
    second = History(said(0, 700), said(1, -2), said(2, -20), said(3, -30))
    async with gateway_of(tmp_path, None, Brings(second)) as gateway:
        await second.ready.wait()
        assert await texts(gateway) == ["number 1", "number 2", "number 3"]
    assert second.asked is not None
    assert second.asked.of("1") == NOW - timedelta(minutes=8)


async def test_a_first_start_asks_for_the_last_ten_minutes(tmp_path: Path) -> None:
    """A process may have ended before it could accept the first message of all."""
    channel = History(said(1, 15), said(2, 5))
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        await channel.ready.wait()
        assert await texts(gateway) == ["number 2"]


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
        await gateway.idle()
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
    channel, clock = History(), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await started(gateway, channel, clock)
        await channel.host.accept([said(1, -20)])
        channel.host.gap_opened()
        await channel.host.accept([said(2, -30)])
        assert await mark(gateway) == NOW + timedelta(minutes=10)
        channel.host.gap_closed()  # the platform went on where it was lost
        await channel.host.accept([said(3, -40)])
        assert await mark(gateway) == NOW + timedelta(minutes=30)


async def test_a_gap_that_was_not_read_is_not_closed_by_a_connection_that_goes_on(
    tmp_path: Path,
) -> None:
    channel, clock = History(catches_up=False), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await channel.ready.wait()
        channel.host.gap_opened()
        channel.host.gap_closed()
        await channel.host.accept([said(1, 20)])
        assert await gateway.services.store.select("ledger.marks", {"channel": "editing"}) == []


async def test_the_end_of_an_earlier_gap_does_not_close_a_later_one(tmp_path: Path) -> None:
    channel, clock = History(), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await started(gateway, channel, clock)
        await channel.host.accept([said(1, -20)])
        channel.host.gap_opened()
        earlier = await channel.host.cursors()
        channel.host.gap_opened()
        channel.host.gap_closed(earlier)
        await channel.host.accept([said(2, -60)])
        assert await mark(gateway) == NOW + timedelta(minutes=10)
        channel.host.gap_closed(await channel.host.cursors())
        await channel.host.accept([said(3, -119)])
        assert await mark(gateway) >= NOW + timedelta(minutes=109)  # type: ignore[operator]


async def test_a_chat_that_could_not_be_read_keeps_its_mark(tmp_path: Path) -> None:
    channel, clock = History(), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await started(gateway, channel, clock)
        await channel.host.accept([said(1, -20), said(2, -20, "2")])
        channel.host.gap_opened()
        marks = await channel.host.cursors()
        channel.host.gap_skipped("2")
        channel.host.gap_closed(marks)
        await channel.host.accept([said(3, -60), said(4, -60, "2")])
        assert await mark(gateway) == NOW + timedelta(minutes=50)
        assert await mark(gateway, "2") == NOW + timedelta(minutes=10)
        assert await mark(gateway, "") is not None
        assert await mark(gateway, "") < NOW + timedelta(minutes=10)  # type: ignore[operator]


async def test_d7_what_was_refused_while_the_database_was_away_is_not_behind_a_mark(
    tmp_path: Path,
) -> None:
    channel, clock = History(), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await started(gateway, channel, clock)
        await channel.host.accept([said(1, -20)])
        gateway.services.guard.ballast.given_up = True
        with pytest.raises(ChannelDown):
            await channel.host.accept([said(2, -30)])
        gateway.services.guard.ballast.given_up = False
        await channel.host.accept([said(3, -60)])
        assert await mark(gateway) == NOW + timedelta(minutes=10)


async def test_an_old_message_moves_no_mark_back_and_no_gap_is_longer_than_a_week(
    tmp_path: Path,
) -> None:
    channel, clock = History(), QuickClock()
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await started(gateway, channel, clock)
        await channel.host.accept([said(1, -90)])
        await channel.host.accept([said(2, -60)])
        assert await mark(gateway) == NOW + timedelta(minutes=80)
        clock.jump(timedelta(days=30))
        since = await mark(gateway)
        assert since is not None
        assert since >= NOW + timedelta(days=23)


async def test_a_clock_that_was_ahead_leaves_no_mark_beyond_what_was_said(tmp_path: Path) -> None:
    clock = QuickClock()
    clock.jump(timedelta(days=2))
    first = History()
    async with gateway_of(tmp_path, None, Brings(first), clock=clock) as gateway:
        await first.ready.wait()
        await until_marked(gateway)
        await first.host.accept([said(1, 30)])
    clock.jump(timedelta(days=-2))
    second = History(said(2, 15))
    async with gateway_of(tmp_path, None, Brings(second), clock=clock) as gateway:
        await second.ready.wait()
        assert await texts(gateway) == ["number 1", "number 2"]


async def test_d2_questions_of_hours_apart_that_waited_are_no_burst(tmp_path: Path) -> None:
    channel = History()
    more = {"BUFFER__DEBOUNCE": "1"}
    asks = {"addressed": True, "why": "private chat", "backlog": True}
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        await channel.ready.wait()
        waited = [said(1, 180), said(2, 10)]
        await channel.host.accept([replace(one, **asks) for one in waited])  # type: ignore[arg-type]
        await gateway.taken_in()
        await until(lambda: len(channel.platform.messages) == 2)


async def test_the_threads_of_a_chat_are_those_in_which_something_was_said(tmp_path: Path) -> None:
    channel = History()
    async with gateway_of(tmp_path, None, Brings(channel)):
        await channel.ready.wait()
        await channel.host.accept([said(1, 5, thread="77"), said(2, 5), said(3, 5, "2", "88")])
        assert await channel.host.threads("1", NOW - timedelta(hours=1)) == ["77"]
        assert await channel.host.threads("1", NOW + timedelta(hours=1)) == []


async def test_what_the_agent_took_up_is_what_may_have_got_a_thread(tmp_path: Path) -> None:
    channel = History()
    asks = {"addressed": True, "why": "private chat"}
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        await channel.ready.wait()
        taken, in_thread = (
            replace(one, **asks)  # type: ignore[arg-type]
            for one in (said(2, 5), said(3, 5, thread="77"))
        )
        await channel.host.accept([said(1, 5), taken, in_thread])
        await gateway.idle()
        assert await channel.host.answered("1", NOW - timedelta(hours=1)) == [taken.message_id]
        assert await channel.host.answered("1", NOW + timedelta(hours=1)) == []
        assert await channel.host.answered("2", NOW - timedelta(hours=1)) == []


async def started(gateway: Gateway, channel: History, clock: QuickClock) -> None:
    """Wait until the first gap is behind us; then it is two hours later."""
    await channel.ready.wait()
    await until_marked(gateway)
    clock.jump(timedelta(hours=2))


async def mark(gateway: Gateway, chat: str = "1") -> datetime | None:
    """Return the mark of a chat, as a channel would be given it."""
    marks = await gateway.services.ledger.cursors.read(
        "editing", timedelta(minutes=10), timedelta(days=7)
    )
    return marks.of(chat)


async def until_marked(gateway: Gateway) -> None:
    """Wait until the end of a gap is written down."""
    patience = Patience("the end of the gap is written down")
    while not await gateway.services.store.select("ledger.marks", {"channel": "editing"}):
        await patience.pause()
