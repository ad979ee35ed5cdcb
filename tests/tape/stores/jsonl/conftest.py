"""A folder of tapes, and its store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tape.stores.jsonl.store import FileStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tapes"


@pytest.fixture
async def store(folder: Path) -> AsyncIterator[FileStore]:
    store = FileStore.open(folder)
    yield store
    await store.close()
