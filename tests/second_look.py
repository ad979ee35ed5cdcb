"""Run the tests, and look again at the few that failed: `python -m tests.second_look COMMAND ...`.

Thousands of tests, hundreds of processes and two cores: a test that waits for the wrong thing fails
once in many runs, when the machine is at its busiest. More than two failures fail the run. One or
two run five times each, beside the rest of their folder on the other workers and two processes that
compute. One failure more fails the run. Otherwise it passes, and `tests/UNSTEADY.md` names the
tests in the working tree; the last lines of the run are what was written there. It is a defect, of
the test or of the product: somebody has to find out which in a week (`tests/unsteady.py`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import pytest

from tests.failures import BESIDE, NOTES, Notes
from tests.kit.burning import burning
from tests.kit.waiting import until
from tests.unsteady import LIST, ROOT, note

MOST: Final = 2  # failures that are looked at again
TIMES: Final = 5
BURNING: Final = 2  # processes that compute meanwhile
FAILED: Final = int(pytest.ExitCode.TESTS_FAILED)
PLUGIN: Final = ("-p", "tests.failures")
USUAL: Final = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""How the rest of a folder may end: its failures are of no interest, a wrong command is."""
BEGUN_SECONDS: Final = 300.0
"""Seconds in which the first test of the rest of a folder must have run."""
END_SECONDS: Final = 30.0
"""Seconds in which processes must have ended when they are asked to."""


def run(command: Sequence[str], root: Path = ROOT) -> int:
    """Run pytest by a command, and perhaps some tests again; return the exit code."""
    with TemporaryDirectory(prefix="tapeway-tests-") as folder:
        noted = Path(folder) / "notes"
        environ = {**os.environ, NOTES: str(noted)}
        code = subprocess.run([*command, *PLUGIN], check=False, env=environ).returncode
        notes = Notes.read(noted)
    if code != FAILED or notes is None or not notes.whole or not 0 < len(notes.failures) <= MOST:
        return code
    for test in notes.failures:
        print(f"\nOnce more, {TIMES} times beside the rest of its folder: {test}", flush=True)
        if code := asyncio.run(_again(test, command, notes)):
            return code
    found = [note(test, said, root) for test, said in sorted(notes.failures.items())]
    print(f"\nUNSTEADY: commit what {LIST} has now, and find out why:")
    print("\n".join(str(entry) for entry in found), flush=True)
    return 0


async def _again(test: str, command: Sequence[str], notes: Notes) -> int:
    """Run a test several times; return the first exit code that is not zero."""
    # The keyword of a run would leave out what is beside the test.
    options = [*(part for part in command if part not in notes.paths), "-k", ""]
    # On a worker again, if it was on one: some things differ there.
    once = [*options, *_workers(min(notes.workers, 2)), test]
    beside = [*options, *_workers(notes.workers - 1)]
    async with burning(BURNING), _others(test, beside) as others:
        for _time in range(TIMES):
            await others.running()
            if code := await _ran(once):
                return code
    return 0


class _Others:
    """The rest of a test's folder, which runs over and over."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._command = command
        self._begun = folder / "begun"
        self._said = folder / "said"

    async def run(self) -> None:
        """Run until the task is cancelled; raises RuntimeError if nothing can be run."""
        environ = {**os.environ, BESIDE: str(self._begun)}
        while True:
            with self._said.open("w") as said:
                code = await _ran(self._command, environ, said)
            if code not in USUAL:
                raise RuntimeError(f"the rest of the folder ended with {code}: {self._tail()}")
            self._begun.touch()  # there may be no other test

    async def running(self) -> None:
        """Wait until its tests run, rather than being collected."""
        await until(self._begun.exists, "the rest of the folder runs", seconds=BEGUN_SECONDS)

    def _tail(self) -> str:
        return self._said.read_text(errors="replace")[-2000:]


@asynccontextmanager
async def _others(test: str, options: Sequence[str]) -> AsyncIterator[_Others]:
    """Run the rest of a test's folder for as long as the block lasts."""
    files = sorted(str(path) for path in Path(test.partition("::")[0]).parent.glob("test_*.py"))
    command = [*options, *PLUGIN, "--deselect", test, *files]
    with TemporaryDirectory(prefix="tapeway-tests-") as folder:
        others = _Others(command, Path(folder))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(others.run())
            yield others
            task.cancel()


def _workers(number: int) -> list[str]:
    """Return the option for a number of workers; none if the run had none."""
    return [f"--numprocesses={number}"] if number > 0 else []


async def _ran(
    command: Sequence[str], environ: Mapping[str, str] | None = None, output: IO[str] | None = None
) -> int:
    """Run a command in a process group of its own, which ends with it; return the exit code."""
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stdout=output, stderr=output, start_new_session=True
    )
    try:
        return await process.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await process.wait()
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))
