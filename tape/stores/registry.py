"""Find the built-in store for the scheme of a URL; plugins may provide other stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from tape.database.schema import Schema
from tape.errors import StoreUnusable
from tape.store import STORE_LIMITS, Now, StoreLimits, TapeStore, UnitStore, utc_now
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tape.stores.urls import canonical

UNIT_STORES: Mapping[str, Callable[[str, Sequence[Schema], Now, StoreLimits], UnitStore]] = (
    MappingProxyType(
        {
            "memory": lambda _rest, schemas, now, _limits: MemoryStore(schemas, now),
            "sqlite": lambda rest, schemas, now, limits: SqliteStore.open(
                _path(rest, "sqlite:///srv/tapeway.db"), schemas, now, limits.busy_seconds
            ),
            "postgresql": lambda rest, schemas, now, limits: _postgres(
                f"postgresql:{rest}", schemas, now, limits
            ),
        }
    )
)
"""Stores with a unit of work, which can hold the ledger in the same database as the tapes."""

TAPE_STORES: Mapping[str, Callable[[str, Now], TapeStore]] = MappingProxyType(
    {"file": lambda rest, now: FileStore.open(_path(rest, "file:///srv/tapes"), now)}
)
"""Stores that hold only tapes, so that the ledger needs a separate database."""


def is_tapes_only(url: str) -> bool:
    """Return whether a URL's store has no unit of work; raises StoreUnusable."""
    scheme = canonical(url).partition(":")[0]
    if scheme not in {**UNIT_STORES, **TAPE_STORES}:
        known = ", ".join(sorted({**UNIT_STORES, **TAPE_STORES}))
        raise StoreUnusable(
            f"no tape store has the scheme {scheme!r} (known: {known}): use a URL like"
            " sqlite:///srv/tapeway.db in TAPEWAY_TAPE__URL"
        )
    return scheme in TAPE_STORES


def dialect_of(url: str) -> str:
    """Return the dialect of SQL that the schemas of a URL's store have to be in."""
    return "postgres" if canonical(url).partition(":")[0] == "postgresql" else "sqlite"


def open_store(
    url: str, schemas: Sequence[Schema] = (), now: Now = utc_now, limits: StoreLimits = STORE_LIMITS
) -> UnitStore:
    """Open the store at a URL, `sqlite:///absolute/file.db` or `memory:`.

    The store also gets the tables of `schemas`. Raises StoreUnusable, StoreTooNew, or
    StoreUnavailable.
    """
    if is_tapes_only(url):
        raise StoreUnusable(f"{url} can hold tapes only: open it with open_tapes")
    scheme, _, rest = canonical(url).partition(":")
    return UNIT_STORES[scheme](rest, schemas, now, limits)


def open_tapes(url: str, now: Now = utc_now) -> TapeStore:
    """Open any store to use its tapes: `file:///absolute/folder`, or a URL of `open_store`."""
    if not is_tapes_only(url):
        return open_store(url, now=now)
    scheme, _, rest = canonical(url).partition(":")
    return TAPE_STORES[scheme](rest, now)


def _postgres(url: str, schemas: Sequence[Schema], now: Now, limits: StoreLimits) -> UnitStore:
    # Who has no such server does not wait for the driver to be imported.
    store: UnitStore = import_module("tape.stores.postgres.store").PostgresStore.open(
        url, schemas, now, limits=limits
    )
    return store


def _path(rest: str, example: str) -> Path:
    path = rest.removeprefix("//").split("?")[0]
    if not path:
        raise StoreUnusable(f"TAPEWAY_TAPE__URL has no path: use a URL like {example}")
    return Path(path)
