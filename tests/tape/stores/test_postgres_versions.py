"""Which version may use a database that another one has migrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.schema import Schema
from tape.entry import message
from tape.errors import StoreTooNew
from tape.query import Query
from tape.stores.postgres.store import PostgresStore
from tests.postgres import fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]

OWN = ledger_schema("postgres")
ADDS = "-- readable from: 1\nALTER TABLE inbox ADD COLUMN mood TEXT; CREATE TABLE mood (name TEXT)"
BREAKS = "ALTER TABLE outbox RENAME COLUMN why TO reason"


@pytest.fixture
def url() -> Iterator[str]:
    with fresh_database() as url:
        yield url


def following(*migrations: str) -> Schema:
    """Return the ledger of a pretended later version."""
    return replace(OWN, migrations=(*OWN.migrations, *migrations))


async def test_a_process_goes_on_beside_a_version_that_only_added(url: str) -> None:
    before = PostgresStore.open(url, [OWN])
    try:
        await PostgresStore.open(url, [following(ADDS)]).close()
        await before.refuse_newer()
        await before.append("tape", [message("user", "still here")])
    finally:
        await before.close()
    again = PostgresStore.open(url, [OWN])
    try:
        assert [entry.text for entry in await again.query(Query("tape"))][-1] == "still here"
    finally:
        await again.close()


@pytest.mark.parametrize("later", [(BREAKS,), (BREAKS, ADDS)], ids=["last", "before one that adds"])
async def test_a_process_stops_once_a_later_version_has_taken_something_away(
    url: str, later: tuple[str, ...]
) -> None:
    before = PostgresStore.open(url, [OWN])
    try:
        await PostgresStore.open(url, [following(*later)]).close()
        with pytest.raises(StoreTooNew, match=r"install Tapeway \d.* or a newer one"):
            await before.refuse_newer()
    finally:
        await before.close()
    with pytest.raises(StoreTooNew):
        PostgresStore.open(url, [OWN])


async def test_a_version_that_is_not_yet_written_down_counts_as_one_that_takes_away(
    url: str,
) -> None:
    await PostgresStore.open(url, [OWN]).close()
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO migration VALUES ('ledger', 99, '9.9.9')")
    with pytest.raises(StoreTooNew, match="ledger schema 99"):
        PostgresStore.open(url, [OWN])
