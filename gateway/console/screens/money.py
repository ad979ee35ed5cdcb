"""Money: what was used by day, chat, person or model, on the screen and as a CSV file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from io import StringIO
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
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
    "key", "name", "turns", "calls", "input", "cached", "output", "estimated", "cost",
)  # fmt: skip
NUMBERS: Final = COLUMNS[2:]
SHOWN_DAYS: Final = 30
MAX_ROWS: Final = 1_000
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute."""


def money_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of what was used."""

    async def read(request: Request) -> tuple[str, str, str, list[dict[str, Any]], dict[str, Any]]:
        visitor = await rights.visitor(request)
        asked = request.query_params
        by = asked.get("by", "day")
        if by not in BY:
            raise AdminError(f"{by[:20]} is no way to sum up: use {', '.join(BY)}")
        today = parts.services.clock.now().date()
        since = _day(asked.get("since", ""), (today - timedelta(days=SHOWN_DAYS - 1)).isoformat())
        until = _day(asked.get("until", ""), today.isoformat())
        scope = await visitor.scope()
        values = {**scope, "since": since, "until": until, "limit": MAX_ROWS}
        select = parts.reads.select
        rows = await select("ledger.console_usage", {**values, "by": by})
        total = await select("ledger.console_usage", {**values, "by": "total"})
        chats = await visitor.chats() if by == "chat" else []
        titles = {chat.session_id: chat.title for chat in chats}
        return by, since, until, [_row(one, titles) for one in rows], _sum(total)

    async def money(request: Request) -> Any:
        by, since, until, rows, total = await read(request)
        return {"by": by, "since": since, "until": until, "rows": rows, "total": total}

    async def as_csv(request: Request) -> Any:
        by, since, until, rows, _total = await read(request)
        name = f"tapeway-{by}-{since}-{until}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        currency = parts.services.settings.agent.currency
        return Response(
            to_csv(rows, currency), media_type="text/csv; charset=utf-8", headers=headers
        )

    return [console_route("/money", money), console_route("/money.csv", as_csv)]


def to_csv(rows: Iterable[Mapping[str, Any]], currency: str) -> str:
    """Return rows as CSV with a header; no cell of other people's text is a formula."""
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow((*COLUMNS, "currency"))
    for row in rows:
        cells = {**row, "cost": amount(row["cost"])}
        writer.writerow([*(_cell(cells[name]) for name in COLUMNS), currency])
    return out.getvalue()


def _cell(value: Any) -> Any:
    is_formula = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if is_formula else value


def _row(row: Row, titles: Mapping[str, str]) -> dict[str, Any]:
    key = str(row["key"] or "")
    name = titles.get(key) or fit(str(row["name"] or ""))
    return {"key": key, "name": name, **{one: row[one] or 0 for one in NUMBERS}}


def _sum(rows: list[Row]) -> dict[str, Any]:
    return {one: (rows[0][one] or 0) if rows else 0 for one in NUMBERS}


def _day(given: str, default: str) -> str:
    if given and not _DAY.fullmatch(given):
        raise AdminError("write a day as 2026-01-31")
    return given or default
