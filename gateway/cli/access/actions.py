"""List and change access, and print pairing codes."""

from __future__ import annotations

import json
from typing import Any, Final

from gateway.cli.admin_client import open_admin
from gateway.cli.table import print_line, print_table
from gateway.settings import Settings

COLUMNS: Final = ("who", "role", "name", "granted_by", "granted_at")


async def show_rules(settings: Settings, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        found = await admin.call("access.rules")
    if as_json:
        print_line(json.dumps(found, ensure_ascii=False))
        return 0
    rules = [{**rule, "who": f"{rule['account_id']}:{rule['id']}"} for rule in found["rules"]]
    waiting = [
        {
            "who": f"{request['account_id']}:{request['chat_id']}",
            "role": "closed" if request["state"] == "former" else "waiting",
            "name": request["title"],
            "granted_at": request["day"],
        }
        for request in found["waiting"]
    ]
    print_table(COLUMNS, [_printable(row) for row in (*rules, *waiting)])
    return 0


async def change(settings: Settings, action: str, arguments: dict[str, str], account: str) -> int:
    async with open_admin(settings) as admin:
        print_line(await admin.call(f"access.{action}", **arguments, account=account))
    return 0


async def pair(settings: Settings) -> int:
    async with open_admin(settings) as admin:
        found = await admin.call("access.pair")
    for line in pairing_lines(found):
        print_line(line)
    return 0


def pairing_lines(found: dict[str, Any]) -> list[str]:
    """Return the lines that show a pairing code and how it is sent."""
    minutes = found["seconds"] // 60
    hints = [f"  {channel}: {hint}" for channel, hint in found["hints"].items()]
    return [
        f"Your pairing code is {found['code']}. It works once, within {minutes} minutes. Whoever",
        "sends it to the bot in a private chat becomes the bot's owner on that platform:",
        *hints,
    ]


def _printable(row: dict[str, Any]) -> dict[str, str]:
    """Return a row without control characters: anybody may have chosen the names."""
    return {
        name: "".join(char for char in str(value) if char.isprintable())[:60]
        for name, value in row.items()
    }
