"""The ledger: what waits, what failed, what is unknown or held; it is tried again or dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.names import fit
from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.said import texts
from gateway.console.visitor import Visitor
from gateway.errors import AdminError
from gateway.language.language import translated
from tape.unit_of_work import Row

MAX_ROWS: Final = 200
"""Maximum rows of each table and group that are shown, the newest of them."""

GROUPS: Final = ("failed", "waiting", "held")
BOXES: Final = {"in": "inbox", "out": "outbox"}
AGAIN: Final = ("dead", "failed", "stopped", "dropped", "ambiguous")
DROPS: Final = ("accepted", "waiting", "held", "dead", "pending", "sending", "ambiguous")
NO_ROW: Final = "There is no such row, or you may not see it."


def ledger_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of the ledger."""

    async def ledger(request: Request) -> Any:
        visitor = await rights.visitor(request)
        known = {chat.session_id: chat for chat in await visitor.chats()}
        scope = await visitor.scope()
        found: dict[str, Any] = {}
        for group in GROUPS:
            rows = [
                {**row, "box": short}
                for short, box in BOXES.items()
                for row in await parts.reads.select(
                    f"ledger.{group}_{box}", {**scope, "limit": MAX_ROWS}
                )
            ]
            found[group] = await _shown(parts, visitor, rows, known)
        return found

    async def retry(request: Request) -> Any:
        visitor = await check(request)
        done = await parts.ledger.retry(request.path_params["row"], by=visitor.person)
        return {"done": translated(done)}

    async def drop(request: Request) -> Any:
        visitor = await check(request)
        done = await parts.ledger.drop(request.path_params["row"], by=visitor.person)
        return {"done": translated(done)}

    async def check(request: Request) -> Visitor:
        """Return who may see the row that a request is about; raises HTTPException."""
        visitor = await rights.visitor(request)
        try:
            session_id = await parts.ledger.session_of(request.path_params["row"])
        except AdminError:
            session_id = None
        if session_id is None and not visitor.is_instance_owner:
            raise HTTPException(404, NO_ROW)
        if session_id is not None and not await visitor.sees_chat(session_id):
            raise HTTPException(404, NO_ROW)
        return visitor

    return [
        console_route("/ledger", ledger),
        console_route("/ledger/{row}/retry", retry, "POST"),
        console_route("/ledger/{row}/drop", drop, "POST"),
    ]


async def _shown(
    parts: ConsoleParts, visitor: Visitor, rows: Sequence[Row], known: Mapping[str, ConsoleChat]
) -> list[dict[str, Any]]:
    said = await _texts(parts, visitor, rows, known)
    shown = []
    for row in rows:
        chat, short = known.get(row["session_id"]), row["box"]
        row_id = f"{short}-{row['id']}"
        shown.append(
            {
                "row": row_id,
                "box": short,
                "inbox": row["id"] if short == "in" else None,
                "chat": chat.key if chat else "",
                "title": chat.title if chat else fit(str(row["chat_id"])),
                "channel": str(row["account_id"]).partition(":")[0],
                "turn": row["turn_id"],
                "status": row["status"],
                "attempts": row["attempts"],
                "date": row.get("received_at") or row.get("sent_at") or "",
                "why": translated(row["why"] or ""),
                "name": fit(row.get("name") or ""),
                "text": said.get(row_id, ""),
                "retry": row["status"] in AGAIN,
                "drop": row["status"] in DROPS,
            }
        )
    return sorted(shown, key=lambda one: str(one["date"]), reverse=True)


async def _texts(
    parts: ConsoleParts, visitor: Visitor, rows: Sequence[Row], known: Mapping[str, ConsoleChat]
) -> dict[str, str]:
    """Return the words of messages by row, as their tapes have them; none of private chats."""
    wanted: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["box"] == "in" and row["entry_id"] is not None and row["session_id"] in known:
            wanted.setdefault(row["session_id"], {})[row["entry_id"]] = f"in-{row['id']}"
    found: dict[str, str] = {}
    for session_id, entries in wanted.items():
        chat = known[session_id]
        if chat.is_private and not await visitor.takes_part(chat):
            continue
        said = await texts(parts.reads.tape(chat.tape), list(entries))
        found |= {entries[number]: text for number, text in said.items()}
    return found
