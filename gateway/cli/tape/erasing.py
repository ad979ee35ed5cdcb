"""`tapeway tape erase`, beside a running gateway or without one."""

from __future__ import annotations

import anyio

from gateway.cli.admin_client import AdminClient, open_admin
from gateway.cli.table import print_line, print_table
from gateway.errors import GatewayError
from gateway.settings import Settings

COLUMNS = ("tape", "entry", "kind", "text")
POLL_SECONDS = 0.1


async def erase(settings: Settings, what: str, chat: str, name: str) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=chat) if chat else ""
        begun = await admin.call("erasures.begin", what=what, tape=tape, name=name)
        while (state := await admin.call("erasures.state", name=begun["erasure"]))[
            "state"
        ] != "done":
            if state["problem"]:
                raise GatewayError(state["problem"])
            await anyio.sleep(POLL_SECONDS)
        print_line(f"erased: {state['entries']} entries")
        await _print_mentions(admin)
    return 0


async def show_mentions(settings: Settings) -> int:
    async with open_admin(settings) as admin:
        await _print_mentions(admin)
    return 0


async def _print_mentions(admin: AdminClient) -> None:
    found = await admin.call("erasures.mentions")
    if found:
        print_line("these may still mention it; erase them with --message #ENTRY, or leave them:")
        print_table(COLUMNS, found)
