"""From a query to SQL: the pieces of a dialect's file, put together.

A query goes by one index, that of the first of its conditions which has one. Of a condition with
several values each goes by itself, and SQLite merges what they give in the order of ids: so a read
costs what it returns, however long the tape is and however rare what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, MESSAGE, dump
from tape.query import ROOM, Query, fold
from tape.turn_events import LOOP_STEP, OUTBOUND, RECEIPT, TOOL_DONE, TURN_END, TURN_START

FOREVER: Final = ROOM
"""Before this are all entries of a tape."""

MOST_ARMS: Final = 50
"""A condition with more values than that is held to each entry instead."""

EVERY_TURNS: Final = frozenset({TURN_START, TURN_END, LOOP_STEP, TOOL_DONE, OUTBOUND, RECEIPT})
"""Events that are so many that they have no index; the same list stands in the SQL of the index."""

Arms = Sequence[tuple[str, str | None]]
"""The ways to what a query asks for: a statement's name, and the value that it goes by."""


def compose(query: Query, sql: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the statement of a query, and its values but for the tape's number."""
    arms, implied = _arms(query)
    conditions = _conditions(query)
    values: dict[str, Any] = {
        "after": _within(query.after),
        "before": _within(query.before) if query.before is not None else FOREVER,
        "limit": query.limit if query.limit is not None else -1,
    }
    rest = []
    for name, value in conditions.items():
        if name in implied:
            continue
        values[name] = value
        piece = "lane_or_none" if name == "lane" and query.unlaned else name
        rest.append(sql[f"tape.where_{piece}"])
    if query.about is not None and "about" not in implied:
        rest.append(sql["tape.where_about"])
    if query.unauthored:
        rest.append(sql["tape.where_unauthored"])
    selects = []
    for number, (way, value) in enumerate(arms):
        values[f"value{number}"] = value
        pieces = [sql["tape.columns"], sql[f"tape.{way}"], *rest]
        selects.append("\n".join(pieces).replace(":value", f":value{number}"))
    for name, ids in (("ids", query.ids), ("about", query.about)):
        if ids is not None:
            values[name] = dump([number for number in ids if 0 < number < FOREVER])
    placed = arms[0][0] in ("by_place", "by_ids")
    order = f"{'newest' if query.newest else 'oldest'}_{'placed' if placed else 'first'}"
    return "\nUNION ALL\n".join(selects) + "\n" + sql[f"tape.{order}"], values


def _conditions(query: Query) -> dict[str, Any]:
    """Return the conditions that a query has, with their values as SQL takes them."""
    several = {"kinds": query.kinds, "names": query.any_name, "authors": query.any_author}
    one = {
        "since": query.since,
        "until": query.until,
        "lane": query.lane,
        "turn": query.turn,
        "text": fold(query.text) if query.text is not None else None,
    }
    found = {name: dump(list(some)) for name, some in several.items() if some is not None}
    return {**found, **{name: value for name, value in one.items() if value is not None}}


def _arms(query: Query) -> tuple[Arms, frozenset[str]]:
    """Choose the index that a query goes by, and tell which conditions that already holds."""
    if query.ids is not None:
        return [("by_ids", None)], frozenset()
    if query.turn is not None:
        return [("by_turn", query.turn)], frozenset({"turn"})
    if query.about is not None:
        return [("by_about", None)], frozenset({"about"})
    ways = (_by_names, _by_anchors_of_lane, _by_lane, _by_authors, _by_kinds)
    for arms, implied in (way(query) for way in ways):
        if 0 < len(arms) <= MOST_ARMS:
            return arms, frozenset(implied)
    return [("by_place", None)], frozenset()


def _by_names(query: Query) -> tuple[Arms, set[str]]:
    kinds = [kind for kind in (ANCHOR, EVENT) if query.kinds is None or kind in query.kinds]
    names = dict.fromkeys(query.any_name or ())
    if EVENT in kinds and not EVERY_TURNS.isdisjoint(names):
        return [], set()
    return [(f"by_{kind}_name", name) for kind in kinds for name in names], {"names", "kinds"}


def _by_anchors_of_lane(query: Query) -> tuple[Arms, set[str]]:
    """Go by a lane's anchors and by those of none: the anchors of other lanes may be many."""
    if query.lane is None or not query.unlaned or query.kinds != (ANCHOR,):
        return [], set()
    return [("by_anchor_lane", query.lane), ("by_anchor_unlaned", None)], {"lane", "kinds"}


def _by_lane(query: Query) -> tuple[Arms, set[str]]:
    if query.lane is None or query.unlaned:
        return [], set()
    return [("by_lane", query.lane)], {"lane"}


def _by_authors(query: Query) -> tuple[Arms, set[str]]:
    return [("by_author", author) for author in dict.fromkeys(query.any_author or ())], {"authors"}


def _by_kinds(query: Query) -> tuple[Arms, set[str]]:
    """Go by kinds where all that are asked for are few on every tape."""
    kinds = dict.fromkeys(query.kinds or ())
    if MESSAGE in kinds or EVENT in kinds:
        return [], set()
    return [("by_anchor", None) if kind == ANCHOR else ("by_kind", kind) for kind in kinds], {
        "kinds"
    }


def _within(number: int) -> int:
    """Keep an id inside its tape's room: what lies beyond is another tape's."""
    return min(max(number, 0), FOREVER)
