"""The command `tapeway` as a user meets it: real processes, a real port, a temporary home."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final, TypeVar

import psutil

import gateway
from bench.figures import Bar, Figure, progress
from tests.fakes.openai.server import FakeOpenAI

T = TypeVar("T")

RUNS: Final = 5
RUNNING: Final = b"Tapeway is running"
LONGEST: Final = 30.0
"""Whatever takes longer than this has failed."""

HELP_BAR: Final = Bar("<", 0.4)
READY_BAR: Final = Bar("<", 3)
CALLS_BAR: Final = Bar("=", 1)
BODY_BAR: Final = Bar("<", 3072)

COMMAND: Final = (sys.executable, "-m", "gateway.cli.main")
_SOURCES: Final = Path(gateway.__file__).resolve().parents[1]


def help_figures() -> list[Figure]:
    """Time `tapeway --help`."""
    progress(f"tapeway --help, {RUNS} times")
    return [Figure("tapeway --help", statistics.median(_in_a_home(_help)), "s", HELP_BAR)]


def ready_figures() -> list[Figure]:
    """Time the start of a gateway until it is ready, and its end after SIGINT."""
    progress(f"tapeway gateway until ready, {RUNS} times")
    starts, ends, weights = zip(*_in_a_home(_start_and_end), strict=True)
    return [
        Figure("tapeway gateway, until ready", statistics.median(starts), "s", READY_BAR),
        Figure("tapeway gateway, SIGINT to end", statistics.median(ends), "s"),
        Figure("tapeway gateway, memory when ready", statistics.median(weights), "MB"),
    ]


def ping_figures() -> list[Figure]:
    """Count what `tapeway run ping` sends to its model."""
    progress("tapeway run ping")
    with TemporaryDirectory(prefix="tapeway-bench-") as home:
        seconds, calls, body = asyncio.run(_ping(Path(home)))
    return [
        Figure("tapeway run ping, in all", seconds, "s"),
        Figure("tapeway run ping, model requests", calls, "", CALLS_BAR),
        Figure("tapeway run ping, request body", body, "bytes", BODY_BAR),
    ]


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which only these sources and this home count."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TAPEWAY_")}
    return {**kept, "PYTHONPATH": str(_SOURCES), "TAPEWAY_HOME": str(home), **(more or {})}


def _in_a_home(measure: Callable[[Path], T]) -> list[T]:
    """Measure a few times, each time in a new home."""
    found: list[T] = []
    for _run in range(RUNS):
        with TemporaryDirectory(prefix="tapeway-bench-") as home:
            found.append(measure(Path(home)))
    return found


def _help(home: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(
        [*COMMAND, "--help"],
        cwd=home,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        timeout=LONGEST,
        check=True,
    )
    return time.perf_counter() - begun


def _start_and_end(home: Path) -> tuple[float, float, float]:
    """Return the seconds to ready, the seconds from SIGINT to the end, and the memory in MB."""
    port = _free_port()
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, "gateway"],
        cwd=home,
        env=environment(home, {"TAPEWAY_HTTP__PORT": str(port)}),
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        said = _said_until_ready(process, process.stderr, port)
        ready = time.perf_counter() - begun
        megabytes = psutil.Process(process.pid).memory_info().rss / 1e6
        begun = time.perf_counter()
        process.send_signal(signal.SIGINT)
        code = process.wait(LONGEST)
        ended = time.perf_counter() - begun
        said += process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    if code:
        raise RuntimeError(f"the gateway ended with {code}: {said.decode()}")
    return ready, ended, megabytes


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def _said_until_ready(process: subprocess.Popen[bytes], says: IO[bytes], port: int) -> bytes:
    """Read what the gateway says until it runs, and check that it answers."""
    said = b""
    giving_up = threading.Timer(LONGEST, process.kill)
    giving_up.start()
    for line in says:
        said += line
        if RUNNING in line:
            break
    giving_up.cancel()
    if not _is_ready(port):
        raise RuntimeError(f"the gateway did not get ready: {said.decode()}")
    return said


def _is_ready(port: int) -> bool:
    with closing(HTTPConnection("127.0.0.1", port, timeout=LONGEST)) as connection:
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


async def _ping(home: Path) -> tuple[float, int, int]:
    """Return the seconds, the number of model requests, and the bytes of the largest body."""
    async with FakeOpenAI() as server:
        model = {
            "TAPEWAY_AGENT__BASE_URL": server.base_url,
            "TAPEWAY_AGENT__API_KEY": "sk-bench",
            "TAPEWAY_AGENT__MODEL": "fake-model",
        }
        begun = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            "run",
            "ping",
            cwd=home,
            env=environment(home, model),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _out, told = await asyncio.wait_for(process.communicate(), LONGEST)
        seconds = time.perf_counter() - begun
        asked = [request for request in server.requests if request.method == "POST"]
    if process.returncode or not asked:
        raise RuntimeError(f"tapeway run ping ended with {process.returncode}: {told.decode()}")
    return seconds, len(server.requests), max(request.body_bytes for request in asked)
