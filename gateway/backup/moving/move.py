"""Begin, continue, end and undo a move between SQLite, or files, and PostgreSQL.

The source is marked before anything is copied, and says afterwards where its chats are; the target
is marked until it has everything. So of both databases at most one opens at any moment, and what
was copied stays right. The target knows how far each table is.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gateway.backup.archive import Progress
from gateway.backup.manifest import IMAGES, LEDGER, BackupError
from gateway.backup.moving.comparison import Digests, differences, digests_of
from gateway.backup.moving.images import images_to_rows, rows_to_images
from gateway.backup.moving.postgres_side import PostgresSide
from gateway.backup.moving.side import DONE, MovingSide
from gateway.backup.moving.sqlite_side import FileSide, SqliteSide
from gateway.backup.moving.tables import Cells, MovedTable, moved_tables
from gateway.home import locked
from gateway.settings import Settings
from gateway.storage.database_lock import database_locked
from tape.database.relocation import SOURCE, TARGET, Relocation, refuse_moved
from tape.entry import dump, load, utc_iso

ROWS: Final = 20_000
BYTES: Final = 16 * 1024 * 1024
"""What is written in one transaction: about so much, whichever is reached first."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A finished move, and what both databases have."""

    source: str
    target: str
    found: Digests
    images: int


def move(settings: Settings, to: str, progress: Progress) -> Moved:
    """Move a home's tapes and ledger; raises GatewayError or TapeError.

    What was moved by an earlier call, which was cut off, stays.
    """
    with _stopped(settings, to), ExitStack() as opened:
        source = opened.enter_context(closing(_source(settings)))
        target = opened.enter_context(closing(_target(to)))
        here, there = begin(source, target)
        for table in moved_tables():
            _copy(source, target, table, progress)
        target.settle()
        images = _move_images(settings.home_path / IMAGES, source, target, progress)
        found = _compared(source, target, progress)
        now, own = utc_iso(datetime.now(UTC)), str(settings.workspace_path.resolve())
        source.mark(replace(here, ended_at=now))
        target.finish(replace(there, ended_at=now), own, source.workspace(own))
        return Moved(source.place, target.place, found, len(images))


def undo(settings: Settings) -> Relocation:
    """Remove the mark of a database from which chats were moved, and return it."""
    with _stopped(settings), closing(_source(settings)) as side:
        for one in side.marks():
            if one.role == SOURCE:
                side.unmark(one)
                return one
        refuse_moved(side.place, side.marks())
    raise BackupError(f"nothing is to be undone: {side.place} was not moved to another database")


@contextmanager
def _stopped(settings: Settings, *others: str) -> Iterator[None]:
    """Hold the locks of a home, its database, and of other databases."""
    with ExitStack() as held:
        held.enter_context(locked(settings.home_path))
        for url in (settings.tape.url, *others):
            tape = settings.tape.model_copy(update={"url": url})
            held.enter_context(database_locked(settings.model_copy(update={"tape": tape})))
        yield


def _source(settings: Settings) -> MovingSide:
    scheme, path = _parts(settings.tape_url)
    if scheme == "postgresql":
        return PostgresSide(settings.tape_url)
    ledger = settings.home_path / LEDGER
    if scheme == "file":
        return FileSide(path, ledger)
    if scheme != "sqlite" or (ledger.exists() and not path.exists()):
        raise BackupError(
            "the tapes are in memory, or in the store of a plugin: only SQLite, files and"
            " PostgreSQL can be moved"
        )
    return SqliteSide(path)


def _target(to: str) -> MovingSide:
    scheme, path = _parts(to)
    return PostgresSide(to) if scheme == "postgresql" else SqliteSide.make(path)


def require_pair(settings: Settings, to: str) -> None:
    """Raise BackupError unless exactly one of two addresses is of PostgreSQL."""
    schemes = {_parts(settings.tape_url)[0], _parts(to)[0]}
    if _parts(to)[0] not in ("sqlite", "postgresql") or not _parts(to)[1].is_absolute():
        raise BackupError(
            "name where to: --to postgresql://user@host/database, or --to sqlite:///folder/file.db"
        )
    if schemes == {"postgresql"}:
        raise BackupError("from one PostgreSQL to another, use pg_dump and pg_restore")
    if "postgresql" not in schemes:
        raise BackupError(
            "`tapeway migrate` moves to PostgreSQL or back: for another file, use `tapeway backup`"
            " and `tapeway restore`"
        )


def _parts(url: str) -> tuple[str, Path]:
    scheme, _, rest = url.partition("://")
    return scheme, Path(rest.partition("?")[0]) if scheme != "postgresql" else Path("/")


def begin(source: MovingSide, target: MovingSide) -> tuple[Relocation, Relocation]:
    """Begin a move, or find the one that was begun; return the marks of both sides."""
    here = next((one for one in source.marks() if one.role == SOURCE), None)
    there = {one.token: one for one in target.marks()}
    refuse_moved(source.place, [one for one in source.marks() if one.role == TARGET])
    if here is not None and here.token in there:
        if there[here.token].ended_at:
            refuse_moved(source.place, [here])
        return here, there[here.token]
    if here is not None and (here.ended_at or here.place != target.place):
        refuse_moved(source.place, [here])
    refuse_moved(target.place, there.values())
    _require_empty(target)
    if not any(source.count(table) for table in moved_tables()):
        raise BackupError(f"there is nothing to move: {source.place} is empty")
    if isinstance(source, PostgresSide):
        source.require_nothing_asked()
    is_new = here is None
    now = utc_iso(datetime.now(UTC))
    here = here or Relocation(secrets.token_hex(8), SOURCE, target.place, now)
    mark = Relocation(here.token, TARGET, source.place, here.begun_at)
    try:
        source.mark(here)
        target.mark(mark)
        source.require_alone()  # whoever has come since the first look did not see the marks
        target.require_alone()
        _require_empty(target)
    except BackupError:
        target.unmark(mark)
        if is_new:
            source.unmark(here)
        raise
    return here, mark


def _require_empty(target: MovingSide) -> None:
    for table in moved_tables():
        if target.count(table):
            raise BackupError(
                f"{target.place} is not empty (it has rows in {table.name}): name an empty"
                " database; nothing was changed"
            )


def _move_images(
    folder: Path, source: MovingSide, target: MovingSide, progress: Progress
) -> dict[str, int]:
    if isinstance(target, PostgresSide):
        return images_to_rows(folder, target.connection, progress)
    assert isinstance(source, PostgresSide)
    return rows_to_images(source.connection, folder, progress)


def _copy(source: MovingSide, target: MovingSide, table: MovedTable, progress: Progress) -> None:
    step = target.step(table)
    if step == DONE:
        return
    whole, done = source.count(table), target.count(table) if step else 0
    for piece in _pieces(source.rows(table, load(step) if step else ()), table):
        target.write(table, piece, dump(table.key_of(piece[-1])))
        done += len(piece)
        progress(f"moving {table.name}", done, whole)
    target.write(table, (), DONE)


def _pieces(rows: Iterator[Cells], table: MovedTable) -> Iterator[list[Cells]]:
    content = table.columns.index("payload") if "payload" in table.columns else None
    piece: list[Cells] = []
    size = 0
    for row in rows:
        piece.append(row)
        size += len(row[content]) if content is not None else 0
        if len(piece) >= ROWS or size >= BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _compared(source: MovingSide, target: MovingSide, progress: Progress) -> Digests:
    whole = 2 * sum(source.count(table) for table in moved_tables())
    seen = 0

    def saw(rows: int) -> None:
        nonlocal seen
        seen += rows
        progress("comparing", seen, whole)

    found, copied = digests_of(source, saw), digests_of(target, saw)
    if differ := differences(found, copied):
        raise BackupError(
            f"{target.place} does not have what {source.place} has: {', '.join(differ[:5])}"
            f" differ{'' if len(differ) > 1 else 's'}. It is not used: run `tapeway migrate --undo`"
            " to go on as before, and report this"
        )
    return found
