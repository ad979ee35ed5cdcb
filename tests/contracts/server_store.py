"""The stage's store on a PostgreSQL server: a database that outlives its gateways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
import psycopg

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import Entry, NewEntry
from tape.query import Query
from tape.store import Now, TapeInfo, UnitStore
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Outcome, Prepare, Row, Unit
from tests.clock import errand
from tests.fakes.base.traffic import WITNESSES, Asked
from tests.postgres import owned_database

TABLES = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'entry'
"""


class LastingDatabase:
    """A database with the tables of a gateway, in which every byte can be searched."""

    def __init__(self, url: str, now: Now) -> None:
        self.url = url
        self.reached_at = url
        """What gateways are given: there may be something in between."""
        self._now = now
        WITNESSES.append(self)

    def open(self) -> UnitStore:
        """Open it as a gateway does that starts."""
        schemas = [ledger_schema("postgres"), sharing_schema()]
        return DistantStore(PostgresStore.open(self.reached_at, schemas, self._now))

    def lapse(self) -> None:
        """End the leases of a killed gateway, so that a test need not wait for them."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("UPDATE session SET lease_until = '' WHERE lease_until <> ''")
            connection.execute("UPDATE poller SET lease_until = '' WHERE lease_until <> ''")

    def heard(self) -> bytes:
        """Return everything in it but `meta.wire`."""
        return self._rows(without_wire=True)

    def asked(self) -> list[Asked]:
        """Nobody asks a store to think."""
        return []

    def everything(self) -> bytes:
        """Return every byte of the tapes and of the tables."""
        return self._rows(without_wire=False)

    def _rows(self, *, without_wire: bool) -> bytes:
        with psycopg.connect(self.url, autocommit=True) as connection:
            lines = []
            for payload, meta in connection.execute("SELECT payload, meta FROM entry"):
                kept = orjson.loads(meta)
                if without_wire:
                    kept.pop("wire", None)
                lines.append(payload.encode() + orjson.dumps(kept))
            names = [row[0] for row in connection.execute(TABLES)]
            all_of_them = " UNION ALL ".join(f"SELECT t::text FROM {name} t" for name in names)
            lines += [row[0].encode() for row in connection.execute(all_of_them.encode())]
        return b"\n".join(lines)


class DistantStore:
    """A store in another process: while it is asked, no time passes on the stage."""

    durable = True
    one_transaction = True

    def __init__(self, inner: UnitStore) -> None:
        self._inner = inner

    @property
    def prepare(self) -> Prepare:
        return self._inner.prepare

    @prepare.setter
    def prepare(self, prepare: Prepare) -> None:
        self._inner.prepare = prepare

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        with errand():
            return await self._inner.append(tape, entries, key)

    async def commit(self, unit: Unit) -> list[Outcome]:
        with errand():
            return await self._inner.commit(unit)

    async def query(self, query: Query) -> list[Entry]:
        with errand():
            return await self._inner.query(query)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        with errand():
            return await self._inner.tapes(prefix)

    async def size(self, tape: str) -> int:
        with errand():
            return await self._inner.size(tape)

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        with errand():
            return await self._inner.select(statement, values, long=long)

    async def close(self) -> None:
        await self._inner.close()


@contextmanager
def lasting_database(now: Now) -> Iterator[LastingDatabase]:
    """Create a database for one test."""
    with owned_database() as url:
        database = LastingDatabase(url, now)
        try:
            yield database
        finally:
            WITNESSES.remove(database)
