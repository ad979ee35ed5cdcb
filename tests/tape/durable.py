"""The stores that outlive a process, opened by their URLs: without what pytest would load."""

from __future__ import annotations

from tape.store import TapeStore
from tape.stores.registry import is_tapes_only, open_store, open_tapes


def opened(url: str) -> TapeStore:
    return open_tapes(url) if is_tapes_only(url) else open_store(url)
