"""Compare two databases: counts and digests of each table and tape, and what is open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import orjson

from gateway.backup.moving.side import MovingSide
from gateway.backup.moving.tables import ENTRY, Cells, moved_tables
from tape.stores.postgres.binding import NUL_SHOWN

MODULUS: Final = 2**64
OPEN: Final = frozenset({"accepted", "waiting", "taken", "draft", "pending", "sending", "held"})
_ESCAPED: Final = b"\\u0000"


@dataclass(slots=True)
class RowsDigest:
    """How many rows there are, and a digest of them that does not depend on their order."""

    rows: int = 0
    value: int = 0

    def add(self, digest: int, counts: int = 1) -> None:
        self.rows += counts
        self.value = (self.value + digest) % MODULUS

    def __str__(self) -> str:
        return f"{self.value:016x}"


@dataclass(slots=True)
class Digests:
    """What a database has.

    tables  by name
    tapes   by name; `rows` are entries, and the digest also covers keys
    open    messages and sends that are open, by table and status
    """

    tables: dict[str, RowsDigest] = field(default_factory=lambda: defaultdict(RowsDigest))
    tapes: dict[str, RowsDigest] = field(default_factory=lambda: defaultdict(RowsDigest))
    open: Counter[tuple[str, str]] = field(default_factory=Counter)


def digests_of(side: MovingSide, seen: Callable[[int], None]) -> Digests:
    """Read all of a database; `seen` is called with how many rows were read."""
    found = Digests()
    names: dict[int, str] = {}
    for table in moved_tables():
        of_table = found.tables[table.name]
        status = table.columns.index("status") if table.name in ("inbox", "outbox") else None
        for row in side.rows(table):
            digest = _digest(row)
            of_table.add(digest)
            if table.name == "tape":
                names[row[0]] = row[1]
            if table.of_tapes:
                found.tapes[names[row[0]]].add(digest, table.name == ENTRY)
            if status is not None and row[status] in OPEN:
                found.open[table.name, row[status]] += 1
            if not of_table.rows % 1000:
                seen(1000)
    return found


def differences(one: Digests, other: Digests) -> list[str]:
    """Return the names of the tables and tapes that differ."""
    return [*_differ(one.tables, other.tables), *_differ(one.tapes, other.tapes)]


def _differ(one: Mapping[str, RowsDigest], other: Mapping[str, RowsDigest]) -> list[str]:
    none = RowsDigest()
    return sorted(name for name in {*one, *other} if one.get(name, none) != other.get(name, none))


def _digest(row: Cells) -> int:
    # PostgreSQL shows a NUL, which JSON escapes, as another sign.
    plain = orjson.dumps(row).replace(_ESCAPED, NUL_SHOWN.encode())
    return int.from_bytes(blake2b(plain, digest_size=8).digest())
