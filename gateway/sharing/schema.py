"""The tables that several processes share; only PostgreSQL has them."""

from __future__ import annotations

import functools

from tape.database.schema import Schema, read_schema


@functools.cache
def sharing_schema() -> Schema:
    """Return the tables and statements of shared work; they need those of the ledger."""
    return read_schema("sharing", "gateway.sharing", "postgres")
