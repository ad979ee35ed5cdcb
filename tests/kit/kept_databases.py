"""Databases that the next test takes over, empty but for their tables.

To empty one takes two milliseconds, and to copy one forty. A test that changes more than rows, or
asks what such a change does, has a copy of its own: see `tests.postgres`.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import psycopg
from psycopg import conninfo

from tests.kit.kept_connections import keep_connections, kept_connections
from tests.postgres import owned_database, url_of

EMPTY: Final = """
CREATE SCHEMA stage;
CREATE PROCEDURE stage.empty(kept integer[]) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL (kept);
    PERFORM set_config('stage.empties', 'on', true);
    {steps}
    UPDATE fact_version SET number = 0;
    UPDATE rule_version SET number = 0;
END
$$
"""
"""Makes a database as it was when its tables were made."""

EMPTY_TABLE: Final = """
    IF EXISTS (SELECT FROM {name}) THEN
        IF pg_relation_size('{name}') > 65536 THEN TRUNCATE {name}; ELSE DELETE FROM {name}; END IF;
    END IF;
"""
"""To remove a few rows is quicker than to give a table and its indexes new files."""

FIRST_AGAIN: Final = "PERFORM setval('{name}', 1, false);"

STEPS: Final = """
SELECT relkind, relname FROM pg_class
WHERE relkind IN ('r', 'S') AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('migration', 'fact_version', 'rule_version')
"""

MAY_EMPTY: Final = (
    "BEGIN IF current_setting('stage.empties', true) = 'on' THEN RETURN NULL; END IF;"
)
"""How the function begins that refuses to remove rows."""

Connected = psycopg.Connection[Any]


class KeptDatabase:
    """A database with all tables that is there until this process ends."""

    def __init__(self) -> None:
        stack = ExitStack()
        atexit.register(stack.close)
        self.url = stack.enter_context(owned_database())
        self.server: Connected = stack.enter_context(psycopg.connect(self.url, autocommit=True))
        """A connection that knows its tables."""
        kinds = {"r": EMPTY_TABLE, "S": FIRST_AGAIN}
        steps = [kinds[kind].format(name=name) for kind, name in self.server.execute(STEPS)]
        self.server.execute(EMPTY.format(steps="".join(steps)).encode())
        self.change("refuse_change", "BEGIN", MAY_EMPTY)
        keep_connections(self.url)

    def change(self, function: str, said: str, says: str) -> None:
        """Change what a function of the product says."""
        found = self.server.execute("SELECT pg_get_functiondef(%s::regproc)", (function,))
        ((made,),) = found.fetchall()
        assert said in made
        self.server.execute(made.replace(said, says, 1).encode())

    def empty(self) -> None:
        """Remove all rows, and end the connections that somebody left open."""
        self.server.execute("CALL stage.empty(%s)", (kept_connections(self.url),))


_unused: Final[list[KeptDatabase]] = []


@contextmanager
def kept_database(role: str = "") -> Iterator[str]:
    """Yield the URL of an empty database, for its owner or another role."""
    database = _unused.pop() if _unused else KeptDatabase()
    database.empty()
    name = str(conninfo.conninfo_to_dict(database.url)["dbname"])
    yield url_of(name, role) if role else database.url
    _unused.append(database)  # unless its test failed, and may have left anything
