"""List, print and change rows of the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from gateway.cli.admin_client import open_admin
from gateway.cli.screen import clipped, columns, on_terminal, one_line, print_note, short_time
from gateway.cli.table import print_json, print_table
from gateway.printing import print_out

if TYPE_CHECKING:
    from gateway.cli.reach.known_home import KnownHome
    from gateway.settings import Settings

COLUMNS: Final = ("row", "when", "who", "status", "what and why")
MAX_WHO: Final = 28  # columns of a name and a chat, at most a quarter of the terminal
SETTLED: Final = ("done", "sent", "taped", "joined")
EMPTY: Final = (
    "No message is listed. A message that asks the bot appears here; what people only say to each"
    " other stands on the tape: `tapeway tape list`."
)


async def show_list(
    settings: Settings | KnownHome, status: str, limit: int, as_json: bool = False
) -> int:
    async with open_admin(settings) as admin:
        rows = await admin.call("ledger.rows", status=status, limit=limit)
    if as_json:
        for row in rows:
            print_json(row)
        return 0
    empty = f"No row has the status {status}: `tapeway ledger list` shows all." if status else EMPTY
    print_table(COLUMNS, map(_shown, rows), empty=empty)
    asks = next((row for row in rows if row["status"] not in SETTLED), None)
    if asks and on_terminal():
        print_note(f"`tapeway explain {asks['id']}` says why it is {asks['status']}.")
    return 0


async def show_row(settings: Settings | KnownHome, row: str, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        shown = await admin.call("ledger.show", name=row)
    print_json(shown, None if as_json else 2)
    return 0


async def change(settings: Settings | KnownHome, action: str, row: str, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        done = await admin.call(f"ledger.{action}", name=row)
    if as_json:
        print_json({"done": done})
    else:
        print_out(done)
    return 0


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    incoming = row["id"].startswith("in-")
    chat = row.get("chat_title") or row["session_id"] or f"{row['account_id']}:{row['chat_id']}"
    most = min(MAX_WHO, columns() // 4)
    name = clipped(one_line(row.get("name") or "?"), most // 2)
    who = f"{name} in {chat}" if incoming else f"to {chat}"
    tries = f"{row['attempts']} attempts" if row["attempts"] > 1 else ""
    notes = "; ".join(filter(None, (row["why"], tries)))
    text = " ".join(str(row.get("text") or "").split())
    return {
        "row": row["id"],
        "when": short_time(row.get("received_at") or row.get("sent_at") or ""),
        "who": clipped(one_line(who), most),
        "status": row["status"],
        "what and why": f"({notes}) {text}" if notes else text,
    }
