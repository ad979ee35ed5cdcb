"""What fails once more beside others fails the run; what does not is named, and written down."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.second_look import run
from tests.unsteady import LIST, entries

STEADY = "def test_steady(): pass\n"
BROKEN = "def test_broken(): assert False\n"
ON_A_WORKER = """
import os
def test_on_a_worker():
    assert "PYTEST_XDIST_WORKER" not in os.environ
"""
TWENTIETH = """
from pathlib import Path
import pytest
@pytest.mark.parametrize("channel", ["a chat[1]", "telegram"])
def test_twentieth(channel):
    counted = Path(f"{__file__}.{channel}")
    calls = len(counted.read_text()) + 1 if counted.exists() else 1
    counted.write_text("x" * calls)
    assert calls % 20, "nobody was here\\nyet"
"""
BESIDE = """
import fcntl, time
from pathlib import Path
def others_run():
    with Path("busy").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
def test_beside():
    until = time.monotonic() + 3
    while time.monotonic() < until:
        assert not others_run()
"""
OTHERS = """
import fcntl, time
from pathlib import Path
import pytest
@pytest.mark.parametrize("number", range(20))
def test_other(number):
    with Path("busy").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        time.sleep(0.1)
"""

WORKERS = ("-p", "xdist.plugin", "--numprocesses=2", "--dist=worksteal")
Look = Callable[..., int]


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """Run the tests of some files, in one process or on two workers."""

    def look(*options: str, **files: str) -> int:
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        return run([sys.executable, "-m", "pytest", *options, str(tmp_path)], tmp_path)

    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    (tmp_path / LIST).parent.mkdir()
    (tmp_path / LIST).write_text("# Unsteady tests\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return look


def test_what_passes_is_not_looked_at_again(look: Look, capfd: pytest.CaptureFixture[str]) -> None:
    assert look(steady=STEADY) == 0
    assert "Once more" not in capfd.readouterr().out


def test_what_fails_once_more_fails_the_run(
    look: Look, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert look(*WORKERS, steady=STEADY, on_a_worker=ON_A_WORKER) == 1
    said = capfd.readouterr().out
    assert said.count("Once more") == 1
    assert said.count("1 failed") == 2
    assert "UNSTEADY" not in said
    assert entries((tmp_path / LIST).read_text()) == []


def test_what_fails_only_beside_others_fails_the_run(
    look: Look, capfd: pytest.CaptureFixture[str]
) -> None:
    assert look(*WORKERS, beside=BESIDE, others=OTHERS) == 1
    assert "Once more, 5 times beside the rest of its folder: test_beside.py" in (
        capfd.readouterr().out
    )


def test_what_fails_at_every_twentieth_call_is_named_in_the_run_in_which_it_fails(
    look: Look, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counted = tmp_path / "test_twentieth.py.a chat[1]"
    counted.write_text("x" * 19)
    assert look(steady=STEADY, twentieth=TWENTIETH) == 0
    assert len(counted.read_text()) == 20 + 5
    (entry,) = entries((tmp_path / LIST).read_text())
    assert capfd.readouterr().out.splitlines()[-1] == str(entry)
    assert entry.test == "test_twentieth.py::test_twentieth[a chat[1]]"
    assert entry.commit == "unknown"
    assert entry.said == "AssertionError: nobody was here"


def test_many_failures_are_not_looked_at_again(
    look: Look, capfd: pytest.CaptureFixture[str]
) -> None:
    assert look(**{f"broken{number}": BROKEN for number in range(3)}) == 1
    assert "Once more" not in capfd.readouterr().out


def test_a_run_that_ended_at_a_failure_is_not_looked_at_again(
    look: Look, capfd: pytest.CaptureFixture[str]
) -> None:
    assert look("--exitfirst", broken=BROKEN) == 1
    assert "Once more" not in capfd.readouterr().out


def test_an_error_that_is_no_failed_test_is_returned(look: Look) -> None:
    assert look(wrong="import nowhere_at_all\n") == 2
