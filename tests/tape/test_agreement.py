"""Every store does the same, whatever is done to it: random operations on all of them.

The long form, of 100 000 operations, takes some minutes:

    TAPE_OPERATIONS=100000 TAPE_SEED=1 pytest -s tests/tape/test_agreement.py
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import pytest

from tape.store import TapeStore
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tests.tape.walk import history

pytestmark = [pytest.mark.timeout(7200)]

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OPERATIONS = int(os.environ.get("TAPE_OPERATIONS", "800"))
SEED = int(os.environ.get("TAPE_SEED", "13"))


async def test_memory_file_and_sqlite_agree_on_random_operations(tmp_path: Path) -> None:
    stores: dict[str, TapeStore] = {
        "memory": MemoryStore(now=lambda: MOMENT),
        "file": FileStore.open(tmp_path / "tapes", now=lambda: MOMENT),
        "sqlite": SqliteStore.open(tmp_path / "tapeway.db", now=lambda: MOMENT),
    }
    passed = {}
    for name, store in stores.items():
        begun = perf_counter()
        passed[name] = await history(store, SEED, OPERATIONS)
        await store.close()
        print(f"{name}: {OPERATIONS} operations in {perf_counter() - begun:.0f} s")
    for number, (one, two, three) in enumerate(zip(*passed.values(), strict=True)):
        assert one == two == three, f"operation {number}"
