"""The stores' conformance suite on every store of the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tape.registry import STORES, open_store
from tape.search.testing import SEARCH_CHECKS, SearchCheck
from tape.sqlite import tape_schema
from tape.store import UnitStore
from tape.testing import STORE_CHECKS, UNIT_CHECKS, StoreCheck, UnitCheck

pytestmark = pytest.mark.anyio


@pytest.fixture(params=sorted(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UnitStore]:
    urls = {"memory": "memory:", "sqlite": f"sqlite://{tmp_path / 'tapeway.db'}"}
    schemas = [tape_schema()] if request.param == "memory" else []
    store = open_store(urls[request.param], schemas)
    yield store
    await store.close()


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
async def test_store(check: StoreCheck, store: UnitStore) -> None:
    await check(store)


@pytest.mark.parametrize("check", UNIT_CHECKS, ids=lambda check: check.__name__)
async def test_unit(check: UnitCheck, store: UnitStore) -> None:
    await check(store)


@pytest.mark.parametrize("check", SEARCH_CHECKS, ids=lambda check: check.__name__)
async def test_search(check: SearchCheck, store: UnitStore) -> None:
    await check(store)
