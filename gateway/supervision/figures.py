"""What an answer was made of, in the few figures that fit below it, and what was cut from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from agent.spent import Spent
from gateway.context.replay import prompts_of
from gateway.services import Services
from gateway.storage.ledger.rows import idem_key
from gateway.turn.usage import cost_of
from tape.deletions import deleted
from tape.entry import MESSAGE, TOOL_CALL, Entry, parse_date
from tape.handle import Tape
from tape.turn_events import LINKS_CUT, LOOP_STEP, TURN_END, TURN_START

Json = dict[str, Any]
TOKENS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens")


async def figures_of(services: Services, tape: Tape, turn: str) -> Json | None:
    """Return a turn's figures as JSON, or None if the tape has no such turn.

    read      how many messages its newest prompt showed; `messages` has the ids of those that are
              not deleted, as the page knows them
    tools     maps the tools that were called to how often
    cost      in the `currency` of the prices, as recorded, or None if these are not known;
              `estimated` if a server did not report all tokens
    unpriced  whether some of it has no known price
    cut       the hosts of links that lost something, "" for one that nothing is left of
    """
    entries = await tape.find(turn=turn)
    if not entries:
        return None
    steps = [entry.payload["data"] for entry in entries if entry.name == LOOP_STEP]
    spent = Spent()
    for entry in entries:
        spent.take(entry)
    prompts = await prompts_of(tape, turn, newest=1)
    read = await _messages(tape, prompts[-1].entries if prompts else (), turn)
    totals = sum(spent.models.values(), Counter[str]())
    ends = [entry for entry in entries if entry.name == TURN_END]
    cost, unpriced = await _cost(services, spent, turn)
    return {
        "turn": turn,
        "status": ends[-1].payload["data"].get("status", "") if ends else "",
        "read": len(read),
        "messages": [shown for shown in read if shown],
        "tools": _tools(entries),
        "model": next((step["model"] for step in reversed(steps) if step.get("model")), ""),
        "calls": len(steps),
        "seconds": _seconds(entries, ends),
        "tokens": [totals[name] for name in TOKENS],
        "cost": cost,
        "unpriced": unpriced,
        "currency": services.settings.agent.currency,
        "estimated": totals["estimated"] > 0,
        "cut": _cut(entries),
    }


async def _cost(services: Services, spent: Spent, turn: str) -> tuple[float | None, bool]:
    """Return what a turn cost when it ended, or by the present prices if it still runs.

    The cost is the sum of what is known, or None; the other value is whether something is not.
    """
    rows = await services.store.select("ledger.used_by_turn", {"turn_id": turn})
    if rows:
        return rows[0]["cost"], rows[0]["unpriced"] > 0
    settings = services.settings
    costs = [cost_of(settings, model, counts) for model, counts in spent.models.items()]
    known = [cost for cost in costs if cost is not None]
    return (sum(known) if known or not costs else None), len(known) < len(costs)


async def _messages(tape: Tape, shown: Sequence[int], turn: str) -> list[str]:
    """Return the ids of the messages among a prompt's entries, "" for deleted ones."""
    found = [entry for entry in (await tape.entries(list(shown))).values() if _is_said(entry)]
    ids = tuple(entry.id for entry in found)
    gone = await deleted(tape, about=ids) if ids else set()
    others = (entry for entry in found if entry.meta.get("turn") != turn)
    return ["" if entry.id in gone else _shown_id(entry) for entry in others]


def _is_said(entry: Entry) -> bool:
    return entry.kind == MESSAGE and ("inbox" in entry.meta or bool(entry.meta.get("final")))


def _shown_id(entry: Entry) -> str:
    if "inbox" in entry.meta:
        return str(entry.meta.get("message_id", ""))
    return idem_key(str(entry.meta.get("turn", "")), 0)


def _tools(entries: Sequence[Entry]) -> dict[str, int]:
    calls = [
        call for entry in entries if entry.kind == TOOL_CALL for call in entry.payload["calls"]
    ]
    return dict(Counter(str(call["function"]["name"]) for call in calls))


def _cut(entries: Sequence[Entry]) -> list[str]:
    found = [entry.payload["data"] for entry in entries if entry.name == LINKS_CUT]
    return list(dict.fromkeys(str(host) for data in found for host in data["hosts"] or [""]))


def _seconds(entries: Sequence[Entry], ends: Sequence[Entry]) -> float | None:
    starts = [entry for entry in entries if entry.name == TURN_START]
    if not (starts and ends):
        return None
    began, ended = _date(starts[0]), _date(ends[-1])
    return round((ended - began).total_seconds(), 1)


def _date(entry: Entry) -> datetime:
    return parse_date(entry.date)
