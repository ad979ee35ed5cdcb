"""Run the tests that somebody names: `make test T="PATH ..." K="WORDS"`.

T has folders, files and names of tests as pytest prints them; one with a space stands in quotes of
its own. K goes to pytest's `-k`. Failures are shown at once: nothing is run a second time.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FILES_PER_WORKER: Final = 3
"""A worker loads the product before its first test, which takes as long as a file of tests."""


def arguments(
    paths: str, words: str, *, cores: int, folders: Sequence[str] = (), root: Path = Path()
) -> list[str]:
    """Return pytest's arguments for these tests; `folders` are meant where no path is named."""
    chosen = shlex.split(paths) or list(folders)
    return [
        f"--numprocesses={workers(chosen, cores, root)}",
        "--dist=worksteal",
        *(["-k", words] if words else []),
        *chosen,
    ]


def workers(chosen: Sequence[str], cores: int, root: Path = Path()) -> int:
    """Return how many processes are worth their start; 0 means pytest's own."""
    files = sum(_files(root / path.partition("::")[0]) for path in chosen or ["tests"])
    count = min(files // FILES_PER_WORKER, cores + 2)
    return count if count > 1 else 0


def _files(path: Path) -> int:
    return len(list(path.rglob("test_*.py"))) if path.is_dir() else 1


def main(options: Sequence[str]) -> None:
    """Become pytest; what follows `--` are the folders that are meant where T names none."""
    given, folders = list(options), list[str]()
    if "--" in given:
        at = given.index("--")
        given, folders = given[:at], given[at + 1 :]
    paths, words = os.environ.get("T", ""), os.environ.get("K", "")
    chosen = arguments(paths, words, cores=os.cpu_count() or 1, folders=folders)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *chosen, *given])


if __name__ == "__main__":
    main(sys.argv[1:])
