"""The built-in stores by the scheme of their URL; a plugin may bring another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tape.errors import StoreUnfit
from tape.memory import MemoryStore
from tape.schema import Schema
from tape.sqlite import SqliteStore
from tape.store import Now, UnitStore, utc_now

Opener = Callable[[str, Sequence[Schema], Now], UnitStore]


def _open_memory(_rest: str, schemas: Sequence[Schema], now: Now) -> UnitStore:
    return MemoryStore(schemas, now)


def _open_sqlite(rest: str, schemas: Sequence[Schema], now: Now) -> UnitStore:
    path = rest.removeprefix("//").split("?")[0]
    if not path:
        raise StoreUnfit("TAPEWAY_TAPE__URL names no file: for example sqlite:///srv/tapeway.db")
    return SqliteStore.open(Path(path), schemas, now)


STORES: Mapping[str, Opener] = MappingProxyType({"memory": _open_memory, "sqlite": _open_sqlite})


def open_store(url: str, schemas: Sequence[Schema] = (), now: Now = utc_now) -> UnitStore:
    """Open the store of a URL: `sqlite:///absolute/file.db` or `memory:`."""
    scheme, _, rest = url.partition(":")
    if scheme not in STORES:
        known = ", ".join(sorted(STORES))
        raise StoreUnfit(
            f"no tape store is known for {scheme!r} (known: {known}): set TAPEWAY_TAPE__URL to"
            " something like sqlite:///srv/tapeway.db"
        )
    return STORES[scheme](rest, schemas, now)
