"""Read SQL files, which have numbered migrations and named statements.

The folder `sql/` of a package has `DIALECT/0001_name.sql`, 0002 ... (one migration each) and
`DIALECT/statements.sql`, where a line `-- name: NAME` and a comment precede each statement. Files
named `statements_TOPIC.sql` have further statements.

After a migration whose first line is `-- readable from: N`, programs that know version N or a later
one can use the tables; after others, only those that know that migration.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_STATEMENTS = re.compile(r"^statements(_\w+)?\.sql$")
_READABLE = re.compile(r"\A-- readable from: (\d+)$", re.MULTILINE)
_MIGRATION = re.compile(r"^(\d{4})_\w+\.sql$")


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one package: a name, migrations in order, and statements."""

    name: str
    migrations: tuple[str, ...]
    statements: dict[str, str]

    @property
    def version(self) -> int:
        return len(self.migrations)

    def readable_from(self, number: int) -> int:
        """Return the oldest version of programs that can use the tables after a migration."""
        found = _READABLE.match(self.migrations[number - 1])
        return int(found[1]) if found else number


def read_schema(name: str, package: str, dialect: str) -> Schema:
    """Read a schema from the folder `sql/DIALECT` of a package."""
    folder = files(package) / "sql" / dialect
    migrations = sorted(
        (item for item in folder.iterdir() if _MIGRATION.match(item.name)), key=lambda i: i.name
    )
    statements: dict[str, str] = {}
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if _STATEMENTS.match(item.name):
            statements |= parse_statements(item.read_text("utf-8"), prefix=f"{name}.")
    return Schema(name, tuple(item.read_text("utf-8") for item in migrations), statements)


def parse_statements(text: str, prefix: str = "") -> dict[str, str]:
    """Map names to the statements of a file; `prefix` is put before each name."""
    parts = _NAME.split(text)
    names, bodies = parts[1::2], parts[2::2]
    return {prefix + name: body.strip() for name, body in zip(names, bodies, strict=True)}


@functools.cache
def own_version() -> str:
    """Return the version of this product, or "" if it is not installed."""
    try:
        return version("tapeway")
    except PackageNotFoundError:
        return ""
