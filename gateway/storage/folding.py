"""Fold the ledger: empty old rows of their content, which is on the tapes as well.

A folded row keeps its ids, keys, status, session, entry, lane, turn and thread, and in its payload
what identifies people and messages: so redelivery, edits, deletions, replies, erasing and reports
work as before. A row stays whole while somebody may still need its content: if it is open, held,
dead or unclear, if buttons below it wait, or if it was joined from parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from datetime import timedelta
from typing import Any, Final

from channels.message import Author, InboundMessage, Quote
from gateway.clock import Clock
from gateway.logs import get_log
from tape.entry import dump, load, utc_iso
from tape.errors import StoreUnavailable
from tape.store import UnitStore
from tape.unit_of_work import Unit

BATCH: Final = 100
PAUSE_SECONDS: Final = 0.2  # between two batches
BUSY_SECONDS: Final = 5.0  # between two looks at a busy gateway
ROUND_SECONDS: Final = 3600.0
CONTENT: Final = {"mentions", "media", "quote", "joins", "press", "raw", "alt_id"}

_OUT: Final = ("channel", "account", "chat_id", "kind", "reply_to", "answers", "piece", "date")


class LedgerFolder:
    """Folds rows older than the setting's days, in small batches while the gateway is idle."""

    def __init__(
        self, store: UnitStore, clock: Clock, days: int, is_busy: Callable[[], bool]
    ) -> None:
        self._store = store
        self._clock = clock
        self._kept = timedelta(days=days)
        self._is_busy = is_busy

    async def run(self) -> None:
        """Fold whatever has become old, for as long as the gateway runs."""
        while True:
            try:
                for box in ("inbox", "outbox"):
                    while await self.fold(box):
                        await self._clock.sleep(PAUSE_SECONDS)
                        while self._is_busy():
                            await self._clock.sleep(BUSY_SECONDS)
            except StoreUnavailable as away:
                get_log().warning("ledger.not_folded", why=str(away))
            await self._clock.sleep(ROUND_SECONDS)

    async def fold(self, box: str) -> int:
        """Fold the next batch of a box; return how many rows were looked at."""
        store, now = self._store, self._clock.now()
        until = utc_iso(now - self._kept)
        known = await store.select("ledger.folded_up_to", {"box": box})
        after = known[0]["up_to"] if known else 0
        values = {"after": after, "limit": BATCH}
        bound = {"until": until} if box == "inbox" else {"now": utc_iso(now)}
        rows = await store.select(f"ledger.next_{box}", {**values, **bound}, long=True)
        left: list[tuple[int, str]] = []
        seen = 0
        for row in rows:
            payload = _read(row["payload"])
            if box == "outbox" and str(payload.get("date", "")) >= until:
                break
            seen, after = seen + 1, row["id"]
            if row["ended"] and (rest := fold_payload(box, payload)) is not None:
                left.append((row["id"], dump(rest)))
        if seen:
            unit = Unit()
            unit.run(f"ledger.fold_{box}", rows=dump(left))
            unit.run("ledger.fold_up_to", box=box, up_to=after)
            await store.commit(unit)
        return seen


def fold_payload(box: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is left of a row's payload, or None if it must stay whole."""
    if box == "outbox":
        kept = {name: payload.get(name) for name in _OUT if payload.get(name) not in (None, "")}
        return {"channel": "", "chat_id": "", **kept, "text": ""}
    try:
        message = InboundMessage.from_payload(payload)
    except (TypeError, KeyError, ValueError):
        return None
    if message.parts:
        return None
    forwarded = message.forwarded and replace(message.forwarded, author="", text="")
    left = replace(message, text="", forwarded=forwarded)
    defaults = {one.name: one.default for one in fields(InboundMessage)}
    said = {
        name: value
        for name, value in left.to_payload().items()
        if name not in CONTENT and value != defaults[name] and value not in ((), {}, [])
    }
    said["sender"] = _ids(replace(message.sender, name="", handle=""))
    return {**said, **({"forwarded": _ids(forwarded)} if forwarded else {})}


def _ids(who: Author | Quote) -> dict[str, Any]:
    """Return the values of a person that are not defaults, and those that must be there."""
    defaults = {one.name: one.default for one in fields(who)}
    return {name: value for name, value in asdict(who).items() if value != defaults[name]}


def _read(payload: str) -> Mapping[str, Any]:
    try:
        found = load(payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
