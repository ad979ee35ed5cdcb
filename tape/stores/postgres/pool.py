"""The connections of one process to a PostgreSQL server.

What a connection attempt is refused with is the caller's error, at once. After a restart of the
server no idle connection fails a unit: each is looked at before it is lent. A server that answers
nothing any more, though its socket stays up, is given up after a while, with all idle connections:
what stands between has likely lost them, too.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from tape.errors import StoreUnavailable
from tape.store import StoreLimits

WAIT_SECONDS: Final = 10.0

KEEPALIVE: Final = """
SELECT set_config('tcp_keepalives_idle', '15', false),
       set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false)"""
"""Whoever is cut off in a transaction keeps its locks until the server finds that out: by itself
only after hours, and no other process writes to those chats meanwhile."""

T = TypeVar("T")


class NoAnswer(psycopg.OperationalError):
    """The server has not answered in time; the connection is closed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer for {seconds:g} s")


class ServerConnection(AsyncConnection[tuple[Any, ...]]):
    """A connection whose server has to answer within `answer_seconds`, if there is a limit."""

    answer_seconds: float | None = None

    async def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for an answer as psycopg does; raises NoAnswer if there is none in time."""
        limit = self.answer_seconds
        if limit is None or timeout is not None:  # who waits for notifications names a time
            return await super().wait(gen, interval, timeout)
        began = time.monotonic()
        try:
            return await super().wait(gen, interval, limit)
        except psycopg.OperationalError as cause:
            if time.monotonic() - began < limit:
                raise
            self.pgconn.finish()
            raise NoAnswer(limit) from cause


class ConnectionPool:
    """Connections to `target` within `limits`, made when they are needed first.

    prepared  whether the server may keep statements for a connection; a pooler before it may give
              each transaction to another connection
    """

    def __init__(self, target: str, limits: StoreLimits, *, prepared: bool) -> None:
        self._target = target
        self._answer_seconds = limits.answer_seconds
        self._how: dict[str, Any] = {} if prepared else {"prepare_threshold": None}
        self._free = anyio.Semaphore(limits.connections)
        self._idle: list[ServerConnection] = []
        self._closed = False

    @asynccontextmanager
    async def connection(self, *, patient: bool = False) -> AsyncIterator[ServerConnection]:
        """Borrow a connection; raises psycopg.Error, or StoreUnavailable if all are in use.

        If `patient`, an answer may take as long as it takes.
        """
        await self._wait()
        try:
            connection = await self._taken() or await self._connect()
            connection.answer_seconds = None if patient else self._answer_seconds
            try:
                yield connection
            except BaseException as cause:
                if _is_read_only(cause):
                    await connection.close()  # the next one finds the primary
                if connection.closed:
                    await self._close_idle()
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    await self._give_back(connection)
        finally:
            self._free.release()

    async def close(self) -> None:
        """Close what is idle now, and the others when they come back."""
        self._closed = True
        await self._close_idle()

    async def _wait(self) -> None:
        try:
            self._free.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(WAIT_SECONDS) as waited:
                await self._free.acquire()
            if waited.cancelled_caught:
                raise StoreUnavailable(
                    f"the database is slow: no connection was free for {WAIT_SECONDS:g} s"
                ) from None

    async def _taken(self) -> ServerConnection | None:
        while self._idle:
            if _is_there(connection := self._idle.pop()):
                return connection
            await connection.close()
        return None

    async def _connect(self) -> ServerConnection:
        connection = await ServerConnection.connect(
            self._target, autocommit=True, row_factory=tuple_row, **self._how
        )
        connection.answer_seconds = self._answer_seconds
        if not self._how:  # the sockets of a pooler are its own business
            try:
                await connection.execute(KEEPALIVE)
            except BaseException:
                await connection.close()
                raise
        return connection

    async def _give_back(self, connection: ServerConnection) -> None:
        if connection.closed:
            return
        if self._closed or connection.info.transaction_status != TransactionStatus.IDLE:
            await connection.close()
        else:
            self._idle.append(connection)

    async def _close_idle(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()


def _is_there(connection: ServerConnection) -> bool:
    """Return whether the server has kept a connection that nobody used; nothing is sent."""
    try:
        for _ in range(2):  # the first look finds why it ended, the second that it did
            connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return True


def _is_read_only(cause: BaseException) -> bool:
    causes = (cause, cause.__cause__)
    return any(isinstance(one, psycopg.errors.ReadOnlySqlTransaction) for one in causes)
