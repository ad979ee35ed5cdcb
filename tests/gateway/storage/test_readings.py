"""How far chats' histories were read outlives the process that reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from channels.host import ChatReading
from gateway.storage.ledger.cursors import CursorTable
from gateway.storage.ledger.ledger import ledger_schema
from tape.store import UnitStore
from tape.stores.registry import open_store
from tests.contracts.opened import params
from tests.kit.clock import START, ManualClock
from tests.postgres import application_database

MINUTE, WEEK = timedelta(minutes=1), timedelta(days=7)
OVERLAP = 10 * MINUTE


@pytest.fixture(params=params(("sqlite", "postgresql")))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UnitStore]:
    with ExitStack() as stack:
        url, dialect = f"sqlite://{tmp_path / 'tapeway.db'}", "sqlite"
        if request.param == "postgresql":
            url, dialect = stack.enter_context(application_database()), "postgres"
        opened = open_store(url, [ledger_schema(dialect)])
        yield opened
        await opened.close()


async def test_a_chat_that_was_read_moves_its_own_cursor_only(store: UnitStore) -> None:
    table = CursorTable(store, clock := ManualClock())
    await table.advance_all("chat", START)
    await clock.advance(3600)
    whole, part = ChatReading(START + 30 * MINUTE), ChatReading(START + 40 * MINUTE, "5.1")
    await table.keep_readings("chat", {("T1", "a"): whole, ("", "b"): part})
    marks = await table.read("chat", OVERLAP, WEEK)
    assert marks.of("a", "T1") == whole.began - OVERLAP
    assert marks.of("b") == marks.of("c") == marks.of("c", "T1") == START - OVERLAP
    assert (marks.readings, marks.overlap) == ({("", "b"): part}, OVERLAP)
    assert (await table.read("ch", OVERLAP, WEEK)).readings == {}


async def test_a_reading_that_goes_on_keeps_what_is_known_to_be_complete(store: UnitStore) -> None:
    table = CursorTable(store, clock := ManualClock())
    await table.advance_all("chat", START)
    await clock.advance(3600)
    later = ChatReading(START + 40 * MINUTE, "5.1")
    for reading in (ChatReading(START + 20 * MINUTE), ChatReading(START + 10 * MINUTE), later):
        await table.keep_readings("chat", {("", "a"): reading})
    marks = await table.read("chat", OVERLAP, WEEK)
    assert marks.of("a") == START + 10 * MINUTE
    assert marks.readings == {("", "a"): later}


async def test_the_end_of_a_gap_forgets_the_readings_from_before(store: UnitStore) -> None:
    table = CursorTable(store, clock := ManualClock())
    await clock.advance(3600)
    early, late = ChatReading(START + 5 * MINUTE, "5.1"), ChatReading(START + 30 * MINUTE)
    await table.keep_readings("chat", {("", "a"): early, ("T1", "b"): early, ("", "c"): late})
    await table.keep_readings("other", {("", "a"): early})
    await table.advance_all("chat", START + 20 * MINUTE)
    rows = await store.select("ledger.readings", {"channel": "chat"})
    assert [row["chat_id"] for row in rows] == ["c"]
    assert len(await store.select("ledger.readings", {"channel": "other"})) == 1


async def test_the_first_start_leaves_its_time_to_the_next_one(store: UnitStore) -> None:
    table = CursorTable(store, clock := ManualClock())
    await table.read("chat", OVERLAP, WEEK)
    await clock.advance(3600)
    assert (await table.read("chat", OVERLAP, WEEK)).of("a") == START - OVERLAP


async def test_a_reading_that_is_older_than_the_cursor_is_not_gone_on_with(
    store: UnitStore,
) -> None:
    table = CursorTable(store, clock := ManualClock())
    await table.keep_readings("chat", {("", "a"): ChatReading(START, "5.1")})
    await clock.advance(2 * WEEK.total_seconds())
    assert (await table.read("chat", OVERLAP, WEEK)).readings == {}
