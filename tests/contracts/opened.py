"""Open a store of each scheme in the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tape.store import TapeStore, UnitStore
from tape.stores.registry import TAPE_STORES, open_store, open_tapes
from tape.stores.sqlite import tape_schema
from tests.kit.kept_databases import kept_database
from tests.postgres import APPLICATION

NEEDS_A_SERVER: Final = frozenset({"postgresql"})
"""The schemes whose tests `make test-postgres` runs."""


def params(schemes: Iterable[str]) -> list[ParameterSet]:
    """Return the schemes as parameters of a fixture."""
    marks = dict.fromkeys(NEEDS_A_SERVER, (pytest.mark.postgresql,))
    return [pytest.param(name, marks=marks.get(name, ())) for name in sorted(schemes)]


@asynccontextmanager
async def opened(scheme: str, folder: Path) -> AsyncIterator[TapeStore]:
    """Open an empty store of a scheme, and close it at the end."""
    if scheme not in TAPE_STORES:
        async with opened_with_units(scheme, folder) as store:
            yield store
        return
    tapes = open_tapes(f"{scheme}://{folder / 'tapes'}")
    try:
        yield tapes
    finally:
        await tapes.close()


@asynccontextmanager
async def opened_with_units(scheme: str, folder: Path) -> AsyncIterator[UnitStore]:
    """Open an empty store that has units of work."""
    with ExitStack() as stack:
        if scheme in NEEDS_A_SERVER:
            url = stack.enter_context(kept_database(APPLICATION))
        else:
            url = {"memory": "memory:", "sqlite": f"sqlite://{folder / 'tapeway.db'}"}[scheme]
        store = open_store(url, [tape_schema()] if scheme == "memory" else [])
        try:
            yield store
        finally:
            await store.close()
