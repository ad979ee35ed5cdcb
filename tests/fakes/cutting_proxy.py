"""A proxy before a PostgreSQL server: it cuts, refuses, encrypts and changes what that says."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from contextlib import suppress
from typing import Final, Literal, Self

Cut = Literal["before", "after"]
"""Cut before the server hears of the commit, or after it has committed."""

_COMMIT: Final = re.compile(rb"(\w*)\x00COMMIT\x00")
"""The server hears the text once; then the driver names the statement that it has prepared."""

_SSL_REQUEST: Final = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
_SYNC: Final = b"S\x00\x00\x00\x04"
_COMMITTED: Final = b"C\x00\x00\x00\x0bCOMMIT\x00"


class CuttingProxy:
    """Forwards connections to a server; `cut` names what is done to the next commit.

    trips    counts what waited for an answer
    passing  how many commits pass before the one that is cut
    away     answers nobody: new connections are closed; with `away_after`, from the next cut on
    refusal  SQLSTATE and words with which new connections are refused
    says     what the server says, and what is passed on instead, of any length
    tls      encrypts what clients send, if they ask for it
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._server_port = port
        self._tls = tls
        self._writers: set[asyncio.StreamWriter] = set()
        self.passing = 0
        self.away = False
        self.away_after = False
        self.refusal: tuple[str, str] | None = None
        self.says: dict[bytes, bytes] = {}
        self._open: set[_Line] = set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cut: Cut | None = None
        self.cut_at: list[float] = []
        self._was_cut = asyncio.Event()
        self.trips = 0

    @property
    def cuts(self) -> int:
        """How many connections were cut."""
        return len(self.cut_at)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def drop(self) -> None:
        """Cut all connections, as a server does that crashes."""
        for writer in self._writers:
            writer.close()

    def swallow(self) -> int:
        """Lose what open connections send from now on, while they stay up; return how many."""
        for line in self._open:
            line.swallows = True
        return len(self._open)

    async def wait_for_cut(self) -> None:
        """Wait until a connection was cut."""
        await self._was_cut.wait()

    def cuts_now(self) -> Cut | None:
        """Return how the commit that passes now is cut, if it is."""
        if not self.cut or self._passes():
            return None
        cutting, self.cut = self.cut, None
        self.cut_at.append(time.monotonic())
        self.away = self.away or self.away_after
        self._was_cut.set()
        return cutting

    def _passes(self) -> bool:
        """Count a commit; tells whether it is not yet the one to cut."""
        self.passing -= 1
        return self.passing >= 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            first = await self._begun(reader, writer)
            if first:
                await self._forward(first, reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, OSError):
            pass  # the proxy ends, or the client did not like the certificate
        finally:
            self._writers.discard(writer)
            writer.close()
            self._tasks.discard(task)

    async def _begun(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        """Return the beginning of a client's first message, or b"" if it is refused."""
        if self.away:
            return b""
        first = await reader.readexactly(8)
        if first == _SSL_REQUEST:
            writer.write(b"S" if self._tls else b"N")
            if self._tls is not None:
                await writer.start_tls(self._tls)
            first = await reader.readexactly(8)
        if self.refusal is None:
            return first
        state, words = self.refusal
        fields = "".join(
            f"{kind}{text}\0"
            for kind, text in (("S", "FATAL"), ("V", "FATAL"), ("C", state), ("M", words))
        )
        writer.write(b"E" + (len(fields) + 5).to_bytes(4, "big") + fields.encode() + b"\x00")
        await writer.drain()
        return b""

    async def _forward(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        ends = [writer]
        line = _Line(self)
        self._open.add(line)
        try:
            there, here = await asyncio.open_connection("127.0.0.1", self._server_port)
            ends.append(here)
            here.write(first)
            async with asyncio.TaskGroup() as group:
                group.create_task(line.requests(reader, here))
                group.create_task(line.answers(there, writer))
        except* (OSError, _Cut):
            pass  # one end has gone, or the server is away
        finally:
            self._open.discard(line)
            for end in ends:
                end.close()
                with suppress(OSError):
                    await end.wait_closed()


class _Cut(Exception):
    """The connection is cut here."""


class _Line:
    """One connection through the proxy."""

    def __init__(self, proxy: CuttingProxy) -> None:
        self._proxy = proxy
        self._cutting: Cut | None = None
        self._commit = b""
        self.swallows = False

    async def requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self.swallows:
                continue
            self._proxy.trips += data.count(_SYNC)
            if self._commits(data) and (cutting := self._proxy.cuts_now()):
                self._cutting = cutting
                if cutting == "before":
                    raise _Cut
            writer.write(data)
            await writer.drain()
        raise _Cut

    async def answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = b""
        while data := await reader.read(65536):
            for said, instead in self._proxy.says.items():
                data = data.replace(said, instead)
            if self._cutting is None:
                writer.write(data)
                await writer.drain()
                continue
            heard += data
            if _COMMITTED in heard:
                raise _Cut
        raise _Cut

    def _commits(self, data: bytes) -> bool:
        """Return whether a commit is in what is sent, by its text or by its prepared name."""
        found = _COMMIT.search(data)
        if found is not None:
            self._commit = found[1]
        return found is not None or (self._commit != b"" and b"\x00%b\x00" % self._commit in data)
