"""Check what changed, within 60 seconds: `python -m tests.quick_check [REVISION]`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import grimp
import psutil

from tests.quick_check.changes import changed_files
from tests.quick_check.jobs import Ended, run
from tests.quick_check.selection import PACKAGES, as_few_paths, nearest_first
from tests.quick_check.stopwatch import NOTES, UNTIL

ROOT: Final = Path(__file__).resolve().parent.parent.parent
BIN: Final = Path(sys.executable).parent
LIMIT_SECONDS: Final = 57.0
"""When what still runs is interrupted, so that all of it is over after a minute."""

LAST_TEST_SECONDS: Final = 4.0
"""No test begins so shortly before the limit: the one that runs has to end."""

START_SECONDS: Final = 4.0
"""How long pytest needs before its first test; with less time than that, it does not begin."""

FILES_PER_RUN: Final = 6
"""How many files of tests one process of pytest takes: few, so that what is near comes first."""

MOST_PATHS: Final = 24
"""How many paths a command may name that a person is to copy."""

CHECKS: Final = {
    "types": ("mypy",),
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "layers": ("lint-imports",),
    "counts": ("pytest", "-p", "no:xdist", "tests/test_house_counts.py", "-k", "not hops"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A command that ran: a check, or pytest with some files."""

    name: str
    ended: Ended
    remedy: str
    done: Sequence[str] = ()
    failed: bool = False
    cut: str = ""
    """The test that ran when the time was up, which may be what hangs."""


def main(arguments: Sequence[str]) -> int:
    """Check, print what failed and what was left out, and return the exit code."""
    # Python's own start and what it has imported until here count, too.
    began = time.monotonic() - (time.time() - psutil.Process().create_time())
    changed = changed_files(ROOT, *arguments[:1])
    print(f"Changed: {_shortened(changed)}", flush=True)
    tests = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        # mypy first, as it takes longest. The graph of imports is made beside it.
        parts = [pool.submit(_check, name, began + LIMIT_SECONDS) for name in CHECKS]
        chosen = nearest_first(changed, _importers(), tests)
        parts += [pool.submit(_test, files, began + LIMIT_SECONDS) for files in _runs(chosen)]
        ended = list(_as_they_end(parts))
    left = [path for path in chosen if path not in {file for part in ended for file in part.done}]
    return _summed_up(ended, chosen, left, tests, time.monotonic() - began)


def _shortened(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    return ", ".join(changed[:5]) + more or "nothing"


def _importers() -> dict[str, set[str]]:
    graph = grimp.build_graph(*PACKAGES, "tests", cache_dir=None)
    return {module: graph.find_modules_that_directly_import(module) for module in graph.modules}


def _runs(chosen: Sequence[str]) -> Iterator[list[str]]:
    """Yield the files of one run each; what is nearest runs alone, so that nothing delays it."""
    alone = os.cpu_count() or 1
    yield from ([path] for path in chosen[:alone])
    for at in range(alone, len(chosen), FILES_PER_RUN):
        yield list(chosen[at : at + FILES_PER_RUN])


def _check(name: str, until: float) -> Part:
    program, *arguments = CHECKS[name]
    # Without its cache, mypy takes minutes. It gets them, since only then the next time is quick.
    cold = name == "types" and not (ROOT / ".mypy_cache").exists()
    if cold:
        print("types: the first time takes minutes", flush=True)
    ended = run([str(BIN / program), *arguments], None if cold else until)
    remedies = {"format": "make lint", "counts": "make test T=tests/test_house_counts.py"}
    remedy = remedies.get(name, f"make {name}")
    return Part(name, ended, remedy, failed=ended.code not in (0, None))


def _test(files: list[str], until: float) -> Part:
    remedy = f'make test T="{" ".join(files)}"'
    if time.monotonic() > until - LAST_TEST_SECONDS - START_SECONDS:
        return Part(" ".join(files), Ended(None, "", 0.0), remedy)
    with TemporaryDirectory(prefix="tapeway-quick-") as folder:
        notes = Path(folder) / "notes"
        notes.touch()
        last = time.time() + until - time.monotonic() - LAST_TEST_SECONDS
        ended = run(
            [
                *(sys.executable, "-m", "pytest", "-p", "tests.quick_check.stopwatch"),
                *("--continue-on-collection-errors", "--numprocesses=0", "-m", "not postgresql"),
                *files,
            ],
            until,
            {**os.environ, UNTIL: str(last), NOTES: str(notes)},
        )
        noted = [line.partition(" ") for line in notes.read_text().splitlines()]
    done = [name for what, _, name in noted if what == "done"]
    # 2 is an end before the last test, 5 a run of tests that all need a server.
    fell = any(what == "failed" for what, _, _ in noted) or ended.code not in (0, 2, 5, None)
    begun = [name for what, _, name in noted if what == "begun"]
    cut = begun[-1] if begun and ended.code is None else ""
    return Part(" ".join(files), ended, remedy, done, fell, cut)


def _as_they_end(parts: Sequence[Future[Part]]) -> Iterator[Part]:
    """Yield what has ended, and print it: all that it said only if it failed."""
    for future in as_completed(parts):
        part = future.result()
        if part.failed:
            print(f"\n{part.ended.output.rstrip()}\nFAILED: {part.name}\n", flush=True)
        elif part.done or (part.name in CHECKS and part.ended.code == 0):
            names = " ".join(part.done) or part.name
            print(f"{names}: passed in {part.ended.seconds:.1f} s", flush=True)
        elif part.ended.seconds:
            print(f"{part.name}: not finished after {part.ended.seconds:.1f} s", flush=True)
        if part.cut:
            print(f"Interrupted after {part.ended.seconds:.0f} s, in {part.cut}", flush=True)
        yield part


def _summed_up(
    ended: Sequence[Part],
    chosen: Sequence[str],
    left: Sequence[str],
    tests: set[str],
    seconds: float,
) -> int:
    """Print what was left out, what failed and the result; return the exit code."""
    remedies = [part.remedy for part in ended if part.name in CHECKS and part.ended.code is None]
    if left:
        paths = as_few_paths(left, tests)
        near = left[:FILES_PER_RUN] if len(paths) > MOST_PATHS else paths
        remedies.append(f'make test T="{" ".join(near)}"')
        if near is not paths:
            remedies[-1] += f", the nearest of {len(left)} files; all of them: make test"
    if remedies:
        print("Left out for want of time:", *remedies, sep="\n  ")
    fallen = [part for part in ended if part.failed]
    if fallen:
        print("Failed:", *(part.remedy for part in fallen), sep="\n  ")
    result = "failed" if fallen else "passed"
    count = f"{len(chosen) - len(left)} of {len(chosen)} files of tests"
    print(f"make quick {result} in {seconds:.0f} s: format, lint, types, layers, counts, {count}")
    return 1 if fallen else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    raise SystemExit(main(sys.argv[1:]))
