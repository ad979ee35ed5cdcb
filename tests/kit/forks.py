"""Real processes of `tapeway`, forked from one that has loaded it already (see `template`)."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import anyio


class Fork:
    """A process of its own."""

    def __init__(self, pid: int, end: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = end

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, while it runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    async def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""
        while self.returncode is None:
            await anyio.wait_readable(self._end)
            if self.returncode is None:
                self.returncode = int(os.read(self._end, 16))
                os.close(self._end)
        return self.returncode

    async def end(self) -> None:
        """Kill it where it still runs."""
        self.send_signal(signal.SIGKILL)
        await self.wait()


def fork(
    environ: Mapping[str, str],
    *arguments: str,
    given: IO[bytes] | None = None,
    out: IO[bytes],
    err: IO[bytes],
) -> Fork:
    """Run `tapeway` with these arguments and standard streams."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    streams = (given.fileno() if given is not None else nothing, out.fileno(), err.fileno())
    forked = _fork({"environ": dict(environ), "arguments": arguments}, *streams)
    os.close(nothing)
    return forked


def fork_at_terminal(terminal: int, environ: Mapping[str, str], *arguments: str) -> Fork:
    """Run `tapeway` with these arguments in a session of its own, on a terminal."""
    request = {"environ": dict(environ), "arguments": arguments, "at_terminal": True}
    return _fork(request, terminal, terminal, terminal)


def _fork(request: Mapping[str, Any], given: int, out: int, err: int) -> Fork:
    end, code = os.pipe()
    template = _template(str(Path(__file__).resolve().parents[2]))
    socket.send_fds(template, [json.dumps(request).encode()], [given, out, err, code])
    os.close(code)
    return Fork(int(template.recv(16)), end)


@functools.cache
def _template(root: str) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environ = {**os.environ, "PYTHONPATH": root, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kit.template", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environ,
        cwd=Path(root, "docs"),
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
