"""Listen to notifications, over a connection of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

import psycopg
from psycopg import AsyncConnection, sql

from tape.errors import StoreUnavailable
from tape.stores.postgres.database import connection_target, first_line


async def notifications(url: str, channels: Sequence[str]) -> AsyncGenerator[tuple[str, str], None]:
    """Yield each notification's channel and payload, after ("", "") once it listens.

    Raises StoreUnavailable when the connection is lost.
    """
    try:
        async with await AsyncConnection.connect(
            connection_target(url), autocommit=True
        ) as connection:
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            yield "", ""
            async for sent in connection.notifies():
                yield sent.channel, sent.payload
    except (psycopg.Error, OSError) as lost:
        raise StoreUnavailable(f"nothing is heard from the database ({first_line(lost)})") from lost
