"""Build the SQL for a query from the statements in a dialect's file.

A query uses one index: that of its first condition with an index. A condition with several values
becomes one SELECT per value, which SQLite merges in id order. So the cost of a read depends on its
result, not on the length of the tape or on how rare a value is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tape.entry import ANCHOR, EVENT, MESSAGE, dump
from tape.query import ID_SPACE, Query, fold
from tape.turn_events import LOOP_STEP, OUTBOUND, RECEIPT, TOOL_DONE, TURN_END, TURN_START

MAX_BRANCHES: Final = 50
"""Maximum values of a condition for which its index is used; with more, entries are filtered."""

UNINDEXED_EVENTS: Final = frozenset({TURN_START, TURN_END, LOOP_STEP, TOOL_DONE, OUTBOUND, RECEIPT})
"""Events too frequent for an index; the index's SQL has the same list."""

Branches = Sequence[tuple[str, str | None]]
"""The SELECTs of a query, each as a statement's name and the value to look up."""


def compose(query: Query, sql: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the SQL for a query, and all its values except the tape's number."""
    branches, implied = _branches(query)
    conditions = _conditions(query)
    values: dict[str, Any] = {
        "after": _within(query.after),
        "before": _within(query.before) if query.before is not None else ID_SPACE,
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
    for number, (name, value) in enumerate(branches):
        values[f"value{number}"] = value
        pieces = [sql["tape.columns"], sql[f"tape.{name}"], *rest]
        selects.append("\n".join(pieces).replace(":value", f":value{number}"))
    for name, ids in (("ids", query.ids), ("about", query.about)):
        if ids is not None:
            values[name] = dump([number for number in ids if 0 < number < ID_SPACE])
    placed = branches[0][0] in ("by_place", "by_ids")
    order = f"{'newest' if query.newest else 'oldest'}_{'placed' if placed else 'first'}"
    return "\nUNION ALL\n".join(selects) + "\n" + sql[f"tape.{order}"], values


def _conditions(query: Query) -> dict[str, Any]:
    """Return a mapping from each SQL condition of a query to the values that it binds."""
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


def _branches(query: Query) -> tuple[Branches, frozenset[str]]:
    """Choose the index for a query; also return the conditions that the index covers."""
    if query.ids is not None:
        return [("by_ids", None)], frozenset()
    if query.turn is not None:
        return [("by_turn", query.turn)], frozenset({"turn"})
    if query.about is not None:
        return [("by_about", None)], frozenset({"about"})
    indexes = (_by_names, _by_lane, _by_authors, _by_kinds)
    for branches, implied in (index(query) for index in indexes):
        if 0 < len(branches) <= MAX_BRANCHES:
            return branches, frozenset(implied)
    return [("by_place", None)], frozenset()


def _by_names(query: Query) -> tuple[Branches, set[str]]:
    kinds = [kind for kind in (ANCHOR, EVENT) if query.kinds is None or kind in query.kinds]
    names = dict.fromkeys(query.any_name or ())
    if EVENT in kinds and not UNINDEXED_EVENTS.isdisjoint(names):
        return [], set()
    return [(f"by_{kind}_name", name) for kind in kinds for name in names], {"names", "kinds"}


def _by_lane(query: Query) -> tuple[Branches, set[str]]:
    if query.lane is None:
        return [], set()
    if not query.unlaned:
        return [("by_lane", query.lane)], {"lane"}
    if query.kinds != (ANCHOR,):
        return [], set()
    # Read only the anchors of this lane and of no lane: other lanes may have many.
    return [("by_anchor_lane", query.lane), ("by_anchor_unlaned", None)], {"lane", "kinds"}


def _by_authors(query: Query) -> tuple[Branches, set[str]]:
    return [("by_author", author) for author in dict.fromkeys(query.any_author or ())], {"authors"}


def _by_kinds(query: Query) -> tuple[Branches, set[str]]:
    """Use the index on kinds if all the query's kinds are rare on every tape."""
    kinds = dict.fromkeys(query.kinds or ())
    if MESSAGE in kinds or EVENT in kinds:
        return [], set()
    return [("by_anchor", None) if kind == ANCHOR else ("by_kind", kind) for kind in kinds], {
        "kinds"
    }


def _within(number: int) -> int:
    return min(max(number, 0), ID_SPACE)
