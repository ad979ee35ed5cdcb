"""What claiming sessions costs, and how quickly a process is woken."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final

import psycopg

from bench.figures import Bar, Figure, latencies, progress
from channels.message import Author, InboundMessage
from gateway.clock import SystemClock
from gateway.sharing.bus import Bus
from gateway.sharing.schema import sharing_schema
from gateway.sharing.sessions import SessionTable
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from tape.entry import dump, utc_iso
from tape.store import utc_now
from tape.stores.postgres.store import PostgresStore
from tests.postgres import Server

LEASE: Final = 60.0
ROUNDS: Final = 200
CLAIM_BARS: Final = {50: Bar("<", 5)}
WAKE_BARS: Final = {95: Bar("<", 50)}
_SESSIONS: Final = """
INSERT INTO session (session_id, tape, ready_at, arrived)
SELECT 'telegram:' || n, 't' || n, utc_after(n - 100000), 1 FROM generate_series(1, %(quiet)s) AS n
"""
_ROOM: Final = """
INSERT INTO session (session_id, tape, ready_at, arrived)
VALUES ('telegram:-1', 'room', utc_after(-200000), %(waiting)s)
"""
_INBOX: Final = """
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, payload, status,
                   received_at)
SELECT 'telegram', chat || '/' || n, chat, n::text, 'telegram:' || chat, %(payload)s, 'accepted',
       utc_after(0)
FROM (SELECT '-1' AS chat, n FROM generate_series(1, %(waiting)s) AS n
      UNION ALL SELECT n::text, 1 FROM generate_series(1, %(quiet)s) AS n) AS message
"""


async def claim_figures(server: Server, waiting: int, quiet: int) -> list[Figure]:
    """Time the claims of quiet sessions one by one, beside a room where thousands wait."""
    progress(f"claims: {quiet} quiet sessions beside a room with {waiting} messages")
    url = await asyncio.to_thread(server.new_database)
    async with AsyncExitStack() as stack:
        room, others = [await stack.enter_async_context(_table(url)) for _ in range(2)]
        await asyncio.to_thread(_fill, url, waiting, quiet)
        begun = time.perf_counter()
        rows = len((await room.claim(1)).work.rows)
        took = time.perf_counter() - begun
        claims: list[float] = []
        for _ in range(min(ROUNDS, quiet)):
            begun = time.perf_counter()
            await others.claim(1)
            claims.append(time.perf_counter() - begun)
        ready = len((await others.claim(quiet)).claimed)
    name = f"{quiet} quiet sessions beside {waiting} messages"
    return [
        Figure(f"{name}: the room, claimed and read", took * 1000, "ms"),
        Figure(f"{name}: of its messages read", rows, "", Bar("=", waiting)),
        *latencies(f"{name}: one claim, with what is open", claims, (50, 99), CLAIM_BARS),
        Figure(f"{name}: sessions left", ready, "", Bar("=", quiet - len(claims))),
    ]


async def wake_figures(server: Server, rounds: int = ROUNDS) -> list[Figure]:
    """Time a notification from one process's bus to another's."""
    progress(f"{rounds} notifications")
    url = await asyncio.to_thread(server.new_database)
    seconds: list[float] = []
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(_store(url)) for _ in range(2)]
        sender, hearer = (Bus(one, SystemClock(), partial(one.listen, "")) for one in stores)
        heard = asyncio.Event()
        hearer.on("bench", lambda _numbers: heard.set())
        tasks = [asyncio.create_task(bus.run()) for bus in (sender, hearer)]
        await heard.wait()  # it listens now
        for number in range(rounds):
            heard.clear()
            begun = time.perf_counter()
            sender.send("bench", number)
            await heard.wait()
            seconds.append(time.perf_counter() - begun)
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    return latencies("NOTIFY, from the commit to the listener", seconds, (50, 95), WAKE_BARS)


@asynccontextmanager
async def _store(url: str) -> AsyncIterator[PostgresStore]:
    schemas = [ledger_schema("postgres"), sharing_schema()]
    store = await asyncio.to_thread(partial(PostgresStore.open, url, schemas))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def _table(url: str) -> AsyncIterator[SessionTable]:
    async with _store(url) as store:
        ledger = Ledger(store, SystemClock(), secrets.token_hex(8))
        yield SessionTable(store, ledger.inbox, ledger.owner, LEASE)


def _fill(url: str, waiting: int, quiet: int) -> None:
    said = InboundMessage(
        "telegram", "-1", "-1/1", "1", Author("7", "Ann"), "a message", utc_iso(utc_now())
    )
    values = {"waiting": waiting, "quiet": quiet, "payload": dump(said.to_payload())}
    with psycopg.connect(url, autocommit=True) as connection:
        for sql in (_SESSIONS, _ROOM, _INBOX, "ANALYZE"):
            connection.execute(sql.encode(), values if "%(" in sql else None)
