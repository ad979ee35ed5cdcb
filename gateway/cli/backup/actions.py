"""Back up, verify, restore and migrate a home, with progress on a terminal."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gateway.backup.archive import verify
from gateway.backup.backup import HomeData, back_up
from gateway.backup.manifest import AGENTS, BackupError, Manifest
from gateway.backup.migration import apply_migrations, find_versions
from gateway.backup.restore import restore
from gateway.cli.screen import hanging, safe
from gateway.home import find_running
from gateway.printing import print_err, print_out
from gateway.settings import Settings
from gateway.wording import counted, megabytes


def _end(_signal: int, _frame: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


class ProgressLine:
    """Shows progress in one line of a terminal, and nothing elsewhere.

    A command that shows progress writes much: a polite end by SIGTERM lets it remove that.
    """

    def __init__(self) -> None:
        self._shown_at = 0.0
        self._is_shown = sys.stderr.isatty()
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGTERM, _end)

    def __call__(self, what: str, done: int, whole: int) -> None:
        if self._is_shown and time.monotonic() - self._shown_at > 0.1:
            self._shown_at = time.monotonic()
            percent = f" {100 * done // whole} %" if whole and done else ""
            print_err(f"\r\x1b[K{safe(what[:60])}{percent}", end="")

    def clear(self) -> None:
        if self._is_shown:
            print_err("\r\x1b[K", end="")


def back_up_home(settings: Settings, file: str) -> int:
    if file == "-":
        raise BackupError("a backup is a file: name it, or a folder")
    HomeData.of(settings)  # before a folder is made
    path = _new_file(file)
    progress = ProgressLine()
    try:
        manifest = back_up(settings, path, progress)
    finally:
        progress.clear()
    print_out(safe(f"{path} ({megabytes(path.stat().st_size)})"))
    say(f"It has {_counts(manifest)}.")
    if manifest.secrets:
        say(f"Not in it, since they are secret: {', '.join(manifest.secrets)}")
    if not manifest.has_chats:
        say("Not in it: the chats, which are in PostgreSQL. Save them with")
        print_out(f"pg_dump --format=custom --file=tapeway.dump --dbname={_server(settings)}")
    rest = "the rest of " if AGENTS in manifest.members else ""
    say(f"Not in it: {rest}the agent's folder {settings.workspace_path}")
    return 0


def _new_file(given: str) -> Path:
    """Return the file to write: what ends with .zip is a file, and all else a folder for one."""
    path = Path(given).expanduser().absolute() if given else Path.cwd()
    if not path.exists() and (given.endswith("/") or path.suffix != ".zip"):
        try:
            path.mkdir(mode=0o700, parents=True)
        except OSError as cause:
            raise BackupError(
                f"the folder {path} cannot be created ({cause.strerror}): name another one, or a"
                " file that ends with .zip"
            ) from cause
    if path.is_dir():
        path /= f"tapeway-{datetime.now(UTC):%Y-%m-%d-%H%M%S}.zip"
    return path


def _server(settings: Settings) -> str:
    database: ModuleType = import_module("tape.stores.postgres.database")
    return shlex.quote(database.without_password(settings.tape_url))


def verify_file(_settings: Settings, file: str) -> int:
    if not file:
        raise BackupError("name the file to verify: tapeway backup --verify FILE")
    progress = ProgressLine()
    try:
        manifest = verify(Path(file).expanduser(), progress)
    finally:
        progress.clear()
    taken = f"taken on {_moment(manifest)} by Tapeway {manifest.tapeway}."
    say(f"{file} is intact: {_counts(manifest)}, {taken}")
    manifest.require_readable()
    return 0


def restore_home(settings: Settings, file: str, to: str) -> int:
    home = Path(to).expanduser().absolute() if to else settings.home_path
    progress = ProgressLine()
    try:
        manifest = restore(Path(file).expanduser(), home, progress)
    finally:
        progress.clear()
    say(f"Restored into {home}: {_counts(manifest)}, as of {_moment(manifest)}.")
    if left := manifest.counts.get("open"):
        say(
            f"Held: {counted(left, 'open message or send', 'open messages and sends')}, so that"
            " nothing is answered or sent twice. `tapeway ledger list --status held` lists what is"
            " held, and `tapeway ledger resume` lets it go on."
        )
    if manifest.has_chats:
        say("Messages from before this restore are only recorded, never answered by themselves.")
    if manifest.secrets:
        say(f"Set these again, since they are not in a backup: {', '.join(manifest.secrets)}")
    if not manifest.has_chats:
        say("The chats are not in it: restore them with pg_restore, and name TAPEWAY_TAPE__URL.")
    elif settings.tape.url:
        say(f"Unset TAPEWAY_TAPE__URL, or the gateway does not use what is in {home}.")
    if manifest.chosen and AGENTS in manifest.members:
        say(f"If {manifest.workspace} has no AGENTS.md, copy {home / AGENTS} there.")
    print_out("Before you start it, make sure that the old gateway is stopped for good.")
    return 0


async def migrate_home(settings: Settings, apply: bool) -> int:
    if settings.tape_url.startswith("postgresql:"):
        if apply:
            await apply_migrations(settings)
            print_out("The database has the tables of this version.")
        else:
            print_out(
                "PostgreSQL's tables are made and migrated by `tapeway migrate --apply`, and by the"
                " start of a gateway. Save them with pg_dump first."
            )
        return 0
    versions = find_versions(settings)
    if not versions:
        print_out("There is no database yet: the first start makes one.")
        return 0
    missing = any(one.found < one.known for one in versions)
    for one in versions:
        print_out(f"{one.name}: version {one.found} of {one.known} in {one.path}")
    if not missing:
        print_out("Nothing is to be done.")
        return 0
    if not apply:
        print_out(
            "Migrations only go forward. Save a backup first: tapeway backup\n"
            "Then migrate with `tapeway migrate --apply`, or start the gateway."
        )
        return 0
    if find_running(settings.home_path) is not None:
        raise BackupError("the gateway of this home runs: stop it first, or restart it to migrate")
    print_out(f"Migrated in {await apply_migrations(settings):.1f} s.")
    return 0


def say(sentence: str) -> None:
    print_out("\n".join(hanging("", safe(sentence), 2)))


def _counts(manifest: Manifest) -> str:
    singular = {"entries": "entry", "open": "open"}
    return ", ".join(
        counted(count, singular.get(name, name.removesuffix("s")), name)
        for name, count in manifest.counts.items()
    )


def _moment(manifest: Manifest) -> str:
    return safe(f"{manifest.taken_at[:19].replace('T', ' ')} UTC")
