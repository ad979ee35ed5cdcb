"""The benchmark of many tapes: a gateway's thousands of chats in one database."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.chatter import history
from bench.figures import Figure, latencies, progress
from bench.tape_search import index_figures, megabytes
from tape.context import default_tape_context, view
from tape.handle import Tape
from tape.stores.sqlite import SqliteStore

TAPES: Final = 5000
RUNS: Final = 1000

Question = Callable[[Tape], Awaitable[object]]

QUESTIONS: Final[dict[str, Question]] = {
    "view since the last anchor": lambda tape: view(tape, default_tape_context()),
    "old anchor by name": lambda tape: tape.anchor("phase:0"),
    "newest 20": lambda tape: tape.recent(20),
    "search a frequent word": lambda tape: tape.search("deploy"),
    "search two Chinese characters": lambda tape: tape.search("部署"),
    "search a word nobody said": lambda tape: tape.search("xylophonist"),
}


def many_figures(entries: int) -> list[Figure]:
    """Measure so many entries in thousands of tapes, each asked at random."""
    return asyncio.run(_many(entries))


async def _many(entries: int) -> list[Figure]:
    label = f"{TAPES} tapes of {entries // TAPES}"
    before = megabytes()
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        path = Path(folder) / "tapeway.db"
        await _fill(path, entries // TAPES, label)
        figures = await index_figures(path, label, entries)
        begun = time.perf_counter()
        store = SqliteStore.open(path)
        await store.indexed()
        figures += [Figure(f"{label}: opened and compared", time.perf_counter() - begun, "s")]
        try:
            for name, question in QUESTIONS.items():
                progress(f"{label}: {name}")
                figures += latencies(f"{label}: {name}", await _asked(store, question), (50, 95))
            figures.append(Figure(f"{label}: memory, more", megabytes() - before, "MB"))
        finally:
            await store.close()
    return figures


async def _fill(path: Path, size: int, label: str) -> None:
    store = SqliteStore.open(path)
    try:
        for number in range(TAPES):
            if number % 1000 == 0:
                progress(f"{label}: filling {number}")
            # Not a multiple of an anchor's distance: what lies behind the last one is the view.
            for block in history(3, size - 2):
                await store.append(f"chat-{number}", block)
            await Tape(store, f"chat-{number}").handoff("phase:0")
    finally:
        await store.close()


async def _asked(store: SqliteStore, question: Question) -> list[float]:
    chance, seconds = random.Random(7), []
    for _ in range(RUNS):
        tape = Tape(store, f"chat-{chance.randrange(TAPES)}")
        begun = time.perf_counter()
        await question(tape)
        seconds.append(time.perf_counter() - begun)
    return seconds
