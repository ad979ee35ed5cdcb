"""Copy a home's databases, tapes and images into an archive, also while its gateway runs.

A database is copied as of one moment, by SQLite's own backup. Tapes in files are copied after their
ledger, up to the first entry of a message that the ledger does not have.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

import apsw

from gateway.backup.archive import ArchiveWriter, Progress, new_archive
from gateway.backup.manifest import (
    AGENTS,
    DATABASE,
    IMAGES,
    LEDGER,
    SETTINGS,
    TAPES,
    BackupError,
    Manifest,
    is_member,
    known_schemas,
    public_settings,
    refuse_newer,
    secret_names,
)
from gateway.settings import Settings
from gateway.wording import megabytes
from tape.database.connection import refuse_foreign, wait_for_others
from tape.entry import utc_iso
from tape.stores.jsonl.line import unseal

PAGES: Final = 2_000  # that are copied at once
_ROOM: Final = 64 * 1024 * 1024
"""Bytes that a backup leaves free, since the gateway may write to the same disk."""

MAX_AGENTS: Final = 1_000_000  # bytes; a model gets less of it

_MESSAGE_KEY: Final = re.compile(rb'"key":"inbox:(\d+)')
_COUNTS: Final = {
    "entries": "SELECT count(*) FROM entry",
    "tapes": "SELECT count(*) FROM tape",
    "messages": "SELECT count(*) FROM inbox",
    "sends": "SELECT count(*) FROM outbox WHERE status <> 'draft'",
    "open": "SELECT (SELECT count(*) FROM inbox WHERE status IN ('accepted', 'waiting', 'taken'))"
    " + (SELECT count(*) FROM outbox WHERE status IN ('pending', 'sending'))",
}


@dataclass(frozen=True, slots=True)
class HomeData:
    """Where a home's data is; `tapes` is None unless they are files.

    `database` is None if a server has it.
    """

    database: Path | None
    member: str
    tapes: Path | None

    @classmethod
    def of(cls, settings: Settings) -> HomeData:
        """Find the data of a home; raises BackupError if nothing is on the disk."""
        scheme, _, rest = settings.tape_url.partition("://")
        if scheme == "postgresql":
            return cls(None, "", None)
        path, ledger = Path(rest.partition("?")[0]), settings.home_path / LEDGER
        if scheme == "sqlite" and path.exists():
            return cls(path, DATABASE, None)
        if ledger.exists():  # beside tapes in files, or in the store of a plugin
            return cls(ledger, LEDGER, path if scheme == "file" else None)
        raise BackupError(
            f"there is nothing to back up: {settings.home_path} has no database yet"
            if scheme != "memory"
            else "there is nothing to back up: the tapes are in memory only"
        )

    def tape_files(self) -> list[Path]:
        found = sorted(self.tapes.glob("*.jsonl")) if self.tapes is not None else []
        return [path for path in found if is_member(f"{TAPES}/{path.name}")]


def back_up(settings: Settings, path: Path, progress: Progress) -> Manifest:
    """Write a backup to a new file, and return what is in it; raises BackupError."""
    sources = HomeData.of(settings)
    images = settings.home_path / IMAGES
    with new_archive(path, progress) as archive:
        _require_room(path.parent, sources, images)
        copy = archive.folder / "copy.db"
        taken_at = utc_iso(datetime.now(UTC))
        schemas, counts, newest = known_schemas(), dict[str, int](), 0
        workspace = str(settings.workspace_path.resolve())
        if sources.database is not None:
            schemas = copy_database(sources.database, copy, progress)
            counts, newest, workspace = _describe(copy, workspace)
        for tape in sources.tape_files():
            with tape.open("rb") as file:
                size, entries = _end_of(file, newest)
                file.seek(0)
                archive.add(f"{TAPES}/{tape.name}", file, size)
            counts["entries"] += entries
            counts["tapes"] += 1
        counts["images"] = sum(_add_image(archive, image) for image in sorted(images.glob("*")))
        agents = settings.workspace_path / Path(AGENTS).name
        if agents.is_file() and agents.stat().st_size <= MAX_AGENTS:
            _add_file(archive, AGENTS, agents)
        toml = archive.folder / "settings"
        toml.write_text(public_settings(settings), "utf-8")
        for name, source in ((sources.member, copy), (SETTINGS, toml)):
            if not name:
                continue
            with source.open("rb") as file:
                archive.add(name, file, source.stat().st_size)
        manifest = Manifest(
            taken_at=taken_at,
            host=platform.node(),
            home=str(settings.home_path),
            workspace=workspace,
            chosen=settings.workspace is not None,
            secrets=tuple(secret_names(settings)),
            schemas=schemas,
            counts=counts,
        )
        return archive.finish(manifest)


def copy_database(source: Path, target: Path, progress: Progress) -> dict[str, int]:
    """Copy a database as of now while others write to it; return the versions of its tables."""
    try:
        with (
            closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as origin,
            closing(apsw.Connection(str(target))) as copy,
        ):
            wait_for_others(origin)
            refuse_foreign(origin, source)
            # In a transaction, all pages are of one moment, and writers need not wait.
            origin.execute("BEGIN")
            rows = origin.execute("SELECT name, max(version) FROM migration GROUP BY name")
            schemas = {str(name): int(number) for name, number in rows}
            refuse_newer(source, schemas)
            with copy.backup("main", origin, "main") as work:
                while not work.done:
                    work.step(PAGES)
                    done = work.page_count - work.remaining
                    progress("copying the database", done, work.page_count)
            copy.pragma("journal_mode", "delete")
            if copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'room_piece'").get:
                copy.pragma("secure_delete", True)
                copy.execute("DELETE FROM room_piece")  # it is made of the tapes again
    except apsw.FullError as cause:
        raise OSError(28, "no space left on the device") from cause
    except apsw.Error as cause:
        raise BackupError(
            f"{source} cannot be copied ({cause}): check the disk, then try again"
        ) from cause
    return schemas


def _describe(copy: Path, workspace: str) -> tuple[dict[str, int], int, str]:
    """Return a copy's counts, its newest message, and the workspace that its tapes belong to."""
    with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        counts = {name: int(connection.execute(sql).get) for name, sql in _COUNTS.items()}
        newest = int(connection.execute("SELECT coalesce(max(id), 0) FROM inbox").get)
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'workspace'").get:
            same_as = "SELECT same_as FROM workspace WHERE path = ?"
            workspace = connection.execute(same_as, (workspace,)).get or workspace
    return counts, newest, workspace


def _end_of(file: BinaryIO, newest: int) -> tuple[int, int]:
    """Return how many bytes of a tape's file, and how many entries, belong to a ledger."""
    end = entries = 0
    left = os.fstat(file.fileno()).st_size  # what is appended from now on is newer
    for line in file:
        left -= len(line)
        if left < 0 or not line.endswith(b"\n") or _is_newer(line, newest):
            break
        end, entries = end + len(line), entries + 1
    return end, entries


def _is_newer(line: bytes, newest: int) -> bool:
    if not any(int(number) > newest for number in _MESSAGE_KEY.findall(line)):
        return False  # a look at the bytes is enough for nearly every line
    try:
        key = (unseal(line).key or "").split(":")
    except ValueError:
        return False
    return key[0] == "inbox" and key[1].isdigit() and int(key[1]) > newest


def _add_image(archive: ArchiveWriter, image: Path) -> bool:
    if not is_member(f"{IMAGES}/{image.name}") or image.is_symlink() or not image.is_file():
        return False
    return _add_file(archive, f"{IMAGES}/{image.name}", image)


def _add_file(archive: ArchiveWriter, name: str, path: Path) -> bool:
    try:
        with path.open("rb") as file:
            archive.add(name, file, os.fstat(file.fileno()).st_size)
    except FileNotFoundError:  # erased meanwhile
        return False
    return True


def _sizes(sources: HomeData, images: Path) -> Iterator[int]:
    own = [Path(f"{sources.database}{end}") for end in ("", "-wal") if sources.database]
    for path in (*own, *sources.tape_files(), *images.glob("*")):
        if path.is_file():
            yield path.stat().st_size


def _require_room(folder: Path, sources: HomeData, images: Path) -> None:
    needed = 2 * sum(_sizes(sources, images)) + _ROOM
    try:
        free = shutil.disk_usage(folder).free
    except OSError as cause:
        raise BackupError(f"there is no folder {folder}: create it, or name another") from cause
    if free < needed:
        raise BackupError(
            f"{folder} has {megabytes(free)} left, and a backup may need {megabytes(needed)}:"
            " free some space, or name a folder on another disk"
        )
