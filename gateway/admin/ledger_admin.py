"""Inspect the ledger, and retry or drop single rows by hand.

Rows are called `in-12` or `out-34`. Each change is recorded on the tape of the row's session,
with who made it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from gateway.errors import AdminError
from gateway.scheduling.recovery import AGAIN, DROP, Recovery
from gateway.services import Services
from gateway.storage.holding import HELD
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from gateway.storage.ledger.usage import GROUPS, TOTAL
from gateway.wording import counted
from tape.entry import event, load
from tape.errors import TapeError
from tape.unit_of_work import Row, Unit

MAX_LISTED: Final = 1_000
BY: Final = "operator"
_ID: Final = re.compile(r"(in|out)-(\d{1,18})")
_BOXES: Final = {"in": "inbox", "out": "outbox"}


class ChannelConnection(Protocol):
    """Whether a channel is connected, and why not."""

    @property
    def state(self) -> str: ...

    @property
    def why(self) -> str: ...


class LedgerAdmin:
    """Reads the ledger and changes single rows; without `recovery`, restart to apply.

    `states` are those of the running channels: `resume` waits until they are connected.
    """

    def __init__(
        self,
        services: Services,
        recovery: Recovery | None,
        states: Mapping[str, ChannelConnection] | None = None,
    ) -> None:
        self._services = services
        self._recovery = recovery
        self._states = states or {}

    async def rows(self, status: str = "", limit: int = 50) -> list[dict[str, Any]]:
        """Return the newest rows of the inbox and the outbox, newest first, without payloads."""
        values = {"status": status, "limit": max(1, min(limit, MAX_LISTED))}
        found = []
        chats = await self._services.ledger.chat_names()
        for short, box in _BOXES.items():
            rows = await self._services.ledger.store.select(f"ledger.list_{box}", values)
            for row in rows:
                title = row.get("chat_title") or chats.get(row["session_id"], "")
                found.append({**row, "id": f"{short}-{row['id']}", "chat_title": title})
        return found

    async def usage(self, by: str = "day", since: str = "") -> list[dict[str, Any]]:
        """Return what turns have used since a day, by day, chat, person, model or turn."""
        if by not in (*GROUPS, TOTAL):
            raise AdminError(f"{by} is no way to sum up usage: use one of {', '.join(GROUPS)}")
        rows = await self._services.ledger.usage.read(by, since)
        chats = await self._services.ledger.chat_names() if by == "chat" else {}
        return [{**row, "name": row["name"] or chats.get(row["key"], "")} for row in rows]

    async def show(self, name: str) -> dict[str, Any]:
        """Return a row with its payload; raises AdminError."""
        short, row = await self._row(name)
        try:
            payload = load(row["payload"])
        except ValueError:
            payload = row["payload"]
        return {**row, "id": f"{short}-{row['id']}", "payload": payload}

    async def session_of(self, name: str) -> str | None:
        """Return the session of a row, or None while it has none; raises AdminError."""
        _short, row = await self._row(name)
        return None if row["session_id"] is None else str(row["session_id"])

    async def retry(self, name: str, *, by: str = BY) -> str:
        """Answer a question again, or send a message again; say in a sentence what will happen."""
        short, row = await self._row(name)
        _read(short, row)  # an unreadable row cannot be retried
        changed = _read(short, await self._change(short, row, "retry", by))
        if self._recovery is not None:
            if isinstance(changed, OutboxRow):
                self._recovery.sender.enqueue([changed])
            else:
                self._recovery.ask_again(changed)
        when = " at the next start" if self._recovery is None else ""
        if short == "out":
            return f"{name} will be sent again to {row['chat_id']}{when}"
        return f"{name} will be answered again in {row['session_id'] or row['chat_id']}{when}"

    async def drop(self, name: str, *, by: str = BY) -> str:
        """Drop a message, neither answering nor sending it; say in a sentence what happened."""
        short, row = await self._row(name)
        await self._change(short, row, "drop", by)
        await self._services.ledger.held.count()
        if self._recovery is not None and short == "in":
            self._recovery.dispatcher.forget(int(row["id"]))
        elif self._recovery is not None:
            self._recovery.sender.forget(int(row["id"]))
        return f"{name} is dropped"

    async def resume(self, name: str = "") -> str:
        """Resume what a restore holds: everything, or one row with the rest of its turn."""
        held = self._services.ledger.held
        for channel in await held.channels() & self._states.keys():
            # With another reader of the same token, an answer could be given twice.
            if (own := self._states[channel]).state != "ready":
                raise AdminError(f"{channel} is not ready, so nothing goes on yet: {own.why}")
        if name:
            short, row = await self._row(name)
            if row["status"] != HELD:
                raise AdminError(f"{name} is not held: its status is {row['status']}")
            _read(short, row)
            found = await held.resume(short, row["id"])
        else:
            found = await held.resume()
        if self._recovery is not None:
            await self._recovery.resume_held(found)
        when = " at the next start" if self._recovery is None else ""
        messages, sends = counted(found.messages, "message"), counted(len(found.sends), "send")
        return f"{messages} and {sends} go on{when}"

    async def _change(self, short: str, row: Row, action: str, by: str) -> Row:
        name = f"{short}-{row['id']}"
        unit = Unit()
        unit.run(f"ledger.{action}_{_BOXES[short]}", expect=1, id=row["id"])
        if row["session_id"]:
            tape = self._services.tapes.session_tape(row["session_id"]).name
            change = {"row": name, "was": row["status"], "by": by}
            unit.append(tape, [event(f"ledger.{action}", change)])
        shared = self._services.shared
        if shared is not None and row["session_id"] and not shared.held.holds(row["session_id"]):
            op = AGAIN if action == "retry" else DROP
            data = {"box": _BOXES[short], "id": row["id"]}
            shared.controls.add(unit, row["session_id"], op, by, data)
        try:
            await self._services.store.commit(unit)
        except TapeError as cause:
            if row["folded"] and action == "retry":
                raise AdminError(
                    f"cannot retry {name}: its content was removed from the ledger after"
                    f" {self._services.settings.tape.ledger_days} days; ask again in the chat"
                ) from cause
            raise AdminError(f"cannot {action} {name}: its status is {row['status']}") from cause
        _short, changed = await self._row(name)
        return changed

    async def _row(self, name: str) -> tuple[str, Row]:
        matched = _ID.fullmatch(name)
        if matched is None:
            raise AdminError(f"{name} is not a row: use a name such as in-12 or out-34, as listed")
        short = matched[1]
        values = {"id": int(matched[2])}
        found = await self._services.ledger.store.select(f"ledger.{_BOXES[short]}_row", values)
        if not found:
            raise AdminError(f"there is no row {name}: `tapeway ledger list` shows the rows")
        return short, found[0]


def _read(short: str, row: Mapping[str, Any]) -> InboxRow | OutboxRow:
    try:
        return OutboxRow.read(row) if short == "out" else InboxRow.read(row)
    except (TypeError, KeyError, ValueError) as cause:
        raise AdminError(f"{short}-{row['id']} cannot be read by this version") from cause
