"""Rows that a restore has found open: held until the operator lets them go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.clock import Clock
from gateway.storage.ledger.rows import InboxRow, OutboxRow, readable
from gateway.wording import counted
from tape.entry import parse_date, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import Unit

HELD: Final = "held"
OPEN: Final = "it was open in the backup, and may have been answered or sent since"
SHARED: Final = ""  # stands for the path of every workspace
RESTORED: Final = "it is older than the restore, and may have been answered before"


@dataclass(frozen=True, slots=True)
class Resumed:
    """What goes on: questions, sends, and by their ids the messages that are not on their tapes."""

    questions: Sequence[InboxRow]
    sends: Sequence[OutboxRow]
    accepted: frozenset[int] = frozenset()

    @property
    def messages(self) -> int:
        """How many messages go on."""
        return len(self.questions) + len(self.accepted)


class HoldTable:
    """What is held since a restore.

    restored_at      when this database was restored, or None; what was said before is only recorded
    messages, sends  how many rows are held
    """

    def __init__(self, store: UnitStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.restored_at: datetime | None = None
        self.messages, self.sends = 0, 0

    async def load(self) -> None:
        """Read what is held; call this before any message is accepted."""
        rows = await self._store.select("ledger.last_restore", {})
        if rows:  # a clock that was ahead then must not keep people waiting until that moment
            self.restored_at = min(parse_date(rows[0]["restored_at"]), self._clock.now())
        await self.count()

    async def count(self) -> None:
        row = (await self._store.select("ledger.count_held", {}))[0]
        self.messages, self.sends = row["messages"], row["sends"]

    async def channels(self) -> set[str]:
        """Return the channels of which rows are held."""
        rows = await self._store.select("ledger.held_accounts", {})
        return {row["account_id"].partition(":")[0] for row in rows}

    def concerns(self, row: InboxRow) -> bool:
        """Return whether a message was said before the restore, and nobody let it go on."""
        if self.restored_at is None or row.resumed:
            return False
        try:
            return parse_date(row.message.date) < self.restored_at
        except ValueError:
            return False

    def hold_question(self, unit: Unit, row: InboxRow) -> None:
        unit.run("ledger.hold_question", id=row.id, why=RESTORED)

    async def resume(self, box: str = "", row_id: int = 0) -> Resumed:
        """Resume rows and return them: all, or one of a box, `in` or `out`."""
        unit = Unit()
        steps = {
            short: unit.run(f"ledger.resume_{table}", id=row_id)
            for short, table in (("in", "inbox"), ("out", "outbox"))
            if box in ("", short)
        }
        outcomes = await self._store.commit(unit)
        await self.count()
        rows = {
            short: sorted(outcomes[step].rows, key=lambda row: int(row["id"]))
            for short, step in steps.items()
        }
        asked = [row for row in rows.get("in", ()) if row["status"] != "accepted"]
        return Resumed(
            await readable(self._store, asked, InboxRow.read, "ledger.bury_inbox"),
            await readable(self._store, rows.get("out", ()), OutboxRow.read, "ledger.bury_outbox"),
            frozenset(row["id"] for row in rows.get("in", ()) if row["status"] == "accepted"),
        )

    def notes(self) -> list[str]:
        """Return a sentence that says what is held, if anything is."""
        if not self.messages and not self.sends:
            return []
        counts = f"{counted(self.messages, 'message')} and {counted(self.sends, 'send')}"
        listed = "`tapeway ledger list --status held` lists them"
        return [
            f"held since a restore: {counts}; {listed}, `tapeway ledger resume` lets them go on"
        ]


def hold_all(unit: Unit, now: datetime, taken_at: str) -> None:
    """Hold whatever is open in a database that was restored from a backup."""
    unit.run("ledger.hold_inbox", why=OPEN)
    unit.run("ledger.hold_outbox", why=OPEN)
    # A press has no date of its own, and what it allows may have been done since the backup.
    unit.run("ledger.close_cards", now=utc_iso(now))
    # A link may have been revoked since the backup, and is shown as revoked by nobody.
    unit.run("ledger.close_console_links", now=utc_iso(now), by="")
    # Platforms date messages in whole seconds.
    moment = max(now, parse_date(taken_at)).replace(microsecond=0)  # the clock may be behind
    unit.run("ledger.record_restore", restored_at=utc_iso(moment), taken_at=taken_at)


def skip_row_ids(unit: Unit, taken_at: str) -> None:
    """Leave a gap behind the inbox's ids, since tapes in files may hold entries under the next."""
    key, why = f"restore/{taken_at}", "a gap left by a restore"
    unit.run("ledger.skip_row_ids", ext_id=key, received_at=taken_at, why=why)


async def workspace_of(store: UnitStore, path: Path, *, shared: bool = False) -> str:
    """Return the resolved path after which the tapes of the workspace at `path` are named.

    In a `shared` database all tapes are named after the workspace of the process that came first.
    """
    own = _name_of(path)
    if shared:
        unit = Unit()
        unit.run("ledger.found_workspace", path=SHARED, same_as=own)
        await store.commit(unit)
    rows = await store.select("ledger.workspace", {"path": SHARED if shared else own})
    return str(rows[0]["same_as"]) if rows else own


def alias_workspace(unit: Unit, path: Path, same_as: str) -> None:
    """Name the tapes of the workspace at `path` after another one."""
    unit.run("ledger.alias_workspace", path=_name_of(path), same_as=same_as)


def _name_of(workspace: Path) -> str:
    return str(workspace.resolve())  # as in the names of its tapes
