"""Print the newest Python on this machine that is newer than this one: `python -m tests.newest`.

Where there is none, say so and end with 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"python3\.(\d+)")
NEEDED: Final = "import ensurepip, venv"


def newest(path: str, than: int) -> str | None:
    """Return the newest `python3.N` in the folders of PATH, if N is greater than `than`.

    Debian's Python is there before its module venv is: without that, it is of no use.
    """
    found = sorted(set(_named(path)), reverse=True)
    return next((python for minor, python in found if minor > than and _works(python)), None)


def _named(path: str) -> Iterator[tuple[int, str]]:
    for folder in filter(None, path.split(os.pathsep)):
        for python in Path(folder).glob("python3.*"):
            if name := _NAME.fullmatch(python.name):
                yield int(name[1]), str(python)


def _works(python: str) -> bool:
    command = [python, "-c", NEEDED]
    try:
        return not subprocess.run(command, capture_output=True, check=False).returncode
    except OSError:
        return False


def main() -> int:
    """Print it; return the exit code."""
    this = sys.version_info.minor
    python = newest(os.environ.get("PATH", ""), this)
    if python is None:
        said = f"Left out: the tests on a newer Python, since none newer than 3.{this} is here."
        print(said, file=sys.stderr)
        return 1
    print(python)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
