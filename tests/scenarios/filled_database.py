"""A database in which many sessions have talked for long."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import psycopg

from tape.stores.postgres.search_lookup import RULES

_TAPES: Final = """
INSERT INTO tape (name, size, dated, last)
SELECT 'filled-' || n, %(each)s, '2026-01-01T00:00:00.000+00:00', %(each)s
FROM generate_series(1, %(sessions)s) AS n;
INSERT INTO session (session_id, tape)
SELECT 'telegram:' || (9000000 + n), 'filled-' || n FROM generate_series(1, %(sessions)s) AS n
"""
_ENTRIES: Final = """
INSERT INTO entry (tape, id, kind, author, lane, turn, payload, meta, date)
SELECT tape.tape, id, 'message', '7', 'l:' || id / 40, CASE WHEN id %% 5 = 0 THEN 't-' || id END,
       '{"role":"user","content":"[12:00 #1 Alice] a message of a usual length, ' || id || '"}',
       '{"author":"7","name":"Alice","text":"a message of a usual length","chat":"-1001"}',
       '2026-01-01T00:00:00.000+00:00'
FROM tape CROSS JOIN generate_series(1, %(each)s) AS id WHERE tape.name LIKE 'filled-%%'
"""
_INBOX: Final = """
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, entry_id, lane, payload,
                   status, received_at)
SELECT 'telegram', (9000000 + n) || '/' || id, (9000000 + n)::text, id::text,
       'telegram:' || (9000000 + n), id, 'l:1',
       '{"text":"a message of a usual length","sender":{"id":"7","name":"Alice"}}', 'taped',
       '2026-01-01T00:00:00.000'
FROM generate_series(1, %(sessions)s) AS n CROSS JOIN generate_series(1, %(each)s, 2) AS id
"""
_COVERED: Final = """
INSERT INTO search_covered (tape, low, high, rules)
SELECT tape, 1, size, %(rules)s FROM tape WHERE name LIKE 'filled-%%'
"""


def fill(url: str, sessions: int, each: int) -> None:
    """Fill a database with sessions of so many entries each, indexed, and half as many messages."""
    with psycopg.connect(url, autocommit=True) as connection:
        run = partial(_run, connection, {"sessions": sessions, "each": each, "rules": RULES})
        for sql in (*_TAPES.split(";"), _ENTRIES, _INBOX, _COVERED):
            run(sql)
        connection.execute("ANALYZE")
        connection.execute("CHECKPOINT")


def _run(connection: psycopg.Connection[Any], values: dict[str, Any], sql: str) -> None:
    connection.execute(sql.encode(), values)
