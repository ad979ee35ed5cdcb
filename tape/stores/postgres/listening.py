"""Listen to notifications, over a connection of its own."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, sql

from tape.errors import StoreUnavailable, StoreUnusable
from tape.stores.postgres.database import connection_target
from tape.stores.postgres.pool import ServerConnection
from tape.stores.postgres.server_errors import first_line

POOLED: Final = (
    "a PgBouncer does not pass on what is listened to: name the database's own address in"
    " TAPEWAY_SHARING__LISTEN_URL; until then, this process looks by itself"
)
ELSEWHERE: Final = (
    "TAPEWAY_SHARING__LISTEN_URL names another database than TAPEWAY_TAPE__URL: name the same one"
    " by its own address; until then, this process looks by itself"
)

LOCK: Final = "SELECT pg_advisory_xact_lock(%(key)s)"
IS_LOCKED: Final = """
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32) | objid::bigint = %(key)s
)
"""
"""Whether somebody has the lock of a key: only in the same database of the same server."""

SeesLock = Callable[[int], Awaitable[bool]]
"""Returns whether a key is locked in the database that is meant."""


def new_key() -> int:
    """Return a key that nobody else locks."""
    return secrets.randbits(62)


async def notifications(
    url: str,
    channels: Sequence[str],
    answer_seconds: float,
    *,
    pooled: bool,
    sees_lock: SeesLock | None = None,
) -> AsyncGenerator[tuple[str, str], None]:
    """Yield each notification's channel and payload, after ("", "") once it listens.

    Where nothing is heard for `answer_seconds`, the server is asked whether it is there.

    Raises StoreUnusable at a pooler: a connection that listens would be lent to others, who would
    keep what they hear for ever; and, with `sees_lock`, where the URL names another database.
    Raises StoreUnavailable when the connection is lost.
    """
    if pooled:
        raise StoreUnusable(POOLED)
    try:
        connection = await ServerConnection.connect(connection_target(url), autocommit=True)
        connection.answer_seconds = answer_seconds
        try:  # `async with` would roll back first, which a second cancellation ends
            await _refuse_others(connection, sees_lock)
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            yield "", ""
            while True:
                async for sent in connection.notifies(timeout=answer_seconds):
                    yield sent.channel, sent.payload
                await connection.execute("SELECT 1")
        finally:
            await connection.close()
    except (psycopg.Error, OSError) as lost:
        raise StoreUnavailable(f"nothing is heard from the database ({first_line(lost)})") from lost


async def _refuse_others(connection: AsyncConnection[Any], sees_lock: SeesLock | None) -> None:
    row = await (await connection.execute("SELECT pg_backend_pid()")).fetchone()
    if row is not None and row[0] != connection.info.backend_pid:
        raise StoreUnusable(POOLED)
    if sees_lock is None:
        return
    async with connection.transaction():
        key = new_key()
        await connection.execute(LOCK, {"key": key})
        if not await sees_lock(key):
            raise StoreUnusable(ELSEWHERE)
