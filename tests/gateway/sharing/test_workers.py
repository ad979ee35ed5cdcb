"""What a process reads of the others, and of what all of them know."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from gateway.clock import SystemClock
from gateway.sharing.schema import sharing_schema
from gateway.sharing.workers import WorkerTable
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from tape.errors import StoreUnavailable
from tape.store import UnitStore
from tape.stores.registry import open_store
from tape.unit_of_work import Unit
from tests.postgres import application_database

pytestmark = pytest.mark.postgresql


@pytest.fixture
async def store() -> AsyncIterator[UnitStore]:
    with application_database() as url:
        opened = open_store(url, [ledger_schema("postgres"), sharing_schema()])
        yield opened
        await opened.close()


async def test_access_and_aliases_are_read_once_and_after_each_change(store: UnitStore) -> None:
    ledger, table = Ledger(store, SystemClock(), "a"), WorkerTable(store, "a", "", "all", "1")
    reads: list[int] = []

    async def read() -> None:
        reads.append(len(await ledger.access.rules()) + len(await ledger.inbox.aliases()))

    async def twice() -> None:
        for _ in range(2):
            await table.if_changed(read)

    await twice()
    granted, joined = Unit(), Unit()
    ledger.access.grant(granted, AccessRule("telegram", "7", "admin"))
    await store.commit(granted)
    await twice()
    ledger.inbox.alias(joined, "telegram:2", "telegram:1")
    await store.commit(joined)
    await twice()
    assert reads == [0, 1, 2]


async def test_what_could_not_be_read_is_read_the_next_time(store: UnitStore) -> None:
    table = WorkerTable(store, "a", "", "all", "1")
    reads: list[int] = []

    async def fail() -> None:
        raise StoreUnavailable("away")

    async def read() -> None:
        reads.append(1)

    with pytest.raises(StoreUnavailable):
        await table.if_changed(fail)
    await table.if_changed(read)
    assert reads == [1]


async def test_every_process_makes_the_digests_of_secrets_with_the_same_salt(
    store: UnitStore,
) -> None:
    salts = {await WorkerTable(store, owner, "", "all", "1").salt() for owner in "ab"}
    assert len(salts) == 1
    assert len(salts.pop()) == 32
