"""Processes publish their states in their rows."""

from __future__ import annotations

import psycopg
import pytest

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import dump, load
from tape.stores.registry import open_store
from tests.channels.room.hubs import silence, workers
from tests.postgres import owned_database

CHANGE = "UPDATE worker SET home = %s, state = %s, started_at = %s WHERE owner = %s"

pytestmark = pytest.mark.postgresql


async def test_each_process_reads_what_the_newest_of_each_home_published() -> None:
    with owned_database() as url:
        store = open_store(url, [ledger_schema("postgres"), sharing_schema()])
        homes = ("here", "here", "there", "there", "elsewhere", "quiet")
        with workers(url, len(homes)) as owners, psycopg.connect(url, autocommit=True) as database:
            for number, (owner, home) in enumerate(zip(owners, homes, strict=True)):
                state = "{}" if home == "quiet" else dump({"of": number})
                database.execute(CHANGE, (home, state, f"2026-01-0{number + 1}", owner))
            silence(url, owners[4])
            values = {"owner": owners[1], "since": -15.0}
            rows = await store.select("sharing.published_states", values)
            found = {load(row["state"])["of"]: (row["is_own_home"], row["alive"]) for row in rows}
        await store.close()
    assert found == {0: (True, True), 3: (False, True), 4: (False, False)}
