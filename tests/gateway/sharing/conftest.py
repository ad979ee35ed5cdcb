"""The database of processes that share their work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.store import UnitStore
from tape.stores.registry import open_store
from tests.kit.kept_databases import kept_database


@pytest.fixture
def url() -> Iterator[str]:
    with kept_database() as url:
        yield url


@pytest.fixture
async def store(url: str) -> AsyncIterator[UnitStore]:
    store = open_store(url, [ledger_schema("postgres"), sharing_schema()])
    yield store
    await store.close()
