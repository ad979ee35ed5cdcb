"""Connections to a database of the tests, which the next test takes over when one closes them.

Importing this module changes psycopg for the process. A new connection costs client and server
twelve milliseconds: a process that learns all tables. A test makes seven of them, and none is about
how they are made. What a connection has of a session is reset, but for what is prepared: a gateway
that runs for a day has that, too.

Kept is only what the product asks of the databases that `keep_connections` names, and what nobody
waits for: a connection with a transaction or a question under way closes as ever.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Generator
from typing import Any, Final, NamedTuple, cast

import psycopg
from psycopg import conninfo, pq

APPLICATION: Final = "tapeway"
"""The `application_name` of the product's connections."""

MOST: Final = 9
"""Connections that are kept of a database: as many as a gateway may need."""

RESET: Final = b"SELECT pg_advisory_unlock_all(); UNLISTEN *; RESET ALL"


class _Kept(NamedTuple):
    pgconn: pq.abc.PGconn
    prepared: Any


_kept: Final[dict[str, dict[str, list[_Kept]]]] = {}
"""What is kept: by database, and by how it was made."""

_connect_one: Final = cast(Any, psycopg.Connection._connect_gen).__func__
_close_one: Final = psycopg.Connection.close
_close_async: Final = psycopg.AsyncConnection.close


def keep_connections(url: str) -> None:
    """Keep the connections to a database from now on."""
    _kept.setdefault(_place(url), defaultdict(list))


def kept_connections(url: str) -> list[int]:
    """Return the process ids, at the server, of the connections that nobody uses."""
    return [
        one.pgconn.backend_pid for alike in _kept.get(_place(url), {}).values() for one in alike
    ]


@functools.cache
def _place(url: str) -> str:
    given = conninfo.conninfo_to_dict(url)
    return f"{given.get('port')}/{given.get('dbname')}"


def _connected(cls: Any, target: str = "") -> Generator[Any, Any, Any]:
    """Take a kept connection, or make one."""
    place = _place(target)
    if place not in _kept or f"application_name={APPLICATION}" not in target:
        return (yield from _connect_one(cls, target))
    alike = _kept[place][target]
    while alike:
        pgconn, prepared = alike.pop()
        if _is_there(pgconn):
            made = cls(pgconn)
            made._prepared = prepared
            break
        pgconn.finish()
    else:
        made = yield from _connect_one(cls, target)
    made.kept_as = place, target
    return made


def _parked(connection: Any) -> bool:
    """Keep a connection that is closed, if it is as good as new; return whether it is."""
    place, target = getattr(connection, "kept_as", ("", ""))
    pgconn = connection.pgconn
    if (
        not place
        or sum(map(len, _kept[place].values())) >= MOST
        or pgconn.status != pq.ConnStatus.OK
        or pgconn.transaction_status != pq.TransactionStatus.IDLE
        or pgconn.pipeline_status != pq.PipelineStatus.OFF
        or pgconn.exec_(RESET).status != pq.ExecStatus.COMMAND_OK
    ):
        return False
    while pgconn.notifies():
        pass
    connection._closed = True
    connection.pgconn = _gone()
    _kept[place][target].append(_Kept(pgconn, connection._prepared))
    return True


@functools.cache
def _gone() -> pq.abc.PGconn:
    """Return what a connection has that is closed."""
    found = pq.PGconn.connect_start(b"host=/nowhere")
    found.finish()
    return found


def _is_there(pgconn: pq.abc.PGconn) -> bool:
    try:
        for _ in range(2):  # the first look finds why it ended, the second that it did
            pgconn.consume_input()
    except psycopg.OperationalError:
        return False
    return True


def _closed(self: psycopg.Connection[Any]) -> None:
    if not _parked(self):
        _close_one(self)


async def _closed_async(self: psycopg.AsyncConnection[Any]) -> None:
    if not _parked(self):
        await _close_async(self)


for kind, close in ((psycopg.Connection, _closed), (psycopg.AsyncConnection, _closed_async)):
    setattr(kind, "_connect_gen", classmethod(_connected))  # noqa: B010
    setattr(kind, "close", close)  # noqa: B010
