"""What a gateway on PostgreSQL expects of open work, which its processes share."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import psycopg

from gateway.hooks.messages import session_of
from tape.entry import load
from tape.service import tape_name

SHARED: Final = ""
"""Stands for the path of every workspace: all processes of a database use the same tapes."""

_WORKSPACE: Final = """
INSERT INTO workspace (path, same_as) VALUES (%s, %s)
ON CONFLICT (path) DO UPDATE SET same_as = excluded.same_as"""
_UNPLACED: Final = "SELECT id, payload FROM inbox WHERE status = 'accepted' AND session_id IS NULL"
_PLACE: Final = """
UPDATE inbox SET session_id = coalesce((SELECT same_as FROM alias WHERE session_id = %s), %s)
WHERE id = %s"""
_OPEN: Final = """
SELECT session_id FROM inbox WHERE status IN ('accepted', 'waiting', 'taken')
UNION SELECT session_id FROM outbox WHERE status IN ('draft', 'pending', 'sending')"""
_READY: Final = """
INSERT INTO session (session_id, tape, ready_at) VALUES (%s, %s, utc_after(0))
ON CONFLICT (session_id) DO UPDATE SET ready_at = excluded.ready_at"""


def hand_over(connection: psycopg.Connection[Any], workspace: str) -> None:
    """Name the tapes after a workspace, and let sessions with open work be claimed."""
    connection.execute(_WORKSPACE, (SHARED, workspace))
    for row, payload in connection.execute(_UNPLACED).fetchall():
        own = session_of(load(payload))  # a message that was accepted, and not looked at yet
        connection.execute(_PLACE, (own, own, row))
    for (session,) in connection.execute(_OPEN).fetchall():
        connection.execute(_READY, (session, tape_name(Path(workspace), session)))
