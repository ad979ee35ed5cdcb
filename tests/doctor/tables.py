"""What the tests of the doctor read of its tables."""

from __future__ import annotations

import json

import psycopg

WORKER = (
    "INSERT INTO worker (owner, home, role, version, place, started_at, seen_at, digests)"
    " VALUES (%s, '/srv', %s, '1.2.3', %s, utc_after(%s), utc_after(%s), %s)"
)


def join(
    connection: psycopg.Connection[tuple[object, ...]],
    owner: str,
    role: str,
    *,
    silent: int = 1,
    **digests: str,
) -> None:
    """Add the row of a process that was seen some seconds ago."""
    values = (owner, role, f"host-{owner[0]}", -600, -silent, json.dumps(digests))
    connection.execute(WORKER, values)
