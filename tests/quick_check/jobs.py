"""Commands side by side, until the time is used up."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

GRACE_SECONDS: Final = 2.0
"""How long a command that was interrupted may take to end."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code, or `None` if its time was up, and what it said."""

    code: int | None
    output: str
    seconds: float


def run(
    command: Sequence[str], until: float | None, environ: Mapping[str, str] | None = None
) -> Ended:
    """Run a command to its end, or until a time of `time.monotonic`."""
    began = time.monotonic()
    if until is not None and until <= began:
        return Ended(None, "", 0.0)
    process = subprocess.Popen(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=None if until is None else until - began)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        output, code = _stopped(process), None
    return Ended(code, output, time.monotonic() - began)


def _stopped(process: subprocess.Popen[str]) -> str:
    """End a command as Ctrl-C does, so that its tests end what they started; or else kill it."""
    process.send_signal(signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    return output
