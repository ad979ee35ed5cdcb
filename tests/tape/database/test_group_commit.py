"""The writer thread: a failing unit affects neither other units nor the thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from tape.database.schema import Schema
from tape.entry import NewEntry, message
from tape.errors import AppendRefused, TapeError, UnitFailed
from tape.query import Query
from tape.stores.sqlite import SqliteStore
from tape.unit_of_work import Unit

T = "chat"
NOTES = Schema(
    "notes",
    ("CREATE TABLE note (entry INTEGER, text TEXT NOT NULL UNIQUE) STRICT",),
    {
        "notes.add": "INSERT INTO note (entry, text) VALUES (:entry, :text) RETURNING entry, text",
        "notes.all": "SELECT entry, text FROM note ORDER BY text",
        "notes.drop": "DELETE FROM note WHERE text = :text",
    },
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "tapeway.db", [NOTES])
    yield store
    await store.close()


def said(text: str) -> NewEntry:
    return message("user", text)


async def test_a_statement_is_given_the_id_of_an_append_of_its_unit(store: SqliteStore) -> None:
    unit = Unit()
    first = unit.append(T, [said("a"), said("b")])
    added = unit.run("notes.add", expect=1, entry=first, text="x")
    outcomes = await store.commit(unit)
    assert outcomes[added].rows == ({"entry": 3, "text": "x"},)
    assert outcomes[added].changed == 1
    assert await store.select("notes.all", {}) == [{"entry": 3, "text": "x"}]


async def test_a_unit_that_fails_takes_its_statements_and_appends_with_it(
    store: SqliteStore,
) -> None:
    unit = Unit()
    unit.append(T, [said("a")], "k")
    unit.run("notes.add", entry=1, text="x")
    unit.run("notes.drop", expect=1, text="unknown")
    with pytest.raises(UnitFailed, match="changed 0 rows instead of 1") as failed:
        await store.commit(unit)
    assert (failed.value.statement, failed.value.expected, failed.value.changed) == (
        "notes.drop",
        1,
        0,
    )
    assert await store.size(T) == 0
    assert await store.select("notes.all", {}) == []


async def test_a_statement_that_the_database_refuses_fails_its_unit_only(
    store: SqliteStore,
) -> None:
    failed: list[int] = []

    async def add(number: int) -> None:
        unit = Unit()
        unit.append(T, [said(str(number))])
        unit.run("notes.add", entry=number, text="the same")
        try:
            await store.commit(unit)
        except AppendRefused:
            failed.append(number)

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(add, number)
    assert len(failed) == 4
    assert await store.size(T) == 3


def _unit(fill: Callable[[Unit], object]) -> Unit:
    unit = Unit()
    fill(unit)
    return unit


HOSTILE = {
    "a tape's name that UTF-8 cannot hold": _unit(lambda u: u.append("\ud800", [said("a")])),
    "a key that UTF-8 cannot hold": _unit(lambda u: u.append(T, [said("a")], "\ud800")),
    "a date that UTF-8 cannot hold": _unit(
        lambda u: u.append(T, [NewEntry("message", {"content": "a"}, {}, "\ud800")])
    ),
    "a payload that is no object": _unit(lambda u: u.append(T, [NewEntry("anchor", None)])),  # type: ignore[arg-type]
    "a meta that is not an object": _unit(lambda u: u.append(T, [NewEntry("message", {}, 5)])),  # type: ignore[arg-type]
    "a value that no column holds": _unit(lambda u: u.run("notes.add", entry=1, text=object())),
    "an integer beyond 64 bits": _unit(lambda u: u.run("notes.add", entry=2**70, text="x")),
    "an unknown statement": _unit(lambda u: u.run("notes.no_such")),
    "a value that is missing": _unit(lambda u: u.run("notes.add", text="x")),
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_unit_that_cannot_be_run_is_refused_and_the_next_one_is_taken(
    store: SqliteStore, unit: Unit
) -> None:
    with anyio.fail_after(30):
        with pytest.raises(TapeError):
            await store.commit(unit)
        await store.append(T, [said("next")])
    assert [entry.text for entry in await store.query(Query(T, after=2))] == ["next"]


async def test_appends_of_one_caller_keep_their_order(store: SqliteStore) -> None:
    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(store.append, T, [said(str(number))])
    entries = await store.query(Query(T, kinds=("message",)))
    assert [entry.text for entry in entries] == [str(number) for number in range(50)]


async def test_a_date_is_the_moment_of_the_append_unless_it_is_given(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    store = SqliteStore.open(tmp_path / "own.db", now=lambda: moment)
    given = (moment - timedelta(days=1)).isoformat()
    entries = await store.append(
        T, [said("a"), NewEntry("message", {"role": "user", "content": ""}, {}, given)]
    )
    assert [entry.date for entry in entries] == ["2026-01-02T00:00:00.000000+00:00", given]
    await store.close()
