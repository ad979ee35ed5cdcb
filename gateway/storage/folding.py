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
from tape.errors import OutcomeUnknown, StoreUnavailable
from tape.right_of_way import RightOfWay
from tape.store import UnitStore
from tape.unit_of_work import Unit

BATCH: Final = 100
PAUSE_SECONDS: Final = 0.2  # between two batches
BUSY_SECONDS: Final = 5.0  # between two looks at a busy gateway
MAX_BUSY_LOOKS: Final = 24
"""Maximum looks for which a batch waits: a gateway may always be busy."""
ROUND_SECONDS: Final = 3600.0
ROUNDS_A_DAY: Final = 24
CONTENT: Final = {
    *("mentions", "media", "quote", "excerpts", "omitted", "command"),
    *("joins", "press", "raw", "alt_id"),
}

_OUT: Final = ("channel", "account", "chat_id", "kind", "reply_to", "answers", "piece", "date")


class LedgerFolder:
    """Folds rows older than the setting's days, in small batches while the gateway is idle."""

    def __init__(
        self,
        store: UnitStore,
        clock: Clock,
        days: int,
        is_busy: Callable[[], bool],
        way: RightOfWay,
    ) -> None:
        self._store = store
        self._clock = clock
        self._kept = timedelta(days=days)
        self._is_busy = is_busy
        self._way = way

    async def run(self) -> None:
        """Fold whatever has become old, for as long as the gateway runs."""
        while True:
            # The first round of a day looks at all rows: some end late, or came by a wrong clock.
            for number in range(ROUNDS_A_DAY):
                try:
                    for box in ("inbox", "outbox"):
                        await self._fold_box(box, 0 if number == 0 else await self._up_to(box))
                except (StoreUnavailable, OutcomeUnknown) as away:
                    get_log().warning("ledger.not_folded", why=away)
                await self._clock.sleep(ROUND_SECONDS)

    async def _fold_box(self, box: str, after: int) -> None:
        while (up_to := await self.fold(box, after)) > after:
            after = up_to
            await self._clock.sleep(PAUSE_SECONDS)
            for _ in range(MAX_BUSY_LOOKS):
                if not self._is_busy():
                    break
                await self._clock.sleep(BUSY_SECONDS)
            await self._way.given()

    async def _up_to(self, box: str) -> int:
        known = await self._store.select("ledger.folded_up_to", {"box": box})
        return int(known[0]["up_to"]) if known else 0

    async def fold(self, box: str, after: int = 0) -> int:
        """Fold the next batch behind a row; return the last row that was looked at."""
        now = self._clock.now()
        values = {"after": after, "until": utc_iso(now - self._kept), "limit": BATCH}
        bound = {"now": utc_iso(now)} if box == "outbox" else {}
        rows = await self._store.select(f"ledger.next_{box}", {**values, **bound}, long=True)
        if not rows:
            return after
        found = [(row, fold_payload(box, _read(row["payload"]))) for row in rows]
        folded = [(row["id"], dump(left), row["payload"]) for row, left in found if left]
        unit = Unit()
        unit.run(f"ledger.fold_{box}", rows=dump(folded))
        unit.run("ledger.fold_up_to", box=box, up_to=rows[-1]["id"])
        await self._store.commit(unit)
        return int(rows[-1]["id"])


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
