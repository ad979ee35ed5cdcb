"""Money: what was used by day, chat, person or model, on the screen and as a CSV file."""

from __future__ import annotations

import csv
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import timedelta
from io import StringIO
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute

from agent.names import fit
from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.errors import AdminError
from gateway.wording import amount
from tape.unit_of_work import Row

BY: Final = ("day", "chat", "person", "model")
COLUMNS: Final = (
    "key", "name", "turns", "calls", "input", "cached", "output", "estimated", "unpriced", "cost",
)  # fmt: skip
NUMBERS: Final = COLUMNS[2:]
SHOWN_DAYS: Final = 30
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""


def money_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of what was used."""
    most = parts.services.bounds.console_usage

    async def asked(request: Request) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what is asked for, and the titles of the chats by session if they are needed."""
        visitor = await rights.visitor(request)
        query = request.query_params
        by = query.get("by", "day")
        if by not in BY:
            raise AdminError(f"{by[:20]} is no way to sum up: use {', '.join(BY)}")
        today = parts.services.clock.now().date()
        since = _day(query.get("since", ""), (today - timedelta(days=SHOWN_DAYS - 1)).isoformat())
        until = _day(query.get("until", ""), today.isoformat())
        chats = await visitor.chats() if by == "chat" else []
        values = {**await visitor.scope(), "by": by, "since": since, "until": until}
        return values, {chat.session_id: chat.title for chat in chats}

    async def money(request: Request) -> Any:
        values, titles = await asked(request)
        select, about = parts.reads.select, {one: values[one] for one in ("by", "since", "until")}
        rows = await select("ledger.console_usage", {**values, "limit": most + 1})
        total = await select("ledger.console_usage", {**values, "by": "total", "limit": 1})
        shown = [_row(one, titles) for one in rows[:most]]
        return {**about, "rows": shown, "more": len(rows) > most, "total": _sum(total)}

    async def page(values: Mapping[str, Any], after: str | None) -> list[Row]:
        place = {"first": int(after is None), "after": after or "", "limit": most}
        return await parts.reads.select("ledger.console_usage_page", {**values, **place})

    async def as_csv(request: Request) -> Any:
        values, titles = await asked(request)
        name = f"tapeway-{values['by']}-{values['since']}-{values['until']}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        currency = parts.services.settings.agent.currency
        first = await page(values, None)

        async def lines() -> AsyncGenerator[str, None]:
            # What cannot be read breaks the file off: the browser says that it is not whole.
            rows = first
            yield to_csv([], currency)
            while rows:
                yield to_csv([_row(one, titles) for one in rows], currency, header=False)
                rows = await page(values, rows[-1]["key"]) if len(rows) == most else []

        return StreamingResponse(lines(), media_type="text/csv; charset=utf-8", headers=headers)

    return [console_route("/money", money), console_route("/money.csv", as_csv)]


def to_csv(rows: Iterable[Mapping[str, Any]], currency: str, *, header: bool = True) -> str:
    """Return rows as CSV; no cell of other people's text is a formula."""
    out = StringIO()
    writer = csv.writer(out)
    if header:
        writer.writerow((*COLUMNS, "currency"))
    for row in rows:
        cells = {**row, "cost": "" if row["cost"] is None else amount(row["cost"])}
        writer.writerow([*(_cell(cells[name]) for name in COLUMNS), currency])
    return out.getvalue()


def _cell(value: Any) -> Any:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _row(row: Row, titles: Mapping[str, str]) -> dict[str, Any]:
    key = str(row["key"] or "")
    name = titles.get(key) or fit(str(row["name"] or ""))
    return {
        "key": key,
        "name": name,
        **{one: row[one] or 0 for one in NUMBERS},
        "cost": row["cost"],
    }


def _sum(rows: list[Row]) -> dict[str, Any]:
    """Return the total; its `cost` is that of what has a known price, or None."""
    found = {one: (rows[0][one] or 0) if rows else 0 for one in NUMBERS}
    return {**found, "cost": rows[0]["cost"] if rows else None}


def _day(given: str, default: str) -> str:
    if given and not _DAY.fullmatch(given):
        raise AdminError("write a day as 2026-01-31")
    return given or default
