"""List, print and change rows of the ledger."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

import anyio

from gateway.cli.admin_client import open_admin
from gateway.cli.table import print_table
from gateway.settings import Settings

COLUMNS: Final = ("id", "status", "account_id", "chat_id", "turn_id", "attempts", "why")


def show_list(settings: Settings, status: str, limit: int) -> int:
    """Print the newest rows as a table."""
    print_table(COLUMNS, _call(settings, "ledger.rows", status=status, limit=limit))
    return 0


def show_row(settings: Settings, row: str) -> int:
    """Print a row as JSON."""
    print(json.dumps(_call(settings, "ledger.show", name=row), ensure_ascii=False, indent=2))
    return 0


def change(settings: Settings, action: str, row: str) -> int:
    """Retry or drop a row, and print what happens."""
    print(_call(settings, f"ledger.{action}", name=row))
    return 0


def _call(settings: Settings, call: str, **arguments: Any) -> Any:
    return anyio.run(partial(_call_admin, settings, call, **arguments))


async def _call_admin(settings: Settings, call: str, **arguments: Any) -> Any:
    async with open_admin(settings) as admin:
        return await admin.call(call, **arguments)
