"""`tapeway usage`: the tokens that answers have used, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from gateway.cli.admin_client import open_admin
from gateway.cli.table import print_json, print_table
from gateway.printing import print_err
from gateway.wording import amount, counted

if TYPE_CHECKING:
    from gateway.cli.reach.known_home import KnownHome
    from gateway.settings import Settings

TOTAL: Final = "total"
NAMED: Final = ("chat", "person")

COUNTS: Final = (
    "turns",
    "calls",
    "input",
    "cached",
    "output",
    "cost",
    "unpriced",
    "estimated",
    "refused",
)
SELDOM: Final = ("cost", "unpriced", "estimated", "refused")
"""Costs, calls of no known price or with estimated tokens, questions beyond a budget."""


async def show_usage(settings: Settings | KnownHome, by: str, days: int, as_json: bool) -> int:
    since = (datetime.now(UTC) - timedelta(days=days - 1)).date().isoformat()
    async with open_admin(settings) as admin:
        rows = await admin.call("ledger.usage", by=by, since=since)
        total = await admin.call("ledger.usage", by=TOTAL, since=since)
    if rows and rows[0]["groups"] > len(rows):
        left_out = "the oldest" if by in ("day", "turn") else "those that used least"
        says = f"({len(rows)} of {rows[0]['groups']} lines, without {left_out})"
        print_err(says)
    if as_json:
        for row in rows:
            print_json(_named(row, by))
        return 0
    shown = [_shown(_named(row, by)) for row in rows]
    if len(rows) > 1:
        shown.append(_shown(_named(total[0], by)))
    names = ("name",) if by in NAMED else ()
    # Where no price is known, a column that says so in each line says nothing.
    priced = any(row["cost"] for row in rows)
    hidden = () if priced else ("cost", "unpriced")
    counts = [
        name
        for name in COUNTS
        if name not in hidden and (name not in SELDOM or any(row[name] for row in shown))
    ]
    empty = f"No answer used a model in the last {counted(days, 'day')}."
    print_table((by, *names, *counts), shown, empty=empty, fill=names[0] if names else by)
    return 0


def _named(row: Mapping[str, Any], by: str) -> dict[str, Any]:
    name = {"name": row["name"]} if by in NAMED else {}
    return {by: row["key"], **name, **{count: row[count] for count in COUNTS}}


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    unknown = "unknown" if row["unpriced"] else ""
    return {**row, "cost": amount(row["cost"]) if row["cost"] else unknown}
