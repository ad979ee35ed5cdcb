"""Move the images that people sent: files of the home, and rows of PostgreSQL."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg

from gateway.backup.archive import Progress
from gateway.backup.manifest import IMAGES, BackupError, is_member
from tape.private_file import open_private
from tape.stores.postgres.database import translated

_KNOWN: Final = "SELECT name, size FROM shared_file ORDER BY name"
_KEEP: Final = "INSERT INTO shared_file (name, size, kept_at, data) VALUES (%s, %s, %s, %s)"
_READ: Final = "SELECT data FROM shared_file WHERE name = %s"
_KEPT: Final = "SELECT name, kept_at FROM shared_file ORDER BY name"


def images_to_rows(
    folder: Path, connection: psycopg.Connection[Any], progress: Progress
) -> dict[str, int]:
    """Put the images that are missing into a database; return the sizes of all in the folder."""
    found = {
        path.name: path.stat().st_size
        for path in sorted(folder.glob("*"))
        if is_member(f"{IMAGES}/{path.name}") and not path.name.startswith(".") and path.is_file()
    }
    with translated():
        known = dict(connection.execute(_KNOWN).fetchall())
        for number, (name, size) in enumerate(found.items(), start=1):
            if name not in known:
                path = folder / name
                kept = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                dated = kept.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
                connection.execute(_KEEP, (name, size, dated, path.read_bytes()))
            progress("moving images", number, len(found))
        _require_same(found, dict(connection.execute(_KNOWN).fetchall()))
    return found


def rows_to_images(
    connection: psycopg.Connection[Any], folder: Path, progress: Progress
) -> dict[str, int]:
    """Write the images that a folder lacks; return the sizes of all in the database.

    A file's time is when it was kept, since the oldest go first.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with translated():
        known = dict(connection.execute(_KNOWN).fetchall())
        for number, (name, size) in enumerate(known.items(), start=1):
            path = folder / Path(name).name
            if not path.exists() or path.stat().st_size != size:
                row = connection.execute(_READ, (name,)).fetchone()
                part = folder / f".{path.name}.moved"
                with os.fdopen(
                    open_private(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb"
                ) as file:
                    file.write(row[0] if row else b"")
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(path)
            progress("moving images", number, len(known))
        for name, dated in connection.execute(_KEPT).fetchall():
            kept = datetime.fromisoformat(dated).replace(tzinfo=UTC).timestamp()
            os.utime(folder / Path(name).name, (kept, kept))
    there = {name: (folder / Path(name).name).stat().st_size for name in known}
    _require_same(known, there)
    return known


def _require_same(wanted: dict[str, int], there: dict[str, int]) -> None:
    if unlike := [name for name, size in wanted.items() if there.get(name) != size]:
        raise BackupError(f"the image {unlike[0]} is not what it was: run `tapeway migrate` again")
