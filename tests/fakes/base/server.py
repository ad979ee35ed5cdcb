"""A platform on a real socket of 127.0.0.1: connections, faults, and waiting for a change."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Generic, Self, TypeVar

from tests.fakes.base.connection import Connection, Outcome
from tests.fakes.base.faults import Doing, Faults, FaultT
from tests.fakes.base.http import Request
from tests.fakes.base.traffic import WITNESSES, Asked, dumped

CallT = TypeVar("CallT")

BACKLOG: Final = 1024
"""Maximum connections that wait to be accepted.

One more is not refused: the kernel drops it, and tries again a second later, in real time. A clock
that stands still while something is on its way would not see it, and hours would pass meanwhile.
"""


class FakeServer(ABC, Generic[CallT, FaultT]):
    """Serve one platform while the context is open.

    `calls` has every request of the bot, and `asked_at` the host that each was asked at: a fake
    that listens at `host` "0.0.0.0" knows processes apart that ask at addresses of their own.
    `between` stands between a request and its answer. With `cut_off` it hangs up on whoever asks
    anything. An exception of the fake itself is raised when the context ends.
    """

    def __init__(self, port: int) -> None:
        self.calls: list[CallT] = []
        self.asked_at: list[str] = []
        self.host = "127.0.0.1"
        self.base_url = ""
        self.cut_off = False
        self.between: Callable[[CallT, Doing], Outcome | Coroutine[Any, Any, Outcome]] = _at_once
        self._port = port
        self._faults: Faults[FaultT] = Faults()
        self._pulse = asyncio.Event()
        self._connections: set[Connection] = set()
        self._crashes: list[BaseException] = []
        self._server: asyncio.Server | None = None
        WITNESSES.append(self)

    def heard(self) -> bytes:
        """Return what the bot's requests said, where it does not authorize itself."""
        return dumped([(getattr(one, "path", ""), _shown(one)) for one in self.calls])

    def asked(self) -> list[Asked]:
        """Nobody asks a platform to think."""
        return []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(
            lambda: Connection(self._served, self._connections, self._crashes.append),
            self.host,
            self._port,
            backlog=BACKLOG,
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self._listening_at(f"127.0.0.1:{self._port}")
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._stop()
        open_now = list(self._connections)
        for connection in open_now:
            connection.hang_up()
        await asyncio.gather(*(connection.closed.wait() for connection in open_now))
        # Their tasks need one more turn to end.
        await asyncio.sleep(0)
        report(self._crashes, error, type(self).__name__)

    @property
    def frames(self) -> int:
        """Return how many frames came over the WebSockets that are open now."""
        return sum(connection.frames for connection in self._connections)

    # -- what a platform adds ----------------------------------------------------------------

    @abstractmethod
    def calls_of(self, *names: str) -> list[CallT]:
        """Return the requests of some kinds, in their order."""

    @abstractmethod
    def _listening_at(self, address: str) -> None:
        """Set the URLs of a host and port."""

    @abstractmethod
    def _handle(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Answer a request; only what must wait returns a coroutine."""

    async def _stop(self) -> None:
        """End what the platform does by itself."""

    # -- waiting -----------------------------------------------------------------------------

    def changed(self) -> None:
        """Wake whoever waits for a change."""
        pulse, self._pulse = self._pulse, asyncio.Event()
        pulse.set()

    async def wait_for(self, predicate: Callable[[Self], bool]) -> None:
        """Wait until a predicate holds, which is checked after every change."""
        while not predicate(self):
            await self._pulse.wait()

    async def wait_for_call(self, number: int) -> CallT:
        """Wait for the request of a number, the first being 0, and return it."""
        await self.wait_for(lambda fake: len(fake.calls) > number)
        return self.calls[number]

    async def wait_for_calls(self, name: str, count: int) -> list[CallT]:
        """Wait until `count` requests of a kind have come, answered or not; return them."""
        await self.wait_for(lambda fake: len(fake.calls_of(name)) >= count)
        return self.calls_of(name)

    # -- what goes wrong ---------------------------------------------------------------------

    @property
    def faults_left(self) -> list[FaultT]:
        """Return the faults that have not happened."""
        return self._faults.left()

    def forget_faults(self) -> None:
        """Drop the faults that have not happened."""
        self._faults.clear()

    @property
    def open_connections(self) -> int:
        """Return how many connections are open."""
        return len(self._connections)

    def half_open(self, *, stop_reading: bool = False) -> None:
        """Keep every connection of now open and pass nothing through it; new ones work."""
        for connection in self._connections:
            connection.fall_silent(stop_reading=stop_reading)

    def drop_connections(self) -> None:
        """Break every connection."""
        for connection in list(self._connections):
            connection.hang_up()

    def _served(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        if self.cut_off:
            return None
        outcome = self._handle(request)
        host = request.headers.get("host", "").partition(":")[0]
        self.asked_at += [host] * (len(self.calls) - len(self.asked_at))
        return outcome


def _at_once(_call: object, answer: Doing) -> Outcome | Coroutine[Any, Any, Outcome]:
    return answer()


def report(crashes: list[BaseException], error: BaseException | None, name: str) -> None:
    """Raise the first exception of a fake, or add them all to the test's own as notes."""
    if crashes and error is None:
        raise crashes[0]
    for crash in crashes:
        assert error is not None
        error.add_note(f"{name} had failed: {crash!r}")


def _shown(call: object) -> object:
    """Return a request's parameters without the secret by which a webhook knows the platform."""
    params = getattr(call, "params", "")
    if not isinstance(params, Mapping):
        return params
    return {name: value for name, value in params.items() if name != "secret_token"}
