"""The stores' conformance suite on every store of the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

from tape.store import TapeStore, UnitStore
from tape.stores.registry import TAPE_STORES, UNIT_STORES, open_store, open_tapes
from tape.stores.sqlite import tape_schema
from tape.testing import (
    ERASING_CHECKS,
    SEARCH_CHECKS,
    STORE_CHECKS,
    UNIT_CHECKS,
    StoreCheck,
    UnitCheck,
)
from tests.postgres import fresh_database

S = TypeVar("S", bound=TapeStore)

pytestmark = pytest.mark.anyio


NEEDS_A_SERVER = {"postgresql"}
"""The schemes whose tests `make test-postgres` runs."""


def params(schemes: Iterable[str]) -> list[ParameterSet]:
    """Return the schemes as parameters of a fixture."""
    marks = dict.fromkeys(NEEDS_A_SERVER, (pytest.mark.postgresql,))
    return [pytest.param(name, marks=marks.get(name, ())) for name in sorted(schemes)]


def opened(scheme: str, folder: Path) -> TapeStore:
    if scheme in TAPE_STORES:
        return open_tapes(f"{scheme}://{folder / 'tapes'}")
    return opened_with_units(scheme, folder)


def opened_with_units(scheme: str, folder: Path) -> UnitStore:
    urls = {"memory": "memory:", "sqlite": f"sqlite://{folder / 'tapeway.db'}"}
    return open_store(urls[scheme], [tape_schema()] if scheme == "memory" else [])


@asynccontextmanager
async def closing(store: S) -> AsyncIterator[S]:
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(params=params({**UNIT_STORES, **TAPE_STORES}))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TapeStore]:
    with ExitStack() as stack:
        if request.param in NEEDS_A_SERVER:
            found: TapeStore = open_store(stack.enter_context(fresh_database()))
        else:
            found = opened(request.param, tmp_path)
        async with closing(found):
            yield found


@pytest.fixture(params=params(UNIT_STORES))
async def unit_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UnitStore]:
    with ExitStack() as stack:
        if request.param in NEEDS_A_SERVER:
            found = open_store(stack.enter_context(fresh_database()))
        else:
            found = opened_with_units(request.param, tmp_path)
        async with closing(found):
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
