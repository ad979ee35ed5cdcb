"""List, print and change rows of the ledger."""

from __future__ import annotations

import json
from typing import Final

from gateway.cli.admin_client import open_admin
from gateway.cli.table import print_table
from gateway.settings import Settings

COLUMNS: Final = ("id", "status", "account_id", "chat_id", "turn_id", "attempts", "why")


async def show_list(settings: Settings, status: str, limit: int) -> int:
    async with open_admin(settings) as admin:
        print_table(COLUMNS, await admin.call("ledger.rows", status=status, limit=limit))
    return 0


async def show_row(settings: Settings, row: str) -> int:
    async with open_admin(settings) as admin:
        shown = await admin.call("ledger.show", name=row)
    print(json.dumps(shown, ensure_ascii=False, indent=2))
    return 0


async def change(settings: Settings, action: str, row: str) -> int:
    async with open_admin(settings) as admin:
        print(await admin.call(f"ledger.{action}", name=row))
    return 0
