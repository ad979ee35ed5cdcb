"""A PostgreSQL store that answers from memory what it holds: it says the same as the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tape.entry import Entry, message
from tape.errors import TapeError
from tape.query import Query
from tape.store import utc_now
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.measures import PostgresMeasures
from tape.stores.postgres.pool import ServerConnection
from tape.stores.postgres.store import PostgresStore, search_schema, tape_schema
from tape.tails import END, MAX_ENTRIES
from tape.testing import ERASING_CHECKS, SEARCH_CHECKS, STORE_CHECKS, StoreCheck
from tape.testing.stores import said
from tape.testing.tapes import T
from tape.unit_of_work import Unit
from tests.postgres import fresh_database

pytestmark = pytest.mark.postgresql


class SilentDatabase(PostgresDatabase):
    """A database that must not be asked while it is `silent`."""

    silent = False

    @asynccontextmanager
    async def connection(self, *, patient: bool = False) -> AsyncIterator[ServerConnection]:
        assert not self.silent, "the database was asked"
        async with super().connection(patient=patient) as connection:
            yield connection


class HoldingStore(PostgresStore):
    """Holds every tape that it hears of."""

    is_held = True

    def _hold(self, tape: str) -> None:
        self.tails.hold(tape, lambda: self.is_held)

    async def commit(self, unit: Unit) -> list[Any]:
        for step in unit.steps:
            if (tape := getattr(step, "tape", None)) is not None:
                self._hold(tape)
        return await super().commit(unit)

    async def query(self, query: Query) -> list[Entry]:
        self._hold(query.tape)
        return await super().query(query)


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database() as made:
        yield made


@pytest.fixture
def database(url: str) -> SilentDatabase:
    made = SilentDatabase.open(url, (tape_schema(), search_schema()))
    assert isinstance(made, SilentDatabase)
    return made


@pytest.fixture
async def store(database: SilentDatabase) -> AsyncIterator[HoldingStore]:
    made = HoldingStore(database, utc_now)
    yield made
    await made.close()


@pytest.fixture
async def other(url: str) -> AsyncIterator[PostgresStore]:
    """The store of another process over the same database."""
    made = PostgresStore.open(url)
    yield made
    await made.close()


@pytest.mark.parametrize(
    "check", [*STORE_CHECKS, *SEARCH_CHECKS, *ERASING_CHECKS], ids=lambda check: check.__name__
)
async def test_a_store_that_holds_its_tapes_keeps_the_contract(
    check: StoreCheck, store: HoldingStore
) -> None:
    await check(store)


async def test_what_is_held_is_read_once(store: HoldingStore, database: SilentDatabase) -> None:
    await store.append(T, [said("plum")])
    assert [one.text for one in await store.query(Query(T, kinds=("message",)))] == ["plum"]
    database.silent = True
    assert len(await store.query(Query(T))) == 3
    assert await store.size(T) == 3
    with pytest.raises(AssertionError):
        await store.tapes()


async def test_what_is_older_than_is_remembered_is_read_from_the_database(
    store: HoldingStore,
) -> None:
    for number in range(3):
        await store.append(T, [said(f"{number}.{each}") for each in range(MAX_ENTRIES)])
    assert len(await store.query(Query(T))) == 3 * MAX_ENTRIES + 2
    newest = await store.query(Query(T, limit=2, newest=True))
    assert [one.text for one in newest] == [f"2.{MAX_ENTRIES - 2}", f"2.{MAX_ENTRIES - 1}"]
    (first,) = await store.query(Query(T, kinds=("message",), limit=1))
    assert first.text == "0.0"
    assert len(await store.query(Query(T, lane="nowhere", limit=1, newest=True))) == 0


async def test_after_its_release_a_tape_is_what_others_made_of_it(store: HoldingStore) -> None:
    await store.append(T, [said("plum")])
    await store.query(Query(T))
    store.tails.release(T)
    await PostgresStore.append(store, T, [said("pear")])
    store.tails.release(T)
    assert [one.text for one in await PostgresStore.query(store, Query(T, after=3))] == ["pear"]


async def test_a_tape_that_is_held_again_is_known_with_what_others_appended_meanwhile(
    store: HoldingStore, other: PostgresStore, database: SilentDatabase
) -> None:
    await store.append(T, [said("plum")])
    store.tails.release(T)
    await other.append(T, [said("pear")])
    store.tails.hold(T, lambda: True)
    store.take_in([T], await store.select("tape.ends", {"names": [T], **END}))
    database.silent = True
    assert [one.text for one in await store.query(Query(T, after=2))] == ["plum", "pear"]
    assert await store.size(T) == 4
    database.silent = False
    (fig,) = await store.append(T, [said("fig")])
    assert fig.id == 5


async def test_what_is_read_during_a_release_is_not_remembered(store: HoldingStore) -> None:
    await store.append(T, [said("plum")])
    number = store.tails.lacks(T)
    assert number is not None
    read = await PostgresStore.query(store, Query(T, limit=MAX_ENTRIES, newest=True))
    store.tails.release(T)
    await PostgresStore.append(store, T, [said("pear")])
    store.tails.hold(T, lambda: True)
    store.tails.load(T, number, read, read[-1].id)
    assert [one.text for one in await store.query(Query(T, after=3))] == ["pear"]


async def test_a_tape_whose_lease_has_ended_is_read_from_the_database(
    store: HoldingStore, database: SilentDatabase
) -> None:
    await store.append(T, [said("plum")])
    await store.query(Query(T))
    store.is_held = False
    database.silent = True
    with pytest.raises(AssertionError):
        await store.query(Query(T))


async def test_of_long_entries_few_are_remembered(store: HoldingStore) -> None:
    long = "plum " * 20_000
    for number in range(9):
        await store.append(T, [said(f"{number} {long}")])
        assert len(await store.query(Query(T, limit=1, newest=True))) == 1
    newest = store.tails.answer(Query(T, limit=2, newest=True))
    assert newest is not None
    assert [one.id for one in newest] == [10, 11]
    assert store.tails.answer(Query(T, limit=8, newest=True)) is None
    assert len(await store.query(Query(T, limit=8, newest=True))) == 8


async def test_tapes_that_were_used_long_ago_are_forgotten(url: str) -> None:
    schemas, measures = (tape_schema(), search_schema()), PostgresMeasures(remembered_bytes=3000)
    store = HoldingStore(PostgresDatabase.open(url, schemas, measures), utc_now)
    for number in range(4):
        await store.append(f"{T}-{number}", [said("plum " * 200)])
        await store.query(Query(f"{T}-{number}"))
    known = [store.tails.size(f"{T}-{number}") for number in range(4)]
    assert known[0] is None
    assert known[3] == 3
    assert [len(await store.query(Query(f"{T}-{number}"))) for number in range(4)] == [3] * 4
    await store.close()


async def test_a_refused_append_is_not_remembered(store: HoldingStore) -> None:
    await store.append(T, [said("plum")])
    await store.query(Query(T))
    with suppress(TapeError):
        await store.append(T, [message("user", "\ud800")])
    assert len(await store.query(Query(T))) == 3
    await store.append(T, [said("pear")])
    assert [one.id for one in await store.query(Query(T))] == [1, 2, 3, 4]
