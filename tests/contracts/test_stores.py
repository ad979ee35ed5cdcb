"""The stores' conformance suite on every store of the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tape.store import TapeStore, UnitStore
from tape.stores.registry import TAPE_STORES, UNIT_STORES
from tape.testing import (
    ERASING_CHECKS,
    SEARCH_CHECKS,
    STORE_CHECKS,
    UNIT_CHECKS,
    StoreCheck,
    UnitCheck,
)
from tests.contracts.opened import opened, opened_with_units, params


@pytest.fixture(params=params({**UNIT_STORES, **TAPE_STORES}))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TapeStore]:
    async with opened(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=params(UNIT_STORES))
async def unit_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UnitStore]:
    async with opened_with_units(request.param, tmp_path) as found:
        yield found


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
async def test_store(check: StoreCheck, store: TapeStore) -> None:
    await check(store)


@pytest.mark.parametrize("check", UNIT_CHECKS, ids=lambda check: check.__name__)
async def test_unit(check: UnitCheck, unit_store: UnitStore) -> None:
    await check(unit_store)


@pytest.mark.parametrize("check", SEARCH_CHECKS, ids=lambda check: check.__name__)
async def test_search(check: StoreCheck, store: TapeStore) -> None:
    await check(store)


@pytest.mark.parametrize("check", ERASING_CHECKS, ids=lambda check: check.__name__)
async def test_erasing(check: StoreCheck, store: TapeStore) -> None:
    await check(store)
