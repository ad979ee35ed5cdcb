"""What a gateway on PostgreSQL expects of open work, which its processes share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import psycopg

from channels.message import InboundMessage
from gateway.hooks.loader import load_plugins
from gateway.hooks.messages import session_of
from gateway.hooks.runtime import HookRuntime
from gateway.logs import get_log
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
    unplaced = connection.execute(_UNPLACED).fetchall()  # accepted, and not looked at yet
    hooks = HookRuntime()
    if unplaced:
        load_plugins(hooks)
    for row, payload in unplaced:
        own = _session_of(hooks, InboundMessage.from_payload(load(payload)))
        connection.execute(_PLACE, (own, own, row))
    for (session,) in connection.execute(_OPEN).fetchall():
        connection.execute(_READY, (session, tape_name(Path(workspace), session)))


def _session_of(hooks: HookRuntime, message: InboundMessage) -> str:
    """Return the session that a process would resolve when it accepts a message."""
    try:
        found = anyio.run(partial(hooks.call_first, "resolve_session", message=message))
    except Exception as cause:  # as when a gateway takes it in: the chat's own session
        get_log().error("hook.resolve_session_failed", exc_info=cause)
        found = None
    return str(found) if found else session_of(message)
