"""Read SQL files, which have numbered migrations and named statements.

The folder `sql/` of a package has `DIALECT/0001_name.sql`, 0002 ... (one migration each) and
`DIALECT/statements.sql`, where a line `-- name: NAME` and a comment precede each statement. Files
named `statements_TOPIC.sql` have further statements.

A database remembers how many migrations it has, so the number of each must be its position: a file
that sorts before applied ones would shift them. Such a file is refused before anything runs.

After a migration whose first line is `-- readable from: N`, programs that know version N or a later
one can use the tables; after others, only those that know that migration.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from tape.errors import MigrationMisnumbered

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_SQL = re.compile(r"^[^.].*\.sql$")
_STATEMENTS = re.compile(r"^statements(_\w+)?\.sql$")
_READABLE = re.compile(r"\A-- readable from: (\d+)$", re.MULTILINE)
_MIGRATION = re.compile(r"^([0-9]{4})_\w+\.sql$")


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
    """Read a schema from the folder `sql/DIALECT` of a package.

    Raises MigrationMisnumbered for a file whose number is not its position.
    """
    folder = files(package) / "sql" / dialect
    texts = {item.name: item for item in folder.iterdir() if _SQL.match(item.name)}
    topics = sorted(filter(_STATEMENTS.match, texts))
    migrations = _in_order(texts.keys() - topics, f"{package.replace('.', '/')}/sql/{dialect}")
    statements: dict[str, str] = {}
    for topic in topics:
        statements |= parse_statements(texts[topic].read_text("utf-8"), prefix=f"{name}.")
    return Schema(name, tuple(texts[one].read_text("utf-8") for one in migrations), statements)


def _in_order(names: Iterable[str], folder: str) -> list[str]:
    """Return the names of migrations in order, which are 0001_..., 0002_... without a gap."""
    ordered = sorted(names)
    numbers = {name: int(found[1]) for name in ordered if (found := _MIGRATION.match(name))}
    by_number = {number: name for name, number in reversed(numbers.items())}
    free = max(by_number, default=0) + 1
    for name in ordered:
        if not numbers.get(name):
            remedy = f"rename it to {_renamed(name, free)} if it is a migration"
            raise MigrationMisnumbered(folder, name, "has no number", remedy)
        if (other := by_number[numbers[name]]) != name:
            remedy = f"give the newer of the two the number {free:04}"
            raise MigrationMisnumbered(folder, name, f"has the same number as {other}", remedy)
    for position, name in enumerate(ordered, start=1):
        if numbers[name] != position:
            remedy = f"rename it to {_renamed(name, position)}, or put the missing file back"
            raise MigrationMisnumbered(folder, name, f"is number {position} in its folder", remedy)
    return ordered


def _renamed(name: str, number: int) -> str:
    words = re.findall(r"\w+", re.sub(r"^[\d_]+", "", name.removesuffix(".sql")))
    return f"{number:04}_{'_'.join(words) or 'NAME'}.sql"


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
