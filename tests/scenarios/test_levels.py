"""What a message costs the database does not grow with what the database holds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anyio
import psycopg
import pytest

from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.registry import open_store
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ
from tests.kit.visitor import visit
from tests.postgres import owned_database
from tests.scenarios.filled_database import fill

pytestmark = pytest.mark.postgresql

SESSIONS: Final = 200
LEVELS: Final = (20_000, 200_000)
QUESTIONS: Final = (5, 45)
MOST: Final = 1.2
SELDOM: Final = {"SHARING__LEASE": "600", "SHARING__POLLER_LEASE": "600"}
"""What is done by the clock would count for more on a slower machine."""
READ: Final = """
SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"""


def pages(url: str) -> int:
    """Return how many pages of the database were looked at until now."""
    with psycopg.connect(url) as connection:
        row = connection.execute(READ).fetchone()
    assert row is not None
    return int(row[0])


async def index(url: str) -> None:
    """Index what is there: on a slow machine, more of that would be done beside the questions."""
    store = await anyio.to_thread.run_sync(open_store, url, [ledger_schema("postgres")])
    store.reindex()  # type: ignore[attr-defined]
    await store.indexed()  # type: ignore[attr-defined]
    await store.close()


async def asked(folder: Path, url: str, questions: int) -> int:
    """Answer so many questions; return the pages that were looked at, start and end included."""
    before = pages(url)
    async with FakeOpenAI() as server:
        environ = make_environ(folder / "home", server, TAPE__URL=url, **SELDOM)
        async with gateway_process(environ, folder / "home") as process:
            async with visit(await process.url(), "Alice") as (alice,):
                for number in range(questions):
                    await alice.answer(await alice.say(f"question {number}"))
            await process.interrupt()
    return pages(url) - before


async def test_a_message_costs_the_same_beside_ten_times_as_many_entries(tmp_path: Path) -> None:
    costs = []
    for entries in LEVELS:
        with owned_database() as url:
            await anyio.to_thread.run_sync(fill, url, SESSIONS, entries // SESSIONS)
            await index(url)
            folder = tmp_path / str(entries)
            folder.mkdir()
            few, many = [await asked(folder, url, one) for one in QUESTIONS]
        costs.append((many - few) / (QUESTIONS[1] - QUESTIONS[0]))
    assert costs[1] < MOST * costs[0], costs
