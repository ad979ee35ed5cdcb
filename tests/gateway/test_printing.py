"""What is printed passes the redactor; a line of the log that cannot be written is dropped."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, cast

import anyio
import pytest

from gateway.logs import get_log, set_up_logs
from gateway.printing import (
    MAX_HELD_CHARACTERS,
    RedactedFile,
    print_err,
    print_out,
    print_secret,
    print_words,
    redact_with,
)
from gateway.redaction.redactor import HIDDEN, Redactor
from gateway.settings import LogSettings
from tests.kit.forks import Fork
from tests.kit.gateways import Process, clean_environ, make_environ, run_process

UNBUFFERED = "PYTHONUNBUFFERED"
SECRET = "canary-of-the-writer-3f"
LIKE_ONE = "sk-abcdefghijklmnop1234"


@pytest.fixture(autouse=True)
def _knows_the_secret() -> None:
    redact_with(Redactor([SECRET]))


def test_each_way_to_print_takes_out_what_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    for way in (print_out, print_err, print_words, print_secret):
        way(f"{SECRET} {LIKE_ONE}")
    out, err = capsys.readouterr()
    lines = [f"{HIDDEN} {HIDDEN}", f"{HIDDEN} {LIKE_ONE}", f"{SECRET} {LIKE_ONE}"]
    assert out.splitlines() == lines
    assert err.splitlines() == lines[:1]


def test_what_the_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", out)
    print_out("caf\u00e9")
    assert out.buffer.getvalue() == b"caf\\xe9\n"


def written(*parts: str | bytes) -> str:
    """Return what reaches a stream of what others write."""
    raw = io.TextIOWrapper(io.BytesIO(), "utf-8")
    file = RedactedFile(raw)
    for part in parts:
        file.buffer.write(part) if isinstance(part, bytes) else file.write(part)
    file.flush()
    return raw.buffer.getvalue().decode()


KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIcanary\nmore\n-----END RSA PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ((SECRET,), HIDDEN),
        ((SECRET[:5], SECRET[5:], "\n"), f"{HIDDEN}\n"),
        (("a\n", f"b {SECRET}\n", "c"), f"a\nb {HIDDEN}\nc"),
        ((f"one {SECRET}\n".encode(), "two"), f"one {HIDDEN}\ntwo"),
        ((b"\xff\xfe", "\n"), None),
        (tuple(f"{line}\n" for line in KEY.splitlines()), None),
        (("x" * (MAX_HELD_CHARACTERS + 1),), "x" * (MAX_HELD_CHARACTERS + 1)),
    ],
)
def test_what_others_write_loses_its_secrets_however_it_comes(
    parts: tuple[str | bytes, ...], left: str | None
) -> None:
    if left is not None:
        assert written(*parts) == left
    elif isinstance(parts[0], str):
        assert "MIIcanary" not in written(*parts)


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    raw = io.TextIOWrapper(io.BytesIO(), "utf-8")
    RedactedFile(raw).buffer.write(b"\xff\x00\xfe")
    assert raw.buffer.getvalue() == b"\xff\x00\xfe"


def test_a_stream_for_others_takes_no_bytes_for_text_and_has_the_stream_s_own_ways() -> None:
    raw = io.TextIOWrapper(io.BytesIO(), "latin-1")
    file = RedactedFile(raw)
    with pytest.raises(TypeError):
        file.write(b"")  # type: ignore[arg-type]
    assert (file.encoding, file.isatty()) == ("latin-1", False)


# The log


@asynccontextmanager
async def gateway_with_log(home: Path, log: int) -> AsyncIterator[dict[str, str]]:
    """Run a gateway whose output goes to a file descriptor, which is closed here."""
    environ = make_environ(home)
    given = {name: one for name, one in clean_environ(environ).items() if name != UNBUFFERED}
    process = await anyio.open_process(
        [sys.executable, "-m", "gateway.cli.main", "gateway"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=given,
        cwd=home.parent,
    )
    os.close(log)
    try:
        await Process(cast(Fork, process), home).url()
        yield environ
        process.terminate()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def is_answered(environ: dict[str, str]) -> None:
    code, out, _err = await run_process(environ, "run", "When is lunch?")
    assert code == 0
    assert "When is lunch?" in out


async def test_a_gateway_outlives_the_reader_of_its_log(tmp_path: Path) -> None:
    read, write = os.pipe()
    async with gateway_with_log(tmp_path / "home", write) as environ:
        os.close(read)
        await is_answered(environ)
        await is_answered(environ)


async def test_a_gateway_starts_works_and_ends_with_its_log_on_a_full_disk(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    async with gateway_with_log(tmp_path / "home", full) as environ:
        await is_answered(environ)


@pytest.mark.parametrize("format_", ["json", "text"])
def test_dropped_lines_are_counted_and_said_once_one_can_be_written(
    format_: Literal["json", "text"], monkeypatch: pytest.MonkeyPatch
) -> None:
    (read, write), full = os.pipe(), os.open("/dev/full", os.O_WRONLY)
    with os.fdopen(full, "w") as errors, os.fdopen(read) as lines:
        monkeypatch.setattr(sys, "stderr", errors)
        set_up_logs(LogSettings(level="info", format=format_))
        for number in range(3):
            get_log().info("room.opened", number=number)
        os.dup2(write, full)
        os.close(write)
        for number in range(2):
            get_log().info("room.closed", number=number)
        os.dup2(os.open(os.devnull, os.O_WRONLY), full)
        found = lines.read().splitlines()
    assert ["room.closed" in one for one in found] == [True, False, True]
    assert "log.lines_dropped" in found[1]
    assert "lines=3" in found[1] or json.loads(found[1])["lines"] == 3
