"""Check a PostgreSQL server: what it promises, its connections, and the processes that share it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from channels.checkup import CheckResult
from gateway.doctor import database_troubles as troubles
from gateway.doctor import server_troubles
from gateway.doctor.checks.database import SEARCH, index_result
from gateway.doctor.overview import Overview, look_over
from gateway.doctor.results import ill, noted, well
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from gateway.wording import counted
from tape.errors import StoreMoved, StoreUnavailable, StoreUnusable
from tape.stores.postgres.report import (
    ServerReport,
    VectorReport,
    deafness,
    look,
    look_at_index,
    look_at_vectors,
)
from tape.stores.postgres.store import search_schema, tape_schema

CHECK: Final = "database"
WORKERS: Final = "workers"
LISTENING: Final = "listening"


def look_at_server(url: str, connections: int) -> list[CheckResult]:
    """Ask the server of a URL; nothing is changed or locked.

    `connections` is how many a process may have, beside the one that listens.
    """
    schemas = [tape_schema(), search_schema(), ledger_schema("postgres"), sharing_schema()]
    try:
        found = look(url, schemas)
        if found.is_old or found.encoding != "UTF8" or found.is_standby or found.is_read_only:
            return [ill(CHECK, server_troubles.SERVER_UNFIT, f"{found.place} is {_kind(found)}")]
        if found.newer:
            says = f"{found.place}: {', '.join(found.newer)}"
            return [ill(CHECK, troubles.DATABASE_NEWER, says)]
        overview = look_over(url)
    except StoreMoved as cause:
        return [ill(CHECK, troubles.DATABASE_MOVED, str(cause).partition(":")[0])]
    except StoreUnusable as cause:
        return [ill(CHECK, troubles.DATABASE_URL, str(cause))]
    except StoreUnavailable as cause:
        return [ill(CHECK, server_troubles.SERVER_AWAY, str(cause))]
    live = sum(one.is_live for one in overview.processes)
    return [*_promises(found, live, connections + 1), *_processes(overview, live)]


def look_at_listening(url: str, listen_url: str) -> list[CheckResult]:
    """Ask whether what is sent to the database of a URL is heard at the URL to listen to."""
    try:
        deaf = deafness(url, listen_url)
    except StoreUnavailable as cause:
        return [ill(LISTENING, server_troubles.DEAF, str(cause), "warning")]
    except StoreUnusable:
        says = "TAPEWAY_SHARING__LISTEN_URL cannot be read"
        return [ill(LISTENING, server_troubles.DEAF, says, "warning")]
    if deaf:
        return [ill(LISTENING, server_troubles.DEAF, deaf.partition(":")[0], "warning")]
    return [well(LISTENING, "what other processes send is heard at TAPEWAY_SHARING__LISTEN_URL")]


def look_at_server_index(url: str, *, by_meaning: bool = False) -> list[CheckResult]:
    """Ask the server of a URL about its search index, and what compares vectors there."""
    try:
        found = look_at_index(url)
        vectors = look_at_vectors(url) if by_meaning else None
    except (StoreUnavailable, StoreUnusable):
        return []  # what is known of the database says why
    meaning = [] if vectors is None else [_vectors_result(vectors)]
    if found is None:
        return [noted(SEARCH, "not checked: no gateway has built the index here yet"), *meaning]
    return [index_result({"problem": found.problem, "left": found.left}), *meaning]


def _vectors_result(found: VectorReport) -> CheckResult:
    if found.installed:
        return well(SEARCH, f"pgvector {found.installed} compares the vectors of searches")
    here = "the gateway compares the vectors of searches itself"
    if found.available:
        says = f"{here}, but the server has pgvector {found.available}"
        return ill(SEARCH, server_troubles.PGVECTOR_UNUSED, says, "note")
    return well(SEARCH, f"{here}, as the server has no pgvector")


def _kind(found: ServerReport) -> str:
    if found.is_standby:
        return "a standby"
    if found.is_read_only:
        return "read-only: default_transaction_read_only is on"
    return f"PostgreSQL {found.version // 10000}, {found.encoding}"


def _promises(found: ServerReport, live: int, each: int) -> Iterator[CheckResult]:
    fsync = f"fsync is {'on' if found.fsync else 'off'}"
    kept = f"{fsync}, synchronous_commit is {found.synchronous_commit}"
    is_safe = found.fsync and found.synchronous_commit != "off"
    yield well(
        CHECK,
        f"PostgreSQL {found.version // 10000} at {found.place} answers{is_safe * f'; {kept}'}",
        version=found.version,
        max_connections=found.max_connections,
        standbys=found.standbys,
    )
    if found.older:
        yield ill(CHECK, troubles.DATABASE_OLDER, f"{found.place} has older tables", "note")
    if not is_safe:
        yield ill(CHECK, server_troubles.SERVER_UNSAFE, kept, "warning")
    if found.statement_timeout != "0":
        says = f"{found.place} ends statements after {found.statement_timeout}"
        yield ill(CHECK, server_troubles.SERVER_IMPATIENT, says, "warning")
    if found.standbys and not found.synchronous:
        says = f"{counted(found.standbys, 'standby follows', 'standbys follow')} {found.place}"
        yield noted(CHECK, f"{says} asynchronously: failover may lose what was just accepted")
    needed = max(live, 1) * each
    if min(found.max_connections - needed, found.free_connections - each) < 0:
        says = (
            f"{found.place} allows {found.max_connections} connections, of which"
            f" {found.free_connections} are free; {counted(max(live, 1), 'process', 'processes')}"
            f" may need {needed}"
        )
        yield ill(CHECK, server_troubles.SERVER_CROWDED, says, "warning")


def _processes(found: Overview, live: int) -> Iterator[CheckResult]:
    if live > 1:
        yield well(WORKERS, f"{live} processes share the database")
    if differences := found.differences():
        says = "; ".join(differences)
        yield ill(WORKERS, server_troubles.WORKERS_DIFFER, says, "warning")
    if live and found.overdue:
        says = ", ".join(f"{kind} {name}" for kind, name in found.overdue)
        yield ill(WORKERS, server_troubles.LEASE_OVERDUE, says, "warning")
