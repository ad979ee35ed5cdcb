"""`tapeway ledger`: through the running gateway, or on the database where none runs."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol

import anyio

from gateway.admin.ledger_admin import LedgerAdmin
from gateway.cli.admin_client import Remote, open_core
from gateway.settings import Settings

_PATH = "/api/ledger"

COLUMNS = ("id", "status", "account_id", "chat_id", "turn_id", "attempts", "why")


class _Desk(Protocol):
    """What both ways to the ledger offer; see `LedgerAdmin`."""

    async def rows(self, status: str = "", limit: int = 50) -> list[dict[str, Any]]: ...

    async def show(self, name: str) -> dict[str, Any]: ...

    async def retry(self, name: str) -> str: ...

    async def drop(self, name: str) -> str: ...


class _RemoteDesk:
    """The desk of the running gateway."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    async def rows(self, status: str = "", limit: int = 50) -> list[dict[str, Any]]:
        wanted = {"status": status, "limit": limit}
        found: list[dict[str, Any]] = await self._remote.ask("GET", _PATH, params=wanted)
        return found

    async def show(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._remote.ask("GET", f"{_PATH}/{name}")
        return found

    async def retry(self, name: str) -> str:
        return str((await self._remote.ask("POST", f"{_PATH}/{name}/retry"))["done"])

    async def drop(self, name: str) -> str:
        return str((await self._remote.ask("POST", f"{_PATH}/{name}/drop"))["done"])


def show_list(settings: Settings, status: str, limit: int) -> int:
    """Print the newest rows as a table."""
    rows = anyio.run(partial(_rows, settings, status, limit))
    table = [COLUMNS, *([str(row.get(name) or "") for name in COLUMNS] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(COLUMNS))]
    for line in table:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    if not rows:
        print("(nothing)", file=sys.stderr)
    return 0


def show_row(settings: Settings, row: str) -> int:
    """Print a row as JSON."""
    print(json.dumps(anyio.run(partial(_show, settings, row)), ensure_ascii=False, indent=2))
    return 0


def change(settings: Settings, what: str, row: str) -> int:
    """Try a row again, or drop it, and print what happens."""
    print(anyio.run(partial(_change, settings, what, row)))
    return 0


async def _rows(settings: Settings, status: str, limit: int) -> list[dict[str, Any]]:
    async with _desk(settings) as desk:
        return await desk.rows(status, limit)


async def _show(settings: Settings, row: str) -> dict[str, Any]:
    async with _desk(settings) as desk:
        return await desk.show(row)


async def _change(settings: Settings, what: str, row: str) -> str:
    async with _desk(settings) as desk:
        return await (desk.retry(row) if what == "retry" else desk.drop(row))


@asynccontextmanager
async def _desk(settings: Settings) -> AsyncIterator[_Desk]:
    async with open_core(settings) as found:
        yield _RemoteDesk(found) if isinstance(found, Remote) else LedgerAdmin(found, None)
