"""Shortcuts for what a gateway does once in its life and the tests would do two thousand times.

Importing this module changes six modules for the process; nothing that a test asserts differs.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Sequence
from typing import Any, Final

import apsw
import httpcore2
import typer.testing
import uvicorn.server

import tape.database.connection
import tape.stores.memory
from tape.database.connection import migrate
from tape.database.schema import Schema

POLL_SECONDS: Final = 0.01


class _Impatient:
    """The module asyncio as uvicorn sees it: it checks every 0.1 s whether a server may end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, POLL_SECONDS))


vars(uvicorn.server)["asyncio"] = _Impatient()

# Making the command line of `tapeway` takes 0.07 s, and reading the machine's root certificates, of
# which no test needs one, 0.03 s. None changes afterwards.
for module, name in (
    (ssl, "create_default_context"),
    (httpcore2, "default_ssl_context"),
    (typer.testing, "_get_command"),
):
    vars(module)[name] = functools.cache(vars(module)[name])


def _migrate(connection: apsw.Connection, schemas: Sequence[Schema]) -> None:
    """Copy the tables into an empty database; they are made once for each set of schemas."""
    if connection.execute("SELECT count(*) FROM sqlite_schema").get:
        migrate(connection, schemas)
        return
    made = _made(tuple((schema.name, schema.migrations) for schema in schemas))
    with connection.backup("main", made, "main") as copy:
        while not copy.done:
            copy.step()


@functools.cache
def _made(schemas: tuple[tuple[str, tuple[str, ...]], ...]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    migrate(connection, [Schema(name, migrations, {}) for name, migrations in schemas])
    return connection


# Making forty tables takes five milliseconds, and copying them a tenth of that.
for module in (tape.database.connection, tape.stores.memory):
    vars(module)["migrate"] = _migrate
