"""The connections of one process to a PostgreSQL server.

What a connection attempt is refused with is the caller's error, at once. After a restart of the
server no idle connection fails a unit: each is looked at before it is lent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from tape.errors import StoreUnavailable

POOL_SIZE: Final = 8
"""Connections of one process; `max_connections` of the server has to hold all processes."""

WAIT_SECONDS: Final = 10.0

KEEPALIVE: Final = """
SELECT set_config('tcp_keepalives_idle', '15', false),
       set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false)"""
"""Whoever is cut off in a transaction keeps its locks until the server finds that out: by itself
only after hours, and no other process writes to those chats meanwhile."""

Connection = AsyncConnection[tuple[Any, ...]]


class ConnectionPool:
    """Up to POOL_SIZE connections to `target`, made when they are needed first.

    prepared  whether the server may keep statements for a connection; a pooler before it may give
              each transaction to another connection
    """

    def __init__(self, target: str, *, prepared: bool) -> None:
        self._target = target
        self._how: dict[str, Any] = {} if prepared else {"prepare_threshold": None}
        self._free = anyio.Semaphore(POOL_SIZE)
        self._idle: list[Connection] = []
        self._closed = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow a connection; raises psycopg.Error, or StoreUnavailable if all are in use."""
        await self._wait()
        try:
            connection = await self._taken() or await self._connect()
            try:
                yield connection
            except BaseException as cause:
                if _is_read_only(cause):
                    await connection.close()  # the next one finds the primary
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

    async def _taken(self) -> Connection | None:
        while self._idle:
            if _is_there(connection := self._idle.pop()):
                return connection
            await connection.close()
        return None

    async def _connect(self) -> Connection:
        connection = await AsyncConnection[tuple[Any, ...]].connect(
            self._target, autocommit=True, row_factory=tuple_row, **self._how
        )
        if not self._how:  # the sockets of a pooler are its own business
            try:
                await connection.execute(KEEPALIVE)
            except BaseException:
                await connection.close()
                raise
        return connection

    async def _give_back(self, connection: Connection) -> None:
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


def _is_there(connection: Connection) -> bool:
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
