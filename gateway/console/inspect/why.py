"""The way of a message: what `tapeway explain` prints, for people who may see its chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.reads import ConsoleReads
from gateway.console.rights import Rights
from gateway.console.said import shown_text, without_gone
from gateway.console.screens.deck import about
from gateway.console.timeline.lanes import lane_names
from gateway.console.visitor import Visitor
from gateway.explain.explainer import Explainer
from gateway.explain.report import Report
from gateway.language.language import translated
from tape.entry import MESSAGE, Entry
from tape.query import Query
from tape.unit_of_work import Row

NO_MESSAGE: Final = "There is no such message, or you may not see it."
REASONED: Final = ("addressed", "access")  # what most people ask about a message
NO_ROW: Final = (
    "Nothing is recorded here about how this entry came about: it may be imported, or its message"
    " forgotten since."
)
MAX_DIGITS: Final = 18
MAX_ANSWER: Final = 400  # maximum characters of an answer that are shown


@dataclass(frozen=True, slots=True)
class ExplainReads:
    """What a report reads, in the way of the console: chats do not wait for it."""

    _reads: ConsoleReads

    async def query(self, query: Query) -> list[Entry]:
        return await self._reads.tape(query.tape).run_query(query)

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        return await self._reads.select(statement, values)


def why_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes that explain a message of the inbox, and find that of an entry."""
    redactor = parts.services.redactor
    explainer = Explainer(ExplainReads(parts.reads), redactor, parts.services.clock)

    async def why(request: Request) -> Any:
        visitor = await rights.visitor(request)
        row = await _row(parts.reads, _number(request.path_params["id"]))
        if row is None:
            raise HTTPException(404, NO_MESSAGE)
        chat = await _chat(rights, visitor, row)
        report = await explainer.explain_row(row)
        place = report.place
        return {
            **report.to_json(),
            "chat": chat,
            "lane": redactor.value(await _lane(parts.reads, place)),
            "used": await _used(parts.reads, place),
            "answer": redactor.clean(await _answer(parts.reads, place)),
            "reasons": _reasons(report),
        }

    async def of_entry(request: Request) -> Any:
        _visitor, chat = await rights.chat(request)
        found = await _message_of(parts.reads, chat.tape, _number(request.path_params["entry"]))
        row = None if found is None else await _row(parts.reads, found)
        if row is None or row["session_id"] != chat.session_id:
            raise HTTPException(404, NO_ROW)
        return {"id": row["id"], "chat": chat.key}

    return [
        console_route("/why/{id}", why),
        console_route("/chats/{chat}/entries/{entry}/why", of_entry),
    ]


async def _chat(rights: Rights, visitor: Visitor, row: Row) -> dict[str, Any] | None:
    """Return the chat of a message that a visitor opens, None without one; raises HTTPException."""
    session_id = row["session_id"] or ""
    if session_id:
        try:
            return about(await rights.opened(visitor, session_id))
        except HTTPException as refused:
            raise HTTPException(refused.status_code, NO_MESSAGE) from refused
    channel, _colon, account = str(row["account_id"]).partition(":")
    if not await visitor.sees_account(channel, account):
        raise HTTPException(404, NO_MESSAGE)
    return None


def _reasons(report: Report) -> dict[str, str]:
    """Return the recorded reasons of a report in words, by the subject of their line."""
    found = {line.about: line.data for line in report.lines if line.about in REASONED}
    said = {about: _reason(data) for about, data in found.items()}
    return {about: reason for about, reason in said.items() if reason}


def _reason(data: Mapping[str, Any]) -> str:
    return str(data.get("was") or translated(str(data.get("why") or data.get("rule") or "")))


async def _lane(reads: ConsoleReads, place: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the conversation of a message is called, or None."""
    lane, tape = place.get("lane"), place.get("tape")
    return (await lane_names(reads, tape, [lane])).get(lane) if lane and tape else None


async def _answer(reads: ConsoleReads, place: Mapping[str, Any]) -> str:
    """Return how the answer to a message begins, or "" if there is none that may be shown."""
    turn, tape = place.get("turn"), place.get("tape")
    if not turn or not tape:
        return ""
    said = await reads.tape(tape).find(turn=turn, kinds=(MESSAGE,))
    finals = [one for one in said if one.meta.get("final")]
    shown = await without_gone(reads.tape(tape), finals)
    return shown_text(shown[-1])[:MAX_ANSWER] if shown else ""


async def _used(reads: ConsoleReads, place: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the tokens and the cost of the answer to a message, or None without a model."""
    rows = await reads.select("ledger.used_by_turn", {"turn_id": place.get("turn") or ""})
    return dict(rows[0]) if rows else None


def _number(text: str) -> int:
    """Return the number of a row or an entry, or 0, which none has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0


async def _row(reads: ConsoleReads, number: int) -> Row | None:
    rows = await reads.select("ledger.inbox_row", {"id": number})
    return rows[0] if rows else None


async def _message_of(reads: ConsoleReads, tape: str, number: int) -> int | None:
    """Return the row of the message that an entry is, or to which its turn answers."""
    entry = (await reads.tape(tape).entries([number])).get(number)
    if entry is None:
        return None
    data = entry.payload.get("data")
    own = entry.meta.get("inbox", data.get("inbox") if isinstance(data, Mapping) else None)
    if isinstance(own, int):
        return own
    turn = entry.meta.get("turn")
    values = {"turn_id": turn, "limit": 100}
    rows = await reads.select("ledger.told_turn", values) if isinstance(turn, str) else []
    return int(rows[-1]["id"]) if rows else None
