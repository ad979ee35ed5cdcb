"""`tapeway tape erase`, beside a running gateway or without one."""

from __future__ import annotations

import anyio

from gateway.cli.admin_client import AdminClient, open_admin
from gateway.cli.screen import print_note
from gateway.cli.table import print_json, print_table
from gateway.errors import GatewayError
from gateway.printing import print_out
from gateway.settings import Settings
from gateway.wording import counted

COLUMNS = ("tape", "entry", "kind", "text")
POLL_SECONDS = 0.1


async def erase(settings: Settings, what: str, chat: str, name: str, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=chat) if chat else ""
        begun = await admin.call("erasures.begin", what=what, tape=tape, name=name)
        while (state := await admin.call("erasures.state", name=begun["erasure"]))[
            "state"
        ] != "done":
            if state["problem"]:
                raise GatewayError(state["problem"])
            await anyio.sleep(POLL_SECONDS)
        if as_json:
            found = await admin.call("erasures.mentions")
            print_json({"entries": state["entries"], "mentions": found})
        else:
            print_out(f"erased: {counted(state['entries'], 'entry', 'entries')}")
            await _print_mentions(admin)
    return 0


async def show_mentions(settings: Settings, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        if as_json:
            for found in await admin.call("erasures.mentions"):
                print_json(found)
        elif not await _print_mentions(admin):
            print_note("Nothing that was erased is mentioned anywhere.")
    return 0


async def _print_mentions(admin: AdminClient) -> int:
    found = await admin.call("erasures.mentions")
    if found:
        print_out("these may still mention it; erase them with --message #ENTRY, or leave them:")
        print_table(COLUMNS, found)
    return len(found)
