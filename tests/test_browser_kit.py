"""A browser ends with what it is there for; one whose driver does not start names its package."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from tests.kit.browser import CHROMIUM, MISSING, missing_library, running_chromium


def program(folder: Path, said: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    path.chmod(0o755)
    return str(path)


def test_the_library_that_a_program_does_not_find_is_named(tmp_path: Path) -> None:
    said = "node: error while loading shared libraries: libodd.so.7: cannot open shared object file"
    assert missing_library(program(tmp_path, said)) == "libodd.so.7"


def test_a_program_that_fails_otherwise_is_tried_and_shows_its_own_error(tmp_path: Path) -> None:
    assert missing_library(program(tmp_path, "no such option")) == ""


def test_a_program_that_starts_misses_nothing() -> None:
    assert missing_library(sys.executable) == ""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_browser_ends_where_something_else_breaks() -> None:
    before = psutil.Process().children()
    with pytest.raises(ZeroDivisionError), running_chromium():
        raise ZeroDivisionError
    assert psutil.Process().children() == before
