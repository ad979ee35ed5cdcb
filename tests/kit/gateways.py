"""Gateways for tests: the real one, in this process or in one of its own."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, Final

import anyio
import httpx2
import structlog
from typer.testing import CliRunner

from gateway.app import Gateway, running_gateway
from gateway.assembly import Internals
from gateway.cli.main import app
from gateway.home import find_running
from gateway.hooks.loader import Failure
from gateway.hooks.runtime import HookRuntime
from gateway.redaction.known_secrets import secrets_of
from gateway.settings import Settings, load_settings
from gateway.settings.intervals import Intervals
from tape.entry import Entry
from tape.errors import TapeError
from tape.handle import Tape
from tape.query import Query
from tape.store import UnitStore
from tests.fakes.base.traffic import WITNESSES
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.canaries import KEY, SET, TOKENS, Canaries, by_design, watched, without_wire
from tests.kit.forks import Fork, fork
from tests.kit.waiting import Patience

PATIENT: Final = Internals(
    intervals=Intervals(
        console_read=60.0, console_search=60.0, console_turn=60.0, database_check=60.0
    )
)
"""Of a gateway on a busy machine: what a test does not ask for is never too late."""

ROOT = Path(__file__).resolve().parents[2]
APART = ROOT / "docs"
"""Where commands run: the `.env` of a bot that lives would let it speak for the tests."""


def make_settings(home: Path, server: FakeOpenAI | None = None, **more: str) -> Settings:
    """Make settings: a home of one's own, any free port, no waiting for bursts."""
    return load_settings(make_environ(home, server, **more), folder=home)


OPEN: Final = MappingProxyType(
    {"ACCESS__MODE": "open", "BUDGET__STRANGER_TURNS": "0", "BUDGET__PARALLEL_PER_PERSON": "0"}
)
"""Settings with which everybody may ask, as often as they like."""


def make_environ(home: Path, server: FakeOpenAI | None = None, **more: str) -> dict[str, str]:
    """Make the environment of a gateway; `more` is given without the prefix TAPEWAY_."""
    environ = {
        "TAPEWAY_HOME": str(home),
        "TAPEWAY_HTTP__PORT": "0",
        "TAPEWAY_BUFFER__DEBOUNCE": "0",
        "TAPEWAY_TAPE__DISK_RESERVE": "0",
        "TAPEWAY_AGENT__PROBE": "false",
        "TAPEWAY_SECRETS": str(home / "no-secrets"),
        **{f"TAPEWAY_{name}": value for name, value in more.items()},
    }
    if server is not None:
        environ.setdefault("TAPEWAY_AGENT__BASE_URL", server.base_url)
        environ.setdefault("TAPEWAY_AGENT__API_KEY", KEY)
        environ.setdefault("TAPEWAY_AGENT__MODEL", "model")
        environ.setdefault("TAPEWAY_AGENT__RETRIES", "0")
    return {**{f"TAPEWAY_{name}": value for name, value in SET.items()}, **environ}


def with_plugins(*plugins: object) -> Callable[[HookRuntime], list[Failure]]:
    """Return a source of plugins: those, the first registered first."""

    def register(hooks: HookRuntime) -> list[Failure]:
        for number, plugin in enumerate(plugins):
            hooks.register(plugin, f"plugin-{number}")
        return []

    return register


def every(**seconds: float) -> Internals:
    """Return the internals of a gateway that waits other seconds; see `Intervals`."""
    return replace(PATIENT, intervals=replace(PATIENT.intervals, **seconds))


def over(store: UnitStore) -> Internals:
    """Return the internals of a gateway that keeps everything in a store that is open."""
    return replace(PATIENT, open_store=lambda *_: store)


@asynccontextmanager
async def gateway_of(
    home: Path,
    server: FakeOpenAI | None = None,
    *plugins: object,
    clock: Any = None,  # a Clock, a sequence of names, Internals: callers pass `**dict[str, str]`
    only: Any = None,
    internals: Any = PATIENT,
    **more: str,
) -> AsyncIterator[Gateway]:
    """Run a gateway in this process; `internals` are what no setting changes."""
    if only is not None:
        more = {**TOKENS, **more}
    settings = make_settings(home, server, **more)
    source = with_plugins(*plugins)
    how: dict[str, Any] = {"plugins": source, "clock": clock, "only": only, "internals": internals}
    async with running(settings, **how) as gateway:
        yield gateway


@asynccontextmanager
async def running(settings: Settings, **how: Any) -> AsyncIterator[Gateway]:
    """Run a gateway in this process; a canary that gets out of it fails the test."""
    for witness in WITNESSES:
        if isinstance(witness, FakeOpenAI):
            witness.marks_thoughts = True
    async with watched(settings) as watch, running_gateway(settings, **how) as gateway:
        yield gateway
        await watch.ask_health(gateway.url)
        if settings.tape_url.startswith("memory:"):
            await _search_memory(gateway, watch.canaries)


async def _search_memory(gateway: Gateway, canaries: Canaries) -> None:
    store = gateway.services.store
    with contextlib.suppress(TapeError):
        for info in await store.tapes():
            canaries.search(info.name, without_wire(await store.query(Query(info.name))))


def tape_of(gateway: Gateway, session: str = "web:lobby") -> Tape:
    """Return the tape of a session."""
    return gateway.services.tapes.session_tape(session)


def names(entries: list[Entry]) -> list[str]:
    """Return what entries are: the name of anchors and events, else the kind."""
    return [entry.name or entry.kind for entry in entries]


async def settled(gateway: Gateway, session: str = "web:lobby") -> list[Entry]:
    """Wait until no turn runs and nothing is being sent; returns the tape."""
    await gateway.idle()
    return await tape_of(gateway, session).read()


class Process:
    """A gateway in a process of its own."""

    def __init__(self, process: Fork, home: Path) -> None:
        self._process = process
        self._home = home

    @property
    def pid(self) -> int:
        return self._process.pid

    async def url(self) -> str:
        """Wait until it is ready; returns its address."""
        patience = Patience("the gateway is ready")
        while True:
            found = find_running(self._home)
            if found is not None and found.pid == self.pid and await _is_ready(found.url):
                return found.url
            await patience.pause()

    async def kill(self) -> None:
        """End it with `kill -9`."""
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()

    async def ended(self) -> int:
        """Wait until it ends by itself; returns its exit code."""
        return await self._process.wait()

    async def interrupt(self, number: int = signal.SIGINT) -> int:
        """End it with Ctrl-C or another signal; returns its exit code."""
        self._process.send_signal(number)
        return await self._process.wait()


async def _is_ready(url: str) -> bool:
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            return (await client.get(f"{url}health/ready")).status_code == 200
    except httpx2.HTTPError:
        return False


@asynccontextmanager
async def gateway_process(
    environ: dict[str, str], home: Path, *options: str
) -> AsyncIterator[Process]:
    """Run `tapeway gateway`; what is left of it at the end is killed."""
    with (home.parent / "gateway.log").open("ab") as log:
        process = fork(clean_environ(environ), "gateway", *options, out=log, err=log)
    try:
        yield Process(process, home)
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()
    _search_process(environ, home)


def _search_process(environ: dict[str, str], home: Path) -> None:
    """Search what a process logged and left, and what others heard from it."""
    settings = load_settings(environ, home)
    canaries = Canaries(secrets_of(settings))
    canaries.search("log", (home.parent / "gateway.log").read_bytes())
    canaries.search_home(home, by_design(settings))
    canaries.search_traffic()
    canaries.check()


async def run_process(
    environ: dict[str, str], *arguments: str, given: bytes = b""
) -> tuple[int, str, str]:
    """Run a command as a process of its own; return its exit code, output and errors."""
    with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as err:
        source.write(given)
        source.seek(0)
        process = fork(clean_environ(environ), *arguments, given=source, out=out, err=err)
        try:
            code = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(), err.read().decode()


async def run_interpreter(
    environ: dict[str, str], *arguments: str, given: bytes = b""
) -> tuple[int, str, str]:
    """Run a command in a new interpreter; return its exit code, output and errors."""
    done = await anyio.run_process(
        [sys.executable, "-m", "gateway.cli.main", *arguments],
        input=given,
        env=clean_environ(environ),
        cwd=APART,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


async def run_tapeway(
    environ: dict[str, str], *arguments: str, given: bytes = b""
) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, output and errors."""
    return await anyio.to_thread.run_sync(_run, environ, arguments, given)


def _run(environ: dict[str, str], arguments: Sequence[str], given: bytes) -> tuple[int, str, str]:
    logs, collects = structlog.get_config(), gc.isenabled()
    wanted = clean_environ(environ)
    missing = {name: None for name in os.environ if name not in wanted}
    try:
        with contextlib.chdir(APART):
            done = CliRunner().invoke(
                app, arguments, input=given, env={**wanted, **missing}, catch_exceptions=False
            )
    finally:
        structlog.configure(**logs)
        if collects:
            gc.enable()  # some commands are too short to collect garbage
    return done.exit_code, done.stdout, done.stderr


def clean_environ(more: dict[str, str]) -> dict[str, Any]:
    """Return this process's environment without settings and width of its own, with others."""
    own = ("TAPEWAY_", "OPENAI_", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    paths = [str(ROOT), *filter(None, [more.get("PYTHONPATH")])]
    return {**kept, **more, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
