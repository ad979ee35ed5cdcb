"""List and change access, and print pairing codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gateway.cli.admin_client import open_admin
from gateway.cli.screen import hanging, safe, short_time
from gateway.cli.table import print_json, print_table
from gateway.printing import print_out

if TYPE_CHECKING:
    from gateway.cli.reach.known_home import KnownHome
    from gateway.settings import Settings

COLUMNS: Final = ("who", "role", "name", "by", "since")
EMPTY: Final = "Nobody has access by a rule. `tapeway pair` prints a code that makes you an owner."


async def show_rules(settings: Settings | KnownHome, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        found = await admin.call("access.rules")
    if as_json:
        print_json(found)
        return 0
    rules = [
        {
            **rule,
            "who": f"{rule['account_id']}:{rule['id']}",
            "by": rule["granted_by"],
            "since": short_time(rule["granted_at"]),
        }
        for rule in found["rules"]
    ]
    waiting = [
        {
            "who": f"{request['account_id']}:{request['chat_id']}",
            "role": "closed" if request["state"] == "former" else "waiting",
            "name": request["title"],
            "since": request["day"],
        }
        for request in found["waiting"]
    ]
    print_table(COLUMNS, (*rules, *waiting), empty=EMPTY, fill="name")
    return 0


async def change(
    settings: Settings | KnownHome, action: str, arguments: dict[str, str], as_json: bool
) -> int:
    async with open_admin(settings) as admin:
        done = await admin.call(f"access.{action}", **arguments)
    if as_json:
        print_json({"done": done})
    else:
        print_out(safe(done))
    return 0


async def pair(settings: Settings | KnownHome, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        found = await admin.call("access.pair")
    if as_json:
        print_json(found)
        return 0
    for line in pairing_lines(found):
        print_out("\n".join(hanging("", line, 4)))
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
