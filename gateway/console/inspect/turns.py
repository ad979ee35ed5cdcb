"""The view inspector: what a model was shown in each call of a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.names import fit
from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat
from gateway.console.inspect.rerun import NOT_AGREED, Rerun, RunAgain, offered_tools, offers
from gateway.console.inspect.view_parts import ShownView, read_view, view_json
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.said import is_ours, shown_text, without_gone
from gateway.console.screens.deck import about
from gateway.console.visitor import Visitor
from gateway.errors import AdminError
from gateway.explain.facts import MAX_SENDS
from gateway.http.json_route import json_body
from tape.entry import MESSAGE
from tape.rollups import has_failed
from tape.unit_of_work import Row

TURN: Final = re.compile(r"t-[0-9a-f]{20}")
MAX_FAILURE: Final = 1000  # maximum characters of a turn's recorded error
NO_TURN: Final = "There is no such turn in this chat."
OWNERS_RUN: Final = "Only an owner of this account may run a turn again, since it costs."


def turn_routes(parts: ConsoleParts, rights: Rights, reruns: RunAgain) -> list[BaseRoute]:
    """Return the routes of the view inspector."""

    async def shown(request: Request) -> Any:
        visitor, chat = await rights.chat(request)
        view, rows = await opened(parts, chat, request)
        asked = [row["entry_id"] for row in rows if row["entry_id"]]
        body = view_json(view, asked, await offered_tools(parts.services, view))
        body |= await _said(parts, chat, view, asked)
        body["failed"] = _failure_of(view)
        body["message"] = rows[-1]["id"] if rows else None
        body["can_rerun"] = await visitor.sees_account(chat.channel, chat.account)
        return {**parts.services.redactor.value(body), "chat": about(chat)}

    async def may_run(request: Request) -> tuple[Visitor, ConsoleChat]:
        visitor, chat = await rights.chat(request)
        if not await visitor.sees_account(chat.channel, chat.account):
            raise HTTPException(403, OWNERS_RUN)
        return visitor, chat

    async def models(request: Request) -> Any:
        chat = (await may_run(request))[1]
        view, _rows = await opened(parts, chat, request)
        answer = parts.services.redactor.clean(_answer_of(view))
        return {"models": offers(parts.services, view), "answer": answer}

    async def again(request: Request) -> Any:
        visitor, chat = await may_run(request)
        body = await json_body(request)
        if body.get("agreed") is not True:
            raise AdminError(NOT_AGREED)
        without = body.get("without", [])
        if not isinstance(without, list) or not all(type(one) is int for one in without):
            raise AdminError("`without` must be a list of the numbers of entries.")
        view, _rows = await opened(parts, chat, request)
        asked = Rerun(view, str(body.get("model", "")), frozenset(without))
        return await reruns.run(chat, visitor, asked)

    return [
        console_route("/chats/{chat}/turns/{turn}", shown),
        console_route("/chats/{chat}/turns/{turn}/models", models),
        console_route("/chats/{chat}/turns/{turn}/again", again, "POST"),
    ]


async def _said(
    parts: ConsoleParts, chat: ConsoleChat, view: ShownView, asked: Sequence[int]
) -> dict[str, Any]:
    """Return what a turn was asked and what it answered, as far as it may be shown now.

    No message is recorded for a turn whose question was asked again: that is the later turn's.
    """
    tape = parts.reads.tape(chat.tape)
    finals = [one for one in view.own if one.kind == MESSAGE and one.meta.get("final")]
    found = await tape.entries(list(asked))
    shown = await without_gone(tape, [*found.values(), *finals])
    question = [
        {"name": fit(str(one.meta.get("name") or "")), "text": shown_text(one)}
        for one in shown
        if not is_ours(one)
    ]
    answers = [shown_text(one) for one in shown if is_ours(one)]
    return {"question": question, "recorded": bool(asked), "answer": answers[-1] if answers else ""}


def _failure_of(view: ShownView) -> str:
    """Return why a turn ended without an answer, as it was recorded, or ""."""
    ends = [one.payload["data"] for one in view.own if has_failed(one)]
    return str(ends[-1].get("error") or ends[-1].get("why") or "")[:MAX_FAILURE] if ends else ""


def _answer_of(view: ShownView) -> str:
    """Return what the turn answered, to be compared with another answer."""
    finals = [one.text for one in view.own if one.kind == MESSAGE and one.meta.get("final")]
    return finals[-1] if finals else ""


async def opened(
    parts: ConsoleParts, chat: ConsoleChat, request: Request
) -> tuple[ShownView, list[Row]]:
    """Return the view of the call that a request names, and the messages that its turn took."""
    turn, at = request.path_params["turn"], request.query_params.get("at", "")
    if not TURN.fullmatch(turn):
        raise HTTPException(404, NO_TURN)
    place = int(at) if at.isascii() and at.isdigit() and len(at) < 5 else -1
    view = await read_view(parts.reads.tape(chat.tape), turn, place)
    values = {"turn_id": turn, "limit": MAX_SENDS}
    rows = await parts.reads.select("ledger.told_turn", values)
    return view, [row for row in rows if row["session_id"] == chat.session_id]
