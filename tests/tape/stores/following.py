"""Versions of the tables of a store."""

from __future__ import annotations

from dataclasses import replace

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.schema import Schema

OWN = ledger_schema("postgres")


ADDS = "-- readable from: 1\nALTER TABLE inbox ADD COLUMN mood TEXT; CREATE TABLE mood (name TEXT)"


BREAKS = "ALTER TABLE outbox RENAME COLUMN why TO reason"


def following(*migrations: str) -> Schema:
    """Return the ledger of a pretended later version."""
    return replace(OWN, migrations=(*OWN.migrations, *migrations))
