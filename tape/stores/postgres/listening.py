"""Listen to notifications, over a connection of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Final

import psycopg
from psycopg import AsyncConnection, sql

from tape.errors import StoreUnavailable, StoreUnusable
from tape.stores.postgres.database import connection_target, first_line

POOLED: Final = (
    "a PgBouncer does not pass on what is listened to: name the database's own address in"
    " TAPEWAY_SHARING__LISTEN_URL; until then, this process looks by itself"
)


async def notifications(
    url: str, channels: Sequence[str], *, pooled: bool
) -> AsyncGenerator[tuple[str, str], None]:
    """Yield each notification's channel and payload, after ("", "") once it listens.

    Raises StoreUnusable at a pooler: a connection that listens would be lent to others, who would
    keep what they hear for ever. Raises StoreUnavailable when the connection is lost.
    """
    if pooled:
        raise StoreUnusable(POOLED)
    try:
        connection = await AsyncConnection.connect(connection_target(url), autocommit=True)
        try:
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            yield "", ""
            async for sent in connection.notifies():
                yield sent.channel, sent.payload
        finally:  # its own `async with` would ask the server first, which a cancelled task cannot
            await connection.close()
    except (psycopg.Error, OSError) as lost:
        raise StoreUnavailable(f"nothing is heard from the database ({first_line(lost)})") from lost
