"""The search part of the benchmark of the tape: making the index, and asking it.

What is asked is frequent, rare, or nowhere, in scripts with and without spaces. The index is made
at rest, and once more while people go on talking: what an append then takes is the price.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import psutil

from bench.chatter import COMMON, TWICE, asked
from bench.figures import Bar, Figure, latencies, progress
from tape.entry import Entry
from tape.handle import Tape
from tape.search.index_file import SUFFIX
from tape.stores.sqlite import SqliteStore

MILLION: Final = 1_000_000
BARS: Final = MappingProxyType({95: Bar("<", 5)})
PACE: Final = 200
"""Messages a second that people say while the index is made anew."""

Timed = Callable[[Callable[[], Awaitable[object]]], Awaitable[list[float]]]

ASKED: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "an English word": (COMMON, 20),
        "a frequent word": ("deploy", 20),
        "two frequent words": ("deploy billing", 20),
        "a phrase in quotes": ('"of the billing service"', 20),
        "one Chinese character": ("的", 20),
        "two Chinese characters": ("部署", 20),
        "three Chinese characters": ("连接超", 20),
        "a Chinese phrase of 9": ("日志里写的是连接超", 20),
        "frequent characters, never so": ("的时", 0),
        "a word said twice, long ago": (TWICE, 2),
        "a word nobody said": ("xylophonist", 0),
    }
)
"""What is asked, and how many hits come of it."""

NARROWED: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "of one author": {"author": "100000003"},
        "of one lane": {"lane": "lane-2"},
        "anchors only": {"kinds": ("anchor",), "limit": 5},
        "before an old entry": {"before": 2000},
        "the best 20 of the newest 200": {"rank": True},
    }
)
"""Ways to narrow a search for a frequent word, or to order it."""


async def index_figures(path: Path, label: str, entries: int) -> list[Figure]:
    """Make the index at rest, then again while people talk; tell speed, size, and the price."""
    progress(f"{label}: making the index")
    path.with_name(f"{path.name}{SUFFIX}").unlink(missing_ok=True)
    store = SqliteStore.open(path)
    try:
        begun = time.perf_counter()
        await store.indexed()
        at_rest = time.perf_counter() - begun
        size = _size(path)
        progress(f"{label}: making the index, with {PACE} messages a second")
        seconds: list[float] = []
        stop = asyncio.Event()
        talk = asyncio.create_task(_talk(store, seconds, stop))
        begun = time.perf_counter()
        store.reindex()
        await store.indexed()
        busy = time.perf_counter() - begun
        stop.set()
        await talk
    finally:
        await store.close()
    return [
        Figure(f"{label}: index, made at rest", entries / at_rest, "entries/s"),
        Figure(f"{label}: index, made while people talk", entries / busy, "entries/s"),
        Figure(f"{label}: index, size", size / 1e6, "MB"),
        *latencies(f"{label}: append at {PACE}/s while the index is made", seconds or [0.0]),
    ]


def _size(path: Path) -> int:
    own = (path.with_name(f"{path.name}{SUFFIX}{ending}") for ending in ("", "-wal"))
    return sum(file.stat().st_size for file in own if file.exists())


async def _talk(store: SqliteStore, seconds: list[float], stop: asyncio.Event) -> None:
    """Say something at a steady pace until told to stop; one that is slow holds up no other."""
    tape = Tape(store, "chat-meanwhile")
    begun, number = time.perf_counter(), 0
    async with asyncio.TaskGroup() as group:
        while not stop.is_set():
            await asyncio.sleep(begun + number / PACE - time.perf_counter())
            group.create_task(_say(tape, number, seconds))
            number += 1


async def _say(tape: Tape, number: int, seconds: list[float]) -> None:
    entry = asked(number)
    begun = time.perf_counter()
    await tape.append(entry)
    seconds.append(time.perf_counter() - begun)


async def search_figures(
    tape: Tape, label: str, entries: int, timed: Timed, bars: Mapping[int, Bar] = BARS
) -> list[Figure]:
    """Ask everything of `ASKED` and `NARROWED`."""
    figures: list[Figure] = []
    bars = bars if entries >= MILLION else {}
    for name, (text, hits) in ASKED.items():
        progress(f"{label}: search {name}")
        _expect(await tape.search(text), hits, text)
        begun = time.process_time()
        seconds = await timed(partial(tape.search, text))
        used = (time.process_time() - begun) / len(seconds)
        figures += latencies(f"{label}: search {name}", seconds, (50, 95), bars)
        figures.append(Figure(f"{label}: search {name}, CPU", used * 1000, "ms"))
    for name, conditions in NARROWED.items():
        progress(f"{label}: search a frequent word, {name}")
        seconds = await timed(partial(_narrowed, tape, conditions))
        figures += latencies(f"{label}: search a frequent word, {name}", seconds, (50, 95))
    progress(f"{label}: search two frequent words that no message has")
    seconds = await timed(partial(tape.search, "nightly lease"))
    figures += latencies(f"{label}: search two frequent words, never together", seconds, (50, 95))
    return figures


async def _narrowed(tape: Tape, conditions: Mapping[str, Any]) -> list[Entry]:
    return await tape.search("deploy", **conditions)


def _expect(found: Sequence[Entry], wanted: int, text: str) -> None:
    if len(found) != wanted:
        raise RuntimeError(f"a search for {text} found {len(found)} instead of {wanted}")


def megabytes() -> float:
    """Return the memory of this process."""
    return float(psutil.Process().memory_info().rss) / 1e6
