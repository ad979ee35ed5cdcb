"""Check the database and the search index beside it, over read-only connections."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

import apsw
import httpx2
from anyio import to_thread

from channels.checkup import CheckResult
from gateway.doctor import database_troubles as troubles
from gateway.doctor.checks.running import ask
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import Subject
from gateway.home import is_locked
from gateway.settings.intervals import Intervals
from gateway.storage.ledger.ledger import ledger_schema
from gateway.wording import counted, megabytes
from tape.database.connection import Database, wait_for_others
from tape.errors import StoreMoved, StoreTooNew, StoreUnavailable, StoreUnusable
from tape.search.index_file import BROKEN, IndexFile, index_schema
from tape.stores.registry import is_tapes_only
from tape.stores.sqlite import tape_schema

CHECK: Final = "database"
SEARCH: Final = "search"
STEPS: Final = 10_000
"""SQLite's steps between two looks at the time, a millisecond or so."""


async def check_database(subject: Subject) -> list[CheckResult]:
    url, path = subject.settings.tape_url, subject.database
    try:
        only_tapes = is_tapes_only(url)
    except StoreUnusable as cause:
        return [ill(CHECK, troubles.DATABASE_URL, str(cause))]
    if url.startswith("postgresql:"):
        # Who has no such server does not wait for the driver to be imported.
        server = import_module("gateway.doctor.checks.server")
        ask = partial(server.look_at_server, url, subject.settings.tape.connections)
        found = await to_thread.run_sync(ask, abandon_on_cancel=True)
        if listen_url := subject.settings.sharing.listen_url.get_secret_value():
            look = partial(server.look_at_listening, url, listen_url)
            found += await to_thread.run_sync(look, abandon_on_cancel=True)
        return list(found)
    if path is None and not url.startswith("memory:"):
        return [ill(CHECK, troubles.DATABASE_URL, "TAPEWAY_TAPE__URL names no file")]
    if path is None:
        return [ill(CHECK, troubles.DATABASE_IN_MEMORY, "the tapes are in memory", "warning")]
    found = []
    lock = f"{path.name}.lock"
    if path.parent != subject.home and not subject.held and is_locked(path.parent, lock):
        says = f"another gateway uses {path}"
        found.append(ill(CHECK, troubles.DATABASE_SHARED, says))
    files = [path]
    if only_tapes:
        found.append(_folder(path))
        files = []
    with suppress(OSError):  # a home of another user
        files += subject.home.glob("ledger.db")  # of a store that keeps only tapes
    looks = [partial(_look, file, subject.intervals, subject.deep) for file in files]
    return [*found, *[await to_thread.run_sync(look, abandon_on_cancel=True) for look in looks]]


def _folder(path: Path) -> CheckResult:
    if not path.exists():
        return noted(CHECK, f"{path} does not exist yet: the first start creates it")
    if path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return well(CHECK, f"{path} holds the tapes as files")
    return ill(CHECK, troubles.DATABASE_UNREADABLE, f"{path} is no folder that can be written")


def _look(path: Path, intervals: Intervals, deep: bool) -> CheckResult:
    schemas = tape_schema(), ledger_schema()
    try:
        if path.is_symlink():
            says = f"{path} is a link: name the file that it leads to"
            return ill(CHECK, troubles.DATABASE_UNREADABLE, says)
        if not path.exists() or not path.stat().st_size:
            return noted(CHECK, f"{path} does not exist yet: the first start creates it")
        Database.open_read_only(path, schemas, intervals.database_busy).close()
        return _intact(path, intervals, deep)
    except StoreTooNew as cause:
        return ill(CHECK, troubles.DATABASE_NEWER, str(cause).partition(":")[0])
    except StoreMoved as cause:
        return ill(CHECK, troubles.DATABASE_MOVED, str(cause).partition(":")[0])
    except StoreUnusable as cause:
        return ill(CHECK, troubles.DATABASE_FOREIGN, str(cause).partition(":")[0])
    except StoreUnavailable as cause:
        return _unavailable(path, cause.__cause__)
    except (apsw.Error, OSError) as cause:
        return _unavailable(path, cause)


def _unavailable(path: Path, cause: BaseException | None) -> CheckResult:
    if cause is None:
        return ill(CHECK, troubles.DATABASE_OLDER, f"{path} has older tables", "note")
    if isinstance(cause, (apsw.BusyError, apsw.LockedError)):
        return ill(CHECK, troubles.DATABASE_LOCKED, f"{path}: {cause}", "warning")
    if isinstance(cause, (apsw.NotADBError, apsw.CorruptError, apsw.SQLError)):
        return ill(CHECK, troubles.DATABASE_DAMAGED, f"{path}: {cause}")
    return ill(CHECK, troubles.DATABASE_UNREADABLE, f"{path}: {cause}")


def _intact(path: Path, intervals: Intervals, deep: bool) -> CheckResult:
    size, seconds = path.stat().st_size, float("inf") if deep else intervals.database_check
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        wait_for_others(connection, intervals.database_busy)
        try:
            verdict = _checked(connection, "integrity_check" if deep else "quick_check", seconds)
        except apsw.InterruptError:
            says = f"{path} is too large to check in {seconds:g} s; --deep takes its time"
            return noted(CHECK, says, bytes=size)
    if verdict != "ok":
        return ill(CHECK, troubles.DATABASE_DAMAGED, f"{path}: {verdict}")
    how = "fully checked" if deep else "intact at a quick check"
    return well(CHECK, f"{path}, {megabytes(size)}, {how}", bytes=size)


def _checked(connection: apsw.Connection, pragma: str, seconds: float) -> str:
    """Return the first thing that a check finds, "ok" for nothing; raises InterruptError."""
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    return str(connection.execute(f"PRAGMA {pragma}(1)").get).replace("\n", " ")


async def check_index(subject: Subject) -> list[CheckResult]:
    path, url = subject.database, subject.settings.tape_url
    if url.startswith("postgresql:"):  # each process knows only its part of the index
        server = import_module("gateway.doctor.checks.server")
        by_meaning = bool(subject.settings.search.embedder)
        look_there = partial(server.look_at_server_index, url, by_meaning=by_meaning)
        return list(await to_thread.run_sync(look_there, abandon_on_cancel=True))
    if path is None or not url.startswith("sqlite:"):
        return []
    if subject.running is not None:
        try:
            status, state = await ask(subject.running, "/api/tapes/index")
        except httpx2.HTTPError:
            return []  # what is known of the gateway says that it is silent
        return [index_result(state)] if status == 200 and isinstance(state, dict) else []
    if subject.held or not path.exists() or not IndexFile(path).path.exists():
        return [noted(SEARCH, "not checked: no gateway has built the index here yet")]
    seconds = subject.intervals.database_check / 2
    return [await to_thread.run_sync(_look_at_index, path, seconds, abandon_on_cancel=True)]


def index_result(state: Mapping[str, object]) -> CheckResult:
    """Return the result for the state of an index, as a gateway answers it."""
    if state.get("problem"):
        return ill(SEARCH, troubles.INDEX_BROKEN, str(state["problem"]), "warning")
    if state.get("left"):
        left = int(str(state["left"]))
        says = counted(left, "older entry is not indexed yet", "older entries are not indexed yet")
        return ill(SEARCH, troubles.INDEX_BEHIND, says, "note", left=state["left"])
    return well(SEARCH, "the index has every entry")


def _look_at_index(path: Path, seconds: float) -> CheckResult:
    file = IndexFile(path)
    try:
        index = file.reader()
        if index is None:
            says = f"{file.path} is damaged, or was made by other rules"
            return ill(SEARCH, troubles.INDEX_BROKEN, says, "warning")
        with closing(index):
            verdict = _checked(index, "quick_check", seconds)
            if verdict != "ok":
                says = f"{file.path}: {verdict}"
                return ill(SEARCH, troubles.INDEX_BROKEN, says, "warning")
            rows = index.execute(index_schema().statements["search.all_covered"])
            covered = {name: (low, high) for _tape, name, low, high, _mark in rows}
        return index_result({"left": _left(path, covered)})
    except apsw.InterruptError:
        return noted(SEARCH, f"{file.path} is too large to check in {seconds:g} s")
    except BROKEN as cause:
        return ill(SEARCH, troubles.INDEX_BROKEN, f"{file.path}: {cause}", "warning")
    except (StoreUnavailable, StoreUnusable, StoreTooNew, apsw.Error) as cause:
        return noted(SEARCH, f"not checked: {cause}")


def _left(path: Path, covered: dict[str, tuple[int, int]]) -> int:
    """Return how many entries of the indexed tapes the index lacks."""
    with closing(Database.open_read_only(path, (tape_schema(),))) as reader:
        newest = {row["name"]: row["newest"] for row in reader.select("tape.newest_ids", {})}
    return sum(
        max(newest.get(name, 0) - high, 0) + low - 1 for name, (low, high) in covered.items()
    )
