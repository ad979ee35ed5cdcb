"""A tape on each store that is made of files, or of none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tape.handle import Tape
from tape.store import TapeStore
from tape.stores.registry import open_store, open_tapes
from tape.stores.sqlite import tape_schema


@pytest.fixture(params=["file", "memory", "sqlite"])
async def tape(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Tape]:
    store: TapeStore
    if request.param == "memory":
        store = open_store("memory:", [tape_schema()])
    elif request.param == "sqlite":
        store = open_store(f"sqlite://{tmp_path / 'tapeway.db'}")
    else:
        store = open_tapes(f"file://{tmp_path / 'tapes'}")
    yield Tape(store, "t")
    await store.close()
