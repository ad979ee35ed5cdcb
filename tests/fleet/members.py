"""The processes of a fleet, each of which runs again whatever ends it."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tests.kit.forks import Fork, fork
from tests.kit.gateways import clean_environ

Role = Literal["all", "ingress", "worker"]
Kind = Literal["kill", "stop", "freeze", "cut", "swallow", "restart", "stall"]

ENDING_SECONDS: Final = 120.0
READY: Final = b'"event":"gateway.ready"'


@dataclass(slots=True)
class Disruption:
    """What was done when to a member, or to the database if `member` is empty."""

    kind: Kind
    member: str
    begun: float
    ended: float

    def __str__(self) -> str:
        """Return it for a report."""
        return f"{self.kind} {self.member or 'database'} {self.begun:.3f}-{self.ended:.3f}"


@dataclass(eq=False)
class Member:
    """One process by its name; it asks the platforms at an address of its own, which `host` is."""

    name: str
    role: Role
    host: str
    folder: Path
    environ: Mapping[str, str]
    disruptions: list[Disruption] = field(default_factory=list)
    starts: int = 0
    strange_ends: list[tuple[float, int]] = field(default_factory=list)
    frozen: bool = False
    _is_ready: bool = False
    _said: int = 0  # bytes of the log at the last start
    _process: Fork | None = None
    _ending: bool = False
    _expected: bool = False
    _stopping: bool = False

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "gateway.log"

    @property
    def stalls(self) -> Path:
        """Where it writes when it did not run."""
        return self.folder / "stalls.txt"

    @property
    def pid(self) -> int | None:
        """Its number, while it runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def serves(self) -> bool:
        """Whether it has got ready since its last start, and runs."""
        if self.pid is None or self.frozen:
            return False
        if not self._is_ready:
            with self.log.open("rb") as log:
                log.seek(self._said)
                self._is_ready = READY in log.read()
        return self._is_ready

    async def run(self) -> None:
        """Start it, again and again, until `end`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        arguments = () if self.role == "all" else ("--role", self.role)
        while not self._ending:
            self._expected = self._stopping = False
            with self.log.open("ab") as log:
                self._is_ready, self._said = False, log.tell()
                own = clean_environ(dict(self.environ))
                self._process = fork(own, "gateway", *arguments, out=log, err=log)
            self.starts += 1
            try:
                code = await self._process.wait()
            except asyncio.CancelledError:
                await self._process.end()
                raise
            if not self._expected:
                self.strange_ends.append((time.monotonic(), code))
                await asyncio.sleep(0.5)  # it would end at once again
        self._process = None

    def kill(self) -> bool:
        """End it with `kill -9`; return whether it ran."""
        if self.pid is None:
            return False
        self._expected = True
        moment = time.monotonic()
        self.disruptions.append(Disruption("kill", self.name, moment, moment))
        self._signal(signal.SIGKILL)
        return True

    def stop(self) -> None:
        """Have it end in its own time, as an upgrade does; once a start."""
        if self.pid is not None and not self._stopping:
            self._stopping = self._expected = True
            moment = time.monotonic()
            self.disruptions.append(Disruption("stop", self.name, moment, moment))
            self._signal(signal.SIGTERM)

    async def freeze(self, seconds: float) -> None:
        """Stop it for a while, and let it go on."""
        trouble = Disruption("freeze", self.name, time.monotonic(), float("inf"))
        self.disruptions.append(trouble)
        self.frozen = True
        self._signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._signal(signal.SIGCONT)
            self.frozen = False
            trouble.ended = time.monotonic()

    async def end(self, running: asyncio.Task[None]) -> str:
        """End it for good; return what was wrong with that."""
        self._ending = self._expected = True
        self._signal(signal.SIGINT)
        try:
            async with asyncio.timeout(ENDING_SECONDS):
                await asyncio.shield(running)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await running
            return f"{self.name} does not end"
        return ""

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
