"""The benchmark of the tape, through the product's own path: `python -m bench.tape --help`.

Appends are durable (synchronous=FULL) and go to a temporary folder, so TMPDIR names the disk that
is measured. Reads are those of a turn: a view is its entries, arranged, and made into messages.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from bench.chatter import COMMON, LANES, PER_TURN, TWICE, asked, history, turns
from bench.figures import Bar, Figure, latencies, progress, report
from bench.program import help_figures, ping_figures, ready_figures
from bench.tape_many import many_figures
from bench.tape_search import index_figures, megabytes, search_figures
from tape.context import default_tape_context, view
from tape.entry import handoff
from tape.handle import Tape
from tape.stores.sqlite import SqliteStore

SECONDS: Final = 4.0
"""How long each way of appending is measured."""

CALLERS: Final = 64
PACE: Final = 350
"""Appends a second of the paced measurement."""

RUNS: Final = 1000
LEAST_RUNS: Final = 5
LONGEST: Final = 5.0
"""Seconds after which a read is not measured again, unless it ran fewer than LEAST_RUNS times."""

BATCH: Final = 10_000
DEFAULT_ENTRIES: Final = (10_000, 1_000_000)

IN_VIEW: Final = 200
LONG_VIEW: Final = 10_000
CHINESE: Final = "红隼"
MILLION: Final = 1_000_000
VIEW_BARS: Final = MappingProxyType({50: Bar("<", 2), 99: Bar("<", 2)})
"""The bars by percentile, in ms, in a tape of a million entries."""

VIEW: Final = "view of 200"

Read = Callable[[], Awaitable[object]]


def append_figures() -> list[Figure]:
    """Measure appends of one message: one caller, many callers, and at a steady pace."""
    return asyncio.run(_appends())


async def _appends() -> list[Figure]:
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        store = SqliteStore.open(Path(folder) / "tapeway.db")
        try:
            figures = await _append_figures(store, "append, 1 caller", ["one"])
            together, apart = ["together"] * CALLERS, [f"chat-{n}" for n in range(CALLERS)]
            figures += await _append_figures(store, f"append, {CALLERS} on one tape", together)
            figures += await _append_figures(store, f"append, {CALLERS} on tapes apart", apart)
            progress(f"appends at {PACE}/s, {SECONDS:g} s")
            return [*figures, *latencies(f"append at {PACE}/s", await _paced(store))]
        finally:
            await store.close()


async def _append_figures(store: SqliteStore, name: str, tapes: Sequence[str]) -> list[Figure]:
    """Append for a while from one caller a name, each to the tape of that name."""
    progress(f"{name}, {SECONDS:g} s")
    seconds: list[float] = []
    begun = time.perf_counter()
    callers = (_append_until(Tape(store, tape), begun + SECONDS, seconds) for tape in tapes)
    await asyncio.gather(*callers)
    took = time.perf_counter() - begun
    return [Figure(name, len(seconds) / took, "entries/s"), *latencies(name, seconds)]


async def _append_until(tape: Tape, end: float, seconds: list[float]) -> None:
    number = 0
    while time.perf_counter() < end:
        await _append(tape, number, seconds)
        number += 1


async def _append(tape: Tape, number: int, seconds: list[float]) -> None:
    entry = asked(number)
    begun = time.perf_counter()
    await tape.append(entry)
    seconds.append(time.perf_counter() - begun)


async def _paced(store: SqliteStore) -> list[float]:
    """Append at a steady pace; one that is slow does not hold up the next."""
    tape = Tape(store, "chat-paced")
    seconds: list[float] = []
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(PACE * SECONDS)):
            await asyncio.sleep(begun + number / PACE - time.perf_counter())
            group.create_task(_append(tape, number, seconds))
    return seconds


def read_figures(entries: int) -> list[Figure]:
    """Measure filling a tape of so many entries, reading it, and the memory that takes."""
    return asyncio.run(_reads(entries))


async def _reads(entries: int) -> list[Figure]:
    label = _label(entries)
    before = megabytes()
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        path = Path(folder) / "tapeway.db"
        took = await _fill(path, entries)
        figures = [
            Figure(f"{label}: fill", took, "s"),
            Figure(f"{label}: size on disk", path.stat().st_size / 1e6, "MB"),
            *(await index_figures(path, label, entries)),
        ]
        filled = megabytes()
        _forget(path)
        store = SqliteStore.open(path)
        try:
            figures += await _read_figures(Tape(store, "chat"), label, entries)
            after = megabytes()
        finally:
            await store.close()
    return [
        *figures,
        Figure(f"{label}: memory before", before, "MB"),
        Figure(f"{label}: memory after the fill and the index", filled, "MB"),
        Figure(f"{label}: memory after the reads", after, "MB"),
    ]


def growth(figures: Sequence[Figure], sizes: Sequence[int]) -> list[Figure]:
    """Set what the longest tape took against the shortest: nothing may grow with the length."""
    short, long = f"{_label(min(sizes))}: ", f"{_label(max(sizes))}: "
    by_name = {figure.name: figure for figure in figures}
    if short == long:
        return []
    return [
        Figure(f"{name.removeprefix(long)}, as at {short.strip(': ')}", value, "times")
        for name, figure in by_name.items()
        if name.startswith(long) and figure.unit == "ms"
        for other in [by_name.get(short + name.removeprefix(long))]
        if other is not None and other.value
        for value in [figure.value / other.value]
    ]


def _label(entries: int) -> str:
    return f"{entries:,}".replace(",", " ")


async def _fill(path: Path, entries: int) -> float:
    """Fill a tape so that its view, and the view of lane-0, hold 200 entries; return the seconds.

    The last anchor is of lane-3 and has 200 entries after it. The one before is tape-wide: the
    view of lane-0 goes back to that one, past the other lanes.
    """
    begun = time.perf_counter()
    store = SqliteStore.open(path)
    try:
        tape = Tape(store, "chat")
        await tape.append()
        stretch = LANES * IN_VIEW // PER_TURN
        last = IN_VIEW // PER_TURN
        await _fill_history(tape, entries - stretch * PER_TURN - 7)
        await tape.handoff("phase:lanes", {"summary": "where the lanes' views begin"})
        first = await tape.size() + 1
        await tape.append(*turns(first, stretch - last))
        rest = turns(first + (stretch - last) * PER_TURN + 2, last, stretch - last, _words())
        told = handoff("phase:last", {"summary": "the view begins here"}, lane="lane-3")
        await tape.append(*told, *rest[: IN_VIEW - 1])
        _expect(await tape.size(), entries)
    finally:
        await store.close()
    return time.perf_counter() - begun


async def _fill_history(tape: Tape, count: int) -> None:
    await tape.append(asked(0, TWICE), asked(1, TWICE))
    first, batch = await tape.size() + 1, []
    for block in history(first, count):
        batch += block
        if len(batch) >= BATCH:
            await tape.append(*batch)
            first += len(batch)
            batch = []
            if first // BATCH % 10 == 0:
                progress(f"filling: {first:,} of {count:,}".replace(",", " "))
    await tape.append(*batch)


def _words() -> str:
    return f"{COMMON} {CHINESE}"


def _forget(path: Path) -> None:
    """Let the system forget what it holds of a file, where that can be asked for."""
    if not hasattr(os, "posix_fadvise"):
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


async def _read_figures(tape: Tape, label: str, entries: int) -> list[Figure]:
    cold = await _timed(partial(view, tape, default_tape_context()), 1)
    figures = [Figure(f"{label}: view of 200, first and from disk", cold[0] * 1000, "ms")]
    await _check(tape)
    for name, read in _reads_of(tape).items():
        progress(f"{label}: {name}, at most {RUNS} times")
        bars = VIEW_BARS if entries >= MILLION and name == VIEW else {}
        figures += latencies(f"{label}: {name}", await _timed(read, RUNS), bars=bars)
    long = partial(view, tape, default_tape_context())
    figures += await search_figures(tape, label, entries, partial(_timed, runs=RUNS))
    if entries > 2 * LONG_VIEW:
        await tape.handoff("phase:long")
        first = await tape.size() + 1
        await tape.append(*turns(first, LONG_VIEW // PER_TURN)[: LONG_VIEW - 1])
        progress(f"{label}: view of {LONG_VIEW}")
        figures += latencies(f"{label}: view of {LONG_VIEW}", await _timed(long, 50))
    return figures


def _reads_of(tape: Tape) -> dict[str, Read]:
    context = default_tape_context()
    return {
        VIEW: partial(view, tape, context),
        "lane view of 200": partial(view, tape, context, "lane-0"),
        "old anchor by name": partial(tape.anchor, "phase:1"),
        "newest 20": partial(tape.recent, 20),
    }


async def _check(tape: Tape) -> None:
    """Make sure that what is timed is what the names of the figures say."""
    last = await tape.last_anchor()
    _expect(last.name if last else None, "phase:last")
    _expect(len(await tape.after("phase:last")), IN_VIEW)
    lanes = await tape.anchor("phase:lanes")
    _expect(len(await tape.find(after=lanes.id, lane="lane-0")), IN_VIEW)
    for word, hits in ((COMMON, 20), (CHINESE, 20), (TWICE, 2)):
        _expect(len(await tape.search(word)), hits)


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise RuntimeError(f"the benchmark's tape is not as it should be: {found} for {wanted}")


async def _timed(read: Read, runs: int) -> list[float]:
    seconds: list[float] = []
    for run in range(runs):
        if run >= LEAST_RUNS and sum(seconds) > LONGEST:
            break
        begun = time.perf_counter()
        await read()
        seconds.append(time.perf_counter() - begun)
        await asyncio.sleep(0)  # a read may never wait, and Ctrl-C ends only what waits
    return seconds


def _all_reads(sizes: Sequence[int]) -> list[Figure]:
    figures = [figure for size in sizes for figure in read_figures(size)]
    return [*figures, *growth(figures, sizes)]


PARTS: Final[Mapping[str, Callable[[Sequence[int]], list[Figure]]]] = MappingProxyType(
    {
        "append": lambda _sizes: append_figures(),
        "read": _all_reads,
        "many": lambda sizes: many_figures(max(sizes)),
        "help": lambda _sizes: help_figures(),
        "ready": lambda _sizes: ready_figures(),
        "ping": lambda _sizes: ping_figures(),
    }
)


def main() -> None:
    """Measure what the command line asks for; print the table, and write the JSON."""
    options = _options()
    figures: list[Figure] = []
    for name in options.only or PARTS:
        figures += PARTS[name](options.entries)
    report(figures, options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.tape", description=__doc__)
    parser.add_argument(
        "--entries",
        type=_size,
        nargs="+",
        default=DEFAULT_ENTRIES,
        metavar="N",
        help="how many entries the tapes that are read have (default: 10000 and 1000000)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="NAME", help=f"of: {', '.join(PARTS)}"
    )
    return parser.parse_args()


def _size(text: str) -> int:
    size = int(text)
    if size < 2000:
        raise argparse.ArgumentTypeError("a tape of 2000 entries is the smallest")
    return size


if __name__ == "__main__":
    main()
