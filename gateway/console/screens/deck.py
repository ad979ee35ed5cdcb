"""The deck: a strip for each chat, sorted by what needs the visitor."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.names import fit
from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat, is_overdue
from gateway.console.parts import ConsoleParts
from gateway.console.reads import ConsoleReads
from gateway.console.rights import Rights
from gateway.console.said import excerpt, is_ours, last_of_tail, shown_text, without_gone
from gateway.console.screens.people import closed_chats
from gateway.console.timeline.sparks import sparks_of
from gateway.supervision.status import StatusBoard
from tape.entry import MESSAGE, Entry, utc_iso
from tape.handle import Tape
from tape.unit_of_work import Row

MAX_DIGITS: Final = 9  # of the place of a chat in an address
MAX_NAMED: Final = 1_000  # maximum chats that the palette knows
FAILED_DAYS: Final = 1
LAMPS: Final = ("stalled", "failed", "held", "waiting", "running", "quiet")
TAIL: Final = 8
"""Newest entries in which the last message, and what was changed of it since, mostly are."""

LOOKED_AT: Final = 5
"""Newest messages of which the last that is not deleted is shown, where it is further back."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the ledger counts for each chat, as rows by session."""

    open: Mapping[str, Row] = field(default_factory=dict)
    failed: Mapping[str, Row] = field(default_factory=dict)
    unsent: Mapping[str, Row] = field(default_factory=dict)
    held: Mapping[str, Row] = field(default_factory=dict)
    used: Mapping[str, Row] = field(default_factory=dict)

    @classmethod
    async def read(cls, reads: ConsoleReads, now: datetime) -> Counts:
        since = utc_iso(now - timedelta(days=FAILED_DAYS))
        return cls(
            open=_by_chat(await reads.select("ledger.open_by_chat", {})),
            failed=_by_chat(await reads.select("ledger.failed_by_chat", {"since": since})),
            unsent=_by_chat(await reads.select("ledger.unsent_by_chat", {})),
            held=_by_chat(await reads.select("ledger.held_by_chat", {})),
            used=_by_chat(
                await reads.select("ledger.used_by_chat", {"day": now.date().isoformat()})
            ),
        )

    def strip(self, chat: ConsoleChat, now: datetime, deaf_since: str) -> dict[str, Any]:
        """Return a chat's numbers and its lamp; `deaf_since` is when its channel fell silent."""
        one = chat.session_id
        open_, used = self.open.get(one, {}), self.used.get(one, {})
        waiting, running = int(open_.get("waiting", 0)), int(open_.get("running", 0))
        failed = _number(self.failed, one) + _number(self.unsent, one)
        held = _number(self.held, one)
        since = str(open_["oldest"]) if open_ and is_overdue(open_, now) else deaf_since
        lit = (bool(since), failed, held, waiting, running, True)
        return {
            "lamp": next(lamp for lamp, on in zip(LAMPS, lit, strict=True) if on),
            "since": since,
            "waiting": waiting,
            "running": running,
            "failed": failed,
            "held": held,
            "tokens": int(used.get("tokens") or 0),
            "cost": used.get("cost"),
            "unpriced": int(used.get("unpriced") or 0),
        }


def deck_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of the deck."""
    most = parts.services.bounds.console_strips

    async def deck(request: Request) -> Any:
        visitor = await rights.visitor(request)
        now = parts.services.clock.now()
        counts = await Counts.read(parts.reads, now)
        silent = silent_since(parts.status, now)
        known, strips = await visitor.chats(), []
        waiting = await closed_chats(parts, visitor, known)
        closed = {one["chat"] for one in waiting}
        for chat in known:
            if chat.key in closed:
                continue
            strips.append((counts.strip(chat, now, silent.get(chat.channel, "")), chat))
        strips.sort(key=lambda one: one[1].heard_at, reverse=True)
        strips.sort(key=lambda one: LAMPS.index(one[0]["lamp"]))
        first = _first(request, [chat.key for _strip, chat in strips], most)
        shown = strips[first : first + most]
        last = await _last_messages(parts.reads, [chat for _strip, chat in shown])
        sparks = await sparks_of(parts.reads, [chat.tape for _strip, chat in shown], now)
        return {
            "chats": [
                {
                    **about(chat),
                    **strip,
                    "last": last.get(chat.session_id),
                    "spark": sparks.get(chat.tape),
                }
                for strip, chat in shown
            ],
            "total": len(strips),
            "from": first,
            "page": most,
            "waiting": waiting,
            "agent": fit(parts.services.settings.agent.name),
        }

    async def chats(request: Request) -> Any:
        visitor = await rights.visitor(request)
        known = sorted(await visitor.chats(), key=lambda one: one.heard_at, reverse=True)
        return {"chats": [about(chat) for chat in known[:MAX_NAMED]]}

    async def chat(request: Request) -> Any:
        _visitor, found = await rights.chat(request)
        return about(found)

    return [
        console_route("/deck", deck),
        console_route("/chats", chats),
        console_route("/chats/{chat}", chat),
    ]


def silent_since(status: StatusBoard, now: datetime) -> dict[str, str]:
    """Map the channels that hear nothing to the moment since when that is so."""
    away = {
        name: state.since
        for name, state in status.everywhere().items()
        if state.state in ("waiting", "unfit")
    }
    deaf = {name: utc_iso(now - timedelta(seconds=gone)) for name, gone in status.deaf().items()}
    return away | deaf


def _first(request: Request, chats: Sequence[str], most: int) -> int:
    """Return the place of the first chat to show: `from` one, or where the chat `at` is."""
    asked = request.query_params
    if asked.get("at") in chats:
        place = chats.index(asked["at"])
        return place - place % most
    given = asked.get("from", "")
    place = int(given) if given.isascii() and given.isdigit() and len(given) <= MAX_DIGITS else 0
    last = max(len(chats) - 1, 0)
    return min(place, last - last % most)


def about(chat: ConsoleChat) -> dict[str, Any]:
    """Return what every screen says about a chat."""
    return {
        "chat": chat.key,
        "title": chat.title,
        "channel": chat.channel,
        "account": chat.account,
        "private": chat.is_private,
        "heard": chat.heard_at,
    }


async def _last_messages(
    reads: ConsoleReads, chats: list[ConsoleChat]
) -> dict[str, dict[str, Any] | None]:
    """Return the last message of each chat by session; None for private ones, which stay closed."""
    found: dict[str, dict[str, Any] | None] = {}

    async def read(chat: ConsoleChat) -> None:
        found[chat.session_id] = await _last_of(reads.tape(chat.tape))

    await asyncio.gather(*(read(chat) for chat in chats if not chat.is_private))
    return found


async def _last_of(tape: Tape) -> dict[str, Any] | None:
    newest = await tape.find(limit=TAIL, newest=True)
    last = last_of_tail(newest)
    if last is None and len(newest) == TAIL:
        found = await tape.find(kinds=(MESSAGE,), limit=LOOKED_AT, newest=True)
        last = next(iter(reversed(await without_gone(tape, found))), None)
    return None if last is None else _shown(last)


def _shown(entry: Entry) -> dict[str, Any]:
    by_agent = is_ours(entry)
    name = "" if by_agent else fit(str(entry.meta.get("name", "")))
    return {
        "id": entry.id,
        "agent": by_agent,
        "name": name,
        "text": excerpt(shown_text(entry)),
        "date": entry.date,
    }


def _number(rows: Mapping[str, Row], one: str) -> int:
    return int(rows[one]["messages"]) if one in rows else 0


def _by_chat(rows: list[Row]) -> dict[str, Row]:
    return {str(row["session_id"]): row for row in rows}
