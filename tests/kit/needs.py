"""What a test needs of the machine: the reason of its skip, and the last line of a run."""

from __future__ import annotations

import os
import re
from typing import Final

import pytest

HIDDEN: Final = "hidden"
"""The value of a variable such as TAPEWAY_TEST_BROWSER that makes the tests do without it."""

_NEEDS: Final = re.compile(r"needs (?P<what>.+?) \((?P<remedy>.+)\)$", re.DOTALL)


def needs(what: str, remedy: str) -> str:
    """Return the reason of a skip: what is missing, and the command that adds it."""
    return f"needs {what} ({remedy})"


def read_need(reason: str) -> tuple[str, str] | None:
    """Return what is missing and the command that adds it, or None for a skip of another kind."""
    found = _NEEDS.search(reason)
    return (found["what"], found["remedy"]) if found is not None else None


ROOT: Final = needs("root", "sudo make test")
SYSTEMD: Final = needs("systemd", "sudo apt install systemd")
DISK: Final = needs("a disk that root may mount", "sudo make test")
SERVER: Final = needs("a PostgreSQL server", "make test-postgres")
EVERY_CASE: Final = needs("a run of every case on every channel", "make test-every-case")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason=ROOT)
