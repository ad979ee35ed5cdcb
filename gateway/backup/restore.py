"""Unpack a backup into an empty home, where nothing from it is answered or sent by itself."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import apsw
import tomlkit

from gateway.backup.archive import Progress, extract, verify
from gateway.backup.manifest import DATABASE, LEDGER, SETTINGS, TAPES, BackupError, Manifest
from gateway.home import LOCK, RESTORING, is_locked, locked
from gateway.storage.holding import alias_workspace, hold_all, skip_row_ids
from gateway.storage.ledger.ledger import ledger_schema
from gateway.wording import megabytes
from tape.database.connection import Database, run_step
from tape.errors import TapeError
from tape.stores.sqlite import tape_schema
from tape.unit_of_work import Run, Unit

WORKSPACE: Final = "workspace"


def restore(path: Path, home: Path, progress: Progress) -> Manifest:
    """Restore a backup into an empty or missing folder; raises BackupError, and changes nothing.

    The folder's database has its rows held before it gets its name, so that no gateway can send
    them.
    """
    manifest = verify(path, progress)
    manifest.require_readable()
    _require_stopped(manifest)
    _require_empty(home)
    with locked(home):
        _require_empty(home)
        _require_room(home, manifest)
        with _staging(home) as staging:
            extract(path, manifest, staging, progress)
            try:
                if manifest.has_chats:
                    _hold(staging, home, manifest)
                _settle(staging, home, manifest)
            except (apsw.Error, TapeError, ValueError, TypeError) as cause:
                raise BackupError(
                    f"what is in {path} cannot be used ({cause}): use another backup; nothing was"
                    " changed"
                ) from cause
            _publish(staging, home)
    return manifest


def _require_stopped(manifest: Manifest) -> None:
    old = Path(manifest.home)
    if manifest.host == platform.node() and is_locked(old):
        raise BackupError(
            f"the gateway of this backup still runs in {old}: stop it first, since two gateways"
            " with the same tokens would take each other's messages; nothing was changed"
        )


def _require_empty(home: Path) -> None:
    if not home.exists():
        return
    try:
        found = sorted(one.name for one in home.iterdir() if one.name != LOCK)
    except OSError as cause:
        raise BackupError(f"{home} is no folder that can be used ({cause.strerror})") from cause
    if RESTORING in found:
        raise BackupError(
            f"an earlier restore into {home} was cut off: delete what it left there"
            f" ({', '.join(found)}), and start again"
        )
    if found:
        raise BackupError(
            f"{home} is not empty (it has {', '.join(found[:3])}): name another folder with --to,"
            " or move it away; nothing was changed"
        )


def _require_room(home: Path, manifest: Manifest) -> None:
    needed = 2 * sum(size for size, _digest in manifest.members.values())
    free = shutil.disk_usage(home).free
    if free < needed:
        raise BackupError(
            f"{home} has {megabytes(free)} left, and the backup needs {megabytes(needed)}"
        )


@contextmanager
def _staging(home: Path) -> Iterator[Path]:
    staging = home / RESTORING
    staging.mkdir(mode=0o700)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _hold(staging: Path, home: Path, manifest: Manifest) -> None:
    """Migrate the restored database, hold what is open in it, and keep the names of its tapes."""
    name = DATABASE if DATABASE in manifest.members else LEDGER
    database = Database.open(staging / name, (tape_schema(), ledger_schema()))
    unit = Unit()
    hold_all(unit, datetime.now(UTC), manifest.taken_at)
    unit.run("ledger.drop_room_pieces")
    if name == LEDGER:
        skip_row_ids(unit, manifest.taken_at)
    own = home / WORKSPACE
    if not manifest.chosen and str(own.resolve()) != manifest.workspace:
        alias_workspace(unit, own, manifest.workspace)
    with closing(database.writer()) as connection:
        with connection:
            for step in unit.steps:
                assert isinstance(step, Run)
                run_step(connection, database.statements, step, ())
        connection.pragma("journal_mode", "delete")  # one file, to be renamed


def _settle(staging: Path, home: Path, manifest: Manifest) -> None:
    """Point the settings at the tapes' new folder."""
    if any(name.startswith(f"{TAPES}/") for name in manifest.members):
        toml = staging / SETTINGS
        document = tomlkit.parse(toml.read_text("utf-8"))
        document.setdefault("tape", {})["url"] = f"file://{home / TAPES}"
        toml.write_text(tomlkit.dumps(document), "utf-8")


def _publish(staging: Path, home: Path) -> None:
    moved: list[Path] = []
    try:
        for one in sorted(staging.iterdir(), key=lambda path: path.suffix == ".db"):
            if os.path.lexists(home / one.name):
                raise BackupError(f"{home / one.name} appeared meanwhile: start again")
            one.rename(home / one.name)
            moved.append(home / one.name)
    except (OSError, BackupError):
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise
