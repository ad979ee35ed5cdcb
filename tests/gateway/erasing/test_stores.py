"""Erasing from a store that fails for a moment, or that cannot erase."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
from anyio.lowlevel import checkpoint

from gateway.admin.erase_admin import EraseAdmin
from gateway.app import Gateway
from gateway.settings.intervals import INTERVALS
from gateway.storage.erasures import Erasure
from tape.entry import Entry
from tape.errors import StoreUnavailable
from tape.query import Query
from tape.unit_of_work import Unit
from tests.gateway.erasing.stage import ANN, BOB, CHAT, SECRET, answers_of, erased, hear, said
from tests.gateway.storage.split import BringsTapes, Tapes
from tests.kit.chats import open_group
from tests.kit.clock import START, ManualClock
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import Brings, PlainChannel

OPEN = {"ACCESS__MODE": "open"}


class AwayOnce(Tapes):
    """Tapes that cannot be read when old entries are looked for the first time."""

    was_away = False

    async def query(self, query: Query) -> list[Entry]:
        if query.until and not self.was_away:
            self.was_away = True
            raise StoreUnavailable("the disk is away")
        return await super().query(query)


async def test_old_messages_are_erased_also_if_the_store_was_away_when_they_were_looked_for(
    tmp_path: Path,
) -> None:
    tapes, clock = AwayOnce(""), ManualClock()
    async with open_group(tmp_path, None, BringsTapes(tapes)) as group:
        await group.hear_each(said(1, SECRET))
    clock.jump(datetime.now(UTC) - START + timedelta(days=40))
    more = {**OPEN, "TAPE__KEEP_DAYS": '{"*": 30}'}
    async with gateway_of(tmp_path, None, BringsTapes(tapes), clock=clock, **more) as gateway:
        while not await gateway.services.ledger.erasures.read():
            await clock.advance(INTERVALS.failed_erasure)
        await erased(gateway)
        words = str([entry.payload for entry in await tape_of(gateway, CHAT).read()])
    assert (tapes.was_away, SECRET in words) == (True, False)


class CannotErase(Tapes):
    """Tapes that are never changed."""

    erase = None  # type: ignore[assignment]


async def state_of(gateway: Gateway, name: str, *states: str) -> dict[str, str]:
    """Wait until an erasure has one of these states."""
    admin = EraseAdmin(gateway.services, gateway.parts.eraser)
    while (found := await admin.state(name))["state"] not in states:
        await checkpoint()
    return found


async def test_who_asks_to_be_forgotten_hears_at_once_that_the_store_cannot_erase(
    tmp_path: Path,
) -> None:
    tapes = CannotErase("")
    async with open_group(tmp_path, None, BringsTapes(tapes)) as group:
        await group.hear_each(said(1, SECRET), said(2, ",forget me"))
        yes, _no = answers_of(group.channel)
        await group.hear_each(said(3, yes))
        assert "cannot erase" in group.posts[-1].text
        assert await group.gateway.services.ledger.erasures.read() == []


async def test_an_erasure_on_record_ends_in_a_store_that_cannot_erase(tmp_path: Path) -> None:
    tapes, unit = CannotErase(""), Unit()
    async with open_group(tmp_path, None, BringsTapes(tapes)) as group:
        await group.hear_each(said(1, SECRET))
        erasure = Erasure("e1", "person", "person", channel="plain", person=ANN.id)
        group.gateway.services.ledger.erasures.begin(unit, erasure)
        await group.gateway.services.store.commit(unit)
    async with gateway_of(tmp_path, None, BringsTapes(tapes), **OPEN) as gateway:
        found = await state_of(gateway, "e1", "refused")
        (row,) = await gateway.services.ledger.erasures.read()
    assert "cannot erase" in found["problem"]
    assert ANN.id not in row["data"]


class FullOnce(Tapes):
    """Tapes whose disk is full when the first erasure comes; others wait for `may_erase`."""

    def __init__(self) -> None:
        super().__init__("")
        self.was_full = False
        self.may_erase = anyio.Event()

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        if not self.was_full:
            self.was_full = True
            raise OSError("the disk is full")
        await self.may_erase.wait()
        await super().erase(tape, entries)


async def test_only_the_erasure_that_stopped_says_so(tmp_path: Path) -> None:
    channel, tapes, clock = PlainChannel(), FullOnce(), ManualClock()
    plugins = (BringsTapes(tapes), Brings(channel))
    async with gateway_of(tmp_path, None, *plugins, clock=clock, **OPEN) as gateway:
        await hear(gateway, channel, said(1, SECRET), said(2, "of Bob", BOB))
        admin = EraseAdmin(gateway.services, gateway.parts.eraser)
        first = (await admin.begin("person", "", f"plain:{ANN.id}"))["erasure"]
        while not (stopped := await admin.state(first))["problem"]:
            await checkpoint()
        second = (await admin.begin("person", "", f"plain:{BOB.id}"))["erasure"]
        assert "full" in stopped["problem"]
        assert (await admin.state(second)) == {"state": "open", "entries": 0, "problem": ""}
        tapes.may_erase.set()
        await state_of(gateway, second, "done")
        while (found := await admin.state(first))["state"] != "done":
            await clock.advance(
                INTERVALS.failed_erasure
            )  # once more, if the second one was just ending
        assert found["problem"] == ""
