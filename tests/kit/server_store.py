"""The stage's store on a PostgreSQL server: a database that outlives its gateways."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any, Final

import orjson

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import Entry, NewEntry
from tape.query import Query
from tape.store import Now, SharedStore, TapeInfo
from tape.stores.postgres.store import PostgresStore
from tape.tails import Tails
from tape.unit_of_work import Framing, Outcome, Prepare, Row, Unit
from tests.fakes.base.traffic import WITNESSES, Asked
from tests.kit.clock import errand
from tests.kit.kept_connections import kept_connections
from tests.kit.kept_databases import KeptDatabase

TABLES: Final = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'entry'
"""


CLOCK: Final = """
CREATE SEQUENCE stage.microseconds MAXVALUE 9000000000000000;
CREATE FUNCTION stage.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
AS 'SELECT to_timestamp(last_value / 1e6) FROM stage.microseconds'
"""
"""Has the server go by the stage's clock, as leases and rate limits go by the server's."""

LEFT: Final = """
CREATE PROCEDURE stage.left(kept integer[]) LANGUAGE plpgsql AS $$
DECLARE
    until timestamptz := pg_catalog.clock_timestamp() + '60 s';
BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                  AND backend_type = 'client backend' AND pid <> pg_backend_pid()
                  AND pid <> ALL (kept))
    LOOP
        IF pg_catalog.clock_timestamp() > until THEN
            RAISE 'a gateway that has ended keeps its connections';
        END IF;
        PERFORM pg_sleep(0.005);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
END
$$
"""
"""Waits until all others have left."""

WAITING: Final = """
SELECT EXISTS (
    SELECT FROM session WHERE suspect = 0 AND (
        owner = '' AND ready_at <> '' OR owner <> '' AND lease_until <= utc_after(0)))
"""

_unused: Final[list[KeptDatabase]] = []
"""Databases that no test of this process uses."""


class LastingDatabase:
    """A database with the tables of a gateway, in which every byte can be searched."""

    def __init__(self, database: KeptDatabase, now: Now) -> None:
        self.url = database.url
        self.reached_at = self.url
        """What gateways are given: there may be something in between."""
        self._now = now
        self._listening: list[_Listening] = []
        self._server = database.server
        database.empty()
        self._set_at = ""
        WITNESSES.append(self)

    def open(self) -> SharedStore:
        """Open it as a gateway does that starts."""
        schemas = [ledger_schema("postgres"), sharing_schema()]
        return DistantStore(PostgresStore.open(self.reached_at, schemas, self._now), self)

    def waits(self) -> bool:
        """Return whether a session waits for somebody to claim it.

        It may be passed over: a look skips a session that somebody else is writing to.
        """
        self.set_clock()
        found = self._server.execute(WAITING).fetchone()
        return found is not None and bool(found[0])

    def wait_until_left(self) -> None:
        """Wait until the server is done with all gateways.

        What a killed one had asked for may be under way. Whoever looks meanwhile does not see the
        sessions that are locked, and on a stage the next look is far away.
        """
        self._server.execute("CALL stage.left(%s)", (kept_connections(self.url),))

    def close(self) -> None:
        """Watch it no longer; the gateways on it have ended."""
        WITNESSES.remove(self)

    def set_clock(self) -> None:
        """Have it be as late at the server as on the stage."""
        at = str(int(self._now().timestamp() * 1e6))
        if at != self._set_at:
            self._server.execute("SELECT setval('stage.microseconds', %s::bigint)", (at,))
            self._set_at = at

    @contextmanager
    def listening(self, channels: Sequence[str]) -> Iterator[_Listening]:
        """Know of a gateway that listens."""
        listening = _Listening(frozenset(channels))
        self._listening.append(listening)
        try:
            yield listening
        finally:
            self._listening.remove(listening)
            listening.end()

    @contextmanager
    def expecting(self, channels: Sequence[str], payloads: Sequence[str]) -> Iterator[None]:
        """Have no time pass until every gateway that listens has heard what is sent here."""
        pairs = [
            (one, pair) for one in self._listening for pair in zip(channels, payloads, strict=True)
        ]
        for one, pair in pairs:
            one.expect(pair)
        try:
            yield
        except BaseException:
            for one, pair in pairs:
                one.heard(pair)
            raise

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
        lines = []
        for payload, meta in self._server.execute("SELECT payload, meta FROM entry"):
            kept = orjson.loads(meta)
            if without_wire:
                kept.pop("wire", None)
            lines.append(payload.encode() + orjson.dumps(kept))
        names = [row[0] for row in self._server.execute(TABLES)]
        all_of_them = " UNION ALL ".join(f"SELECT t::text FROM {name} t" for name in names)
        lines += [row[0].encode() for row in self._server.execute(all_of_them.encode())]
        return b"\n".join(lines)


class _Listening:
    """A gateway that listens to channels, and what it has not heard yet."""

    def __init__(self, channels: frozenset[str]) -> None:
        self._channels = channels
        self._unheard: list[tuple[tuple[str, str], ExitStack]] = []

    def expect(self, pair: tuple[str, str]) -> None:
        """Have no time pass until it has heard this."""
        if pair[0] in self._channels:
            waiting = ExitStack()
            waiting.enter_context(errand())
            self._unheard.append((pair, waiting))

    def heard(self, pair: tuple[str, str]) -> None:
        """It has heard this."""
        for number, (expected, waiting) in enumerate(self._unheard):
            if expected == pair:
                del self._unheard[number]
                waiting.close()
                return

    def end(self) -> None:
        """It hears nothing any more."""
        for _pair, waiting in self._unheard:
            waiting.close()
        self._unheard.clear()


class DistantStore:
    """A store in another process: while it is asked, no time passes on the stage."""

    durable = True
    one_transaction = True

    def __init__(self, inner: SharedStore, database: LastingDatabase) -> None:
        self._inner = inner
        self._database = database

    @property
    def framing(self) -> Framing | None:
        return self._inner.framing

    @framing.setter
    def framing(self, framing: Framing | None) -> None:
        self._inner.framing = framing

    @property
    def prepare(self) -> Prepare:
        return self._inner.prepare

    @prepare.setter
    def prepare(self, prepare: Prepare) -> None:
        self._inner.prepare = prepare

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        with self._asked():
            return await self._inner.append(tape, entries, key)

    async def commit(self, unit: Unit) -> list[Outcome]:
        with self._asked():
            return await self._inner.commit(unit)

    async def query(self, query: Query) -> list[Entry]:
        with self._asked():
            return await self._inner.query(query)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        with self._asked():
            return await self._inner.tapes(prefix)

    async def size(self, tape: str) -> int:
        with self._asked():
            return await self._inner.size(tape)

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        with self._asked():
            if statement != "sharing.notify":
                return await self._inner.select(statement, values, long=long)
            sent = [orjson.loads(values[name]) for name in ("channels", "payloads")]
            with self._database.expecting(*sent):
                return await self._inner.select(statement, values, long=long)

    @property
    def tails(self) -> Tails:
        return self._inner.tails

    @tails.setter
    def tails(self, tails: Tails) -> None:
        self._inner.tails = tails

    def take_in(self, tapes: Collection[str], ends: Sequence[Row]) -> None:
        self._inner.take_in(tapes, ends)

    async def refuse_newer(self) -> None:
        with self._asked():
            await self._inner.refuse_newer()

    async def listen(
        self, url: str, channels: Sequence[str]
    ) -> AsyncGenerator[tuple[str, str], None]:
        async with aclosing(self._inner.listen(url, channels)) as heard:
            with errand():
                first = await anext(heard)
            with self._database.listening(channels) as listening:
                yield first
                async for pair in heard:
                    listening.heard(pair)
                    yield pair

    async def close(self) -> None:
        await self._inner.close()

    @contextmanager
    def _asked(self) -> Iterator[None]:
        with errand():
            self._database.set_clock()
            yield


@contextmanager
def lasting_database(now: Now) -> Iterator[LastingDatabase]:
    """Have a database for one test, empty but for its tables."""
    kept = _unused.pop() if _unused else _staged()
    database = LastingDatabase(kept, now)
    try:
        yield database
    finally:
        database.close()
        _unused.append(kept)


def _staged() -> KeptDatabase:
    """Make a database that goes by a stage's clock."""
    made = KeptDatabase()
    made.server.execute(CLOCK.encode())
    made.server.execute(LEFT.encode())
    made.change("utc_after", "clock_timestamp()", "stage.clock_timestamp()")
    change = f"ALTER DATABASE {made.server.info.dbname}"
    made.server.execute(f"{change} SET search_path = public, stage, pg_catalog".encode())
    return made
