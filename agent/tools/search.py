"""The tool `tape.search` finds earlier messages, with their authors and dates.

It leaves out what would only repeat the search: the question, the running turn, commands, system
hints, and results of tools.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from agent.anchors import HINT, bare_text, who
from agent.errors import ToolRefused
from agent.powers import ALL_KINDS, may
from agent.tool import ToolContext
from agent.tool_decorator import tool
from agent.tools.chat_access import QUOTED_NOTE, person_of, tape_of
from agent.turn_log import steered_into
from tape.entry import ANCHOR, MESSAGE, Entry, parse_date, utc_iso
from tape.errors import QueryRefused
from tape.excerpts import others_of
from tape.search.entry_terms import searchable_text

TALK: Final = frozenset({MESSAGE, ANCHOR})  # the kinds that everybody may search
EXCERPT_CHARACTERS: Final = 300
SPARE_HITS: Final = 30  # number of extra hits to request, because some hits are left out


@tool(name="tape.search", side_effects=False, first=True)
async def search_tape(
    context: ToolContext,
    *,
    query: Annotated[str, Field(min_length=1, max_length=500, description="words that were said")],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    since: Annotated[str, Field(max_length=40, description="ISO date, inclusive")] = "",
    until: Annotated[str, Field(max_length=40, description="ISO date, exclusive")] = "",
    author: Annotated[str, Field(max_length=100, description="a person, such as #7")] = "",
    kinds: Annotated[
        list[Literal["message", "anchor", "tool_call", "tool_result", "event", "system", "error"]],
        Field(default_factory=list, max_length=7, description="but message and anchor: admins"),
    ],
    chat: Annotated[str, Field(max_length=200, description="another chat (owner only)")] = "",
) -> object:
    """Find earlier messages of this chat by words, newest first."""
    if not query.strip():
        raise ToolRefused("tape.search was not run: the query has no words")
    everything = may(ALL_KINDS, context.role, shared=context.shared)
    if not (everything or TALK.issuperset(kinds)):
        raise ToolRefused(
            "tape.search was not run: only admins may search other kinds than message and anchor"
        )
    tape = await tape_of(context, chat)
    person = await person_of(context, author, chat) if author else None
    try:
        found = await tape.search(
            query,
            limit=limit + SPARE_HITS,
            kinds=tuple(kinds) or tuple(TALK),
            since=_date("since", since),
            until=_date("until", until),
            author=person,
        )
    except QueryRefused as refused:
        raise ToolRefused(f"tape.search was not run: {refused}") from refused
    own = await _questions(context) if tape.name == context.tape.name else set()
    hits = [entry for entry in found if entry.id not in own and not _is_echo(entry, context.turn)]
    shown = [_hit(entry, query, context.link(entry)) for entry in hits[:limit]]
    return {"query": query, "note": QUOTED_NOTE, "hits": shown}


async def _questions(context: ToolContext) -> set[int]:
    steered = await steered_into(context.tape, context.turn) if context.turn else ()
    return {*context.asked, *steered}


def _is_echo(entry: Entry, turn: str) -> bool:
    of_this_turn = bool(turn) and entry.meta.get("turn") == turn
    return of_this_turn or HINT in entry.meta or "command" in entry.meta


def _date(name: str, text: str) -> str | None:
    if not text.strip():
        return None
    try:
        return utc_iso(parse_date(text.strip()))
    except (ValueError, OverflowError):
        raise ToolRefused(
            f"tape.search was not run: {name} is not a date such as 2026-01-31 or 2026-01-31T14:30"
        ) from None


def _hit(entry: Entry, query: str, link: str) -> dict[str, Any]:
    text = bare_text(entry) or searchable_text(entry)
    if entry.meta.get("text") and (foreign := others_of(entry)):
        text = f"{text}\n{foreign}"  # with who wrote it
    date = entry.meta.get("said_at") or entry.date
    hit: dict[str, Any] = {"id": entry.id, "date": date, "kind": entry.kind}
    if entry.meta.get("author"):
        hit["by"] = who(entry)
    elif entry.payload.get("role") == "assistant":
        hit["by"] = "you"
    if link:
        hit["link"] = link
    return {**hit, "text": _excerpt(text, query)}


def _excerpt(text: str, query: str) -> str:
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    words = [word.strip('"') for word in query.casefold().split()]
    places = [place for word in words if word and (place := text.casefold().find(word)) >= 0]
    start = max(0, min(places, default=0) - EXCERPT_CHARACTERS // 3)
    start = min(start, len(text) - EXCERPT_CHARACTERS)
    end = start + EXCERPT_CHARACTERS
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
