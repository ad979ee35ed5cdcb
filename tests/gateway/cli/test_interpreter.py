"""Each command in an interpreter of its own, as a shell runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.kit.gateways import clean_environ, make_environ, run_interpreter


@pytest.mark.parametrize(
    ("command", "given", "code", "shown"),
    [
        (("run", "hello"), b"", 0, "offline model"),
        (("chat",), b"hello\n", 0, "offline model"),
        (("token",), b"", 0, "a-token-of-the-page"),
        (("health",), b"", 1, "no gateway is running"),
        (("explain", "in-1"), b"", 1, "cannot be read"),
        (("ledger", "list"), b"", 0, "No message is listed"),
        (("tape", "list"), b"", 0, "There is no tape yet"),
        (("hooks",), b"", 0, "run_model_stream"),
    ],
    ids=["run", "chat", "token", "health", "explain", "ledger", "tape", "hooks"],
)
async def test_a_command_runs(
    tmp_path: Path, command: tuple[str, ...], given: bytes, code: int, shown: str
) -> None:
    environ = make_environ(tmp_path, HTTP__TOKEN="a-token-of-the-page")
    ended, out, err = await run_interpreter(environ, *command, given=given)
    assert (ended, shown in out + err) == (code, True), out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("target", "code", "shown"),
    [(">/dev/full", 1, "output cannot be written (No space left on device)"), (">&-", 0, "")],
    ids=["full", "closed"],
)
async def test_output_that_goes_nowhere_is_a_sentence_at_most(
    tmp_path: Path, target: str, code: int, shown: str
) -> None:
    command = f'"{sys.executable}" -m gateway.cli.main config show --changed {target}'
    environ = clean_environ(make_environ(tmp_path))
    done = await anyio.run_process(["/bin/sh", "-c", command], env=environ, check=False)
    err = done.stderr.decode()
    assert done.returncode == code, err
    assert shown in err
    assert "Traceback" not in err
