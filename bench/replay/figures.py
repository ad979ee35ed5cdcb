"""Means of what was seen: recall and precision of rankings, sets and views, and what views cost."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from bench.irc import Log
from bench.replay.play import Seen
from bench.replay.prompts import WARM_MINUTES, Call

DEPTHS: Final = (10, 20, 50)
Row = dict[str, float]


def figures(log: Log, seen: Sequence[Seen]) -> list[Row]:
    """Return the figures of each query; what does not apply is absent."""
    return [_figures_of(log, one) for one in seen]


def _figures_of(log: Log, one: Seen) -> Row:
    gold = log.gold(one.line)
    parents = {number for number in log.parents.get(one.line, ()) if number >= log.first_line}
    found: Row = {}
    for depth in DEPTHS:
        top = set(one.ranked[:depth])
        found[f"R@{depth}"], found[f"P@{depth}"] = recall_precision(gold, top)
        found[f"parents@{depth}"] = float(parents <= top)
    found["last20_recall"], found["last20_precision"] = recall_precision(gold, set(one.last[-20:]))
    found["set_recall"], found["set_precision"] = recall_precision(gold, set(one.chosen))
    if one.call is not None:
        found |= call_figures(gold, one.call)
        if one.call.cut:
            found["cut_recall"], found["cut_precision"] = recall_precision(
                gold, set(one.call.shown)
            )
        as_many = one.last[-len(one.call.shown) :] if one.call.shown else ()
        for name, last in (("as_many", as_many), ("call20", one.last[-20:])):
            recall, precision = recall_precision(gold, set(last))
            found[f"{name}_recall"], found[f"{name}_precision"] = recall, precision
    return found


def call_figures(gold: AbstractSet[int], call: Call) -> Row:
    """Return the figures of a call."""
    recall, precision = recall_precision(gold, set(call.shown))
    cached = {
        f"cached_{minutes}": float(tokens)
        for minutes, tokens in zip(WARM_MINUTES, call.cached, strict=True)
    }
    return {
        "view_recall": recall,
        "view_precision": precision,
        "shown": len(call.shown),
        "tokens": call.tokens,
        "cost": call.cost,
        **cached,
    }


def recall_precision(gold: AbstractSet[int], shown: AbstractSet[int]) -> tuple[float, float]:
    """Return the share of what belongs that is shown, and of what is shown that belongs."""
    hits = len(gold & shown)
    return hits / len(gold), hits / len(shown) if shown else 0.0


def table(rows: Sequence[Row]) -> Row:
    """Return the macro means over queries, shares in percent."""
    shares = [f"{what}@{depth}" for depth in DEPTHS for what in ("R", "P", "parents")]
    sets = ("last20", "set", "view", "cut", "as_many", "call20")
    shares += [f"{name}_{what}" for name in sets for what in ("recall", "precision")]
    told = {name: 100 * _mean(rows, name) for name in shares}
    for name in ("last20", "set"):
        told[f"{name}_F1"] = harmonic(told[f"{name}_recall"], told[f"{name}_precision"])
    told |= costs(rows)
    warm = [row for row in rows if row.get("cached_60", 0.0) > 0]
    told["cost_warm"] = statistics.fmean(row["cost"] for row in warm) if warm else 0.0
    spent = sum(row["tokens"] for row in warm)
    told["cached_warm"] = 100 * sum(row["cached_60"] for row in warm) / spent if warm else 0.0
    told["queries"] = len(rows)
    told["calls"] = sum("tokens" in row for row in rows)
    told["cut_calls"] = sum("cut_recall" in row for row in rows)
    return {name: round(value, 1) for name, value in told.items()}


def costs(rows: Sequence[Row]) -> Row:
    """Return the share of the tokens that were cached, what a call cost, and what it showed."""
    told: Row = {}
    tokens = sum(row.get("tokens", 0.0) for row in rows)
    for minutes in WARM_MINUTES:
        cached = sum(row.get(f"cached_{minutes}", 0.0) for row in rows)
        told[f"cached_{minutes}min"] = 100 * cached / tokens if tokens else 0.0
    told["cost"] = _mean(rows, "cost")
    told["shown"] = _mean(rows, "shown")
    return told


def policy_table(rows: Sequence[Row]) -> Row:
    """Return the means of the calls of one policy."""
    told = {name: 100 * _mean(rows, name) for name in ("view_recall", "view_precision")}
    told["F1"] = harmonic(*told.values())
    told |= costs(rows) | {"tokens": _mean(rows, "tokens"), "calls": len(rows)}
    return {name: round(value, 1) for name, value in told.items()}


def harmonic(recall: float, precision: float) -> float:
    """Return the harmonic mean of two shares."""
    both = recall + precision
    return 2 * recall * precision / both if both else 0.0


def _mean(rows: Iterable[Row], name: str) -> float:
    found = [row[name] for row in rows if name in row]
    return statistics.fmean(found) if found else 0.0
