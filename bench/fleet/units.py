"""What a unit of work costs in one round trip: as a pipeline, or as one function of the server.

The unit ends a turn, in the ledger's own statements. The function has them in its body, so it is
the best that a function can be: one that gets its steps as data has to plan them each time.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import psycopg

from bench.figures import Figure, latencies, progress
from bench.fleet.levels import database_cpu
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.store import PostgresStore
from tests.postgres import Server

STEPS: Final = ("fence", "end_message", "record_usage", "send_later")
WARM_UP: Final = 200
_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_NUMBERS: Final = ("id", "epoch", "calls", "input", "cached", "output", "estimated", "part")
_FILL: Final = """
INSERT INTO session (session_id, tape, owner, epoch) VALUES ('s', 't', 'me', 1);
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, payload, status, received_at)
SELECT 'a', n, '1', n, repeat('what is it? ', 100), 'taken', ''
FROM generate_series(1, %(count)s) AS n
"""

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Run = Callable[[Connection, dict[str, Any]], Awaitable[None]]


async def unit_figures(server: Server, rounds: int) -> list[Figure]:
    """Time both ways, one after the other, in a database of their own each."""
    figures: list[Figure] = []
    for name, run in (("a pipeline", _pipelined), ("a function", _called)):
        progress(f"units: {rounds} as {name}")
        url = await asyncio.to_thread(server.new_database)
        schemas = [ledger_schema("postgres")]
        await (await asyncio.to_thread(PostgresStore.open, url, schemas)).close()
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            for sql in _FILL.split(";"):
                values = {"count": rounds + WARM_UP} if "%(" in sql else None
                await connection.execute(sql.encode(), values)
            await connection.execute(_function().encode())
            figures += await _timed(server, connection, run, rounds, name)
    return figures


async def _timed(
    server: Server, connection: Connection, run: Run, rounds: int, name: str
) -> list[Figure]:
    took: list[float] = []
    own = database = 0.0
    for number in range(1, rounds + WARM_UP + 1):
        if number == WARM_UP:
            own, database = time.process_time(), database_cpu(server)
        begun = time.perf_counter()
        await run(connection, _values(number))
        took.append(time.perf_counter() - begun)
    own, database = time.process_time() - own, database_cpu(server) - database
    return [
        *latencies(f"a unit as {name}", took[WARM_UP:], (50, 95)),
        Figure(f"a unit as {name}: CPU of the process", own / rounds * 1000, "ms"),
        Figure(f"a unit as {name}: CPU of the server", database / rounds * 1000, "ms"),
    ]


async def _pipelined(connection: Connection, values: dict[str, Any]) -> None:
    async with connection.pipeline():
        await connection.execute("BEGIN")
        made = [await connection.execute(_sql(one).encode(), values) for one in STEPS]
        await connection.execute("COMMIT")
    assert [cursor.rowcount for cursor in made] == [1] * len(STEPS)


async def _called(connection: Connection, values: dict[str, Any]) -> None:
    given = ", ".join(f"%({name})s" for name in _names())
    await connection.execute(f"SELECT bench_unit({given})".encode(), values)


def _sql(step: str) -> str:
    return driver_sql(ledger_schema("postgres").statements[f"ledger.{step}"])


def _names() -> list[str]:
    return list(dict.fromkeys(name for one in STEPS for name in _PARAMETER.findall(_sql(one))))


def _function() -> str:
    kinds = {**dict.fromkeys(_NUMBERS, "bigint"), "cost": "float8"}
    given = ", ".join(f"p_{name} {kinds.get(name, 'text')}" for name in _names())
    steps = []
    for one in STEPS:
        sql = _PARAMETER.sub(r"p_\1", _sql(one)).replace("%%", "%")
        steps += [f"{sql} INTO found;" if "RETURNING" in sql else f"{sql};"]
        steps += ["GET DIAGNOSTICS changed = ROW_COUNT;"]
        steps += [f"IF changed <> 1 THEN RAISE '{one} changed %', changed; END IF;"]
    body = "\n".join(steps)
    return (
        f"CREATE FUNCTION bench_unit({given}) RETURNS bigint LANGUAGE plpgsql AS $$\n"
        f"#variable_conflict use_column\nDECLARE found record; changed bigint;\n"
        f"BEGIN\n{body}\nRETURN found.id;\nEND $$"
    )


def _values(number: int) -> dict[str, Any]:
    turn = f"t-{number}"
    known = {
        "session_id": "s",
        "owner": "me",
        "turn_id": turn,
        "idem": f"{turn}:0",
        "id": number,
        "status": "done",
        "payload": "the answer, in some words. " * 40,
        "cost": 0.1,
        "why": None,
    }
    numbers = dict.fromkeys(_NUMBERS, 1)
    return {name: known.get(name, numbers.get(name, "x")) for name in _names()} | {"why": None}
