"""Move a home to PostgreSQL or back, and print what both databases have."""

from __future__ import annotations

import time
from typing import Final

from gateway.backup.moving.move import move, require_pair, undo
from gateway.cli.backup.actions import ProgressLine, say
from gateway.cli.table import print_table
from gateway.printing import print_out
from gateway.settings import Settings
from gateway.wording import counted
from tape.stores.urls import canonical

MOST: Final = 20  # tapes that are listed


def move_home(settings: Settings, to: str) -> int:
    to = canonical(to)
    require_pair(settings, to)
    progress, begun = ProgressLine(), time.monotonic()
    try:
        moved = move(settings, to, progress)
    finally:
        progress.clear()
    tables = [
        {"table": name, "rows": str(of.rows), "digest": str(of)}
        for name, of in moved.found.tables.items()
    ]
    largest = sorted(moved.found.tapes.items(), key=lambda one: -one[1].rows)
    tapes = [
        {"tape": name, "entries": str(of.rows), "digest": str(of)} for name, of in largest[:MOST]
    ]
    print_table(("table", "rows", "digest"), tables)
    print_out()
    print_table(("tape", "entries", "digest"), tapes)
    if len(largest) > MOST:
        print_out(f"and {counted(len(largest) - MOST, 'smaller tape')}")
    print_out()
    kept = [f"{n} {status} in {box}" for (box, status), n in sorted(moved.found.open.items())]
    say(f"Open work: {', '.join(kept) or 'none'}.")
    say(f"Images: {moved.images}.")
    seconds = time.monotonic() - begun
    say(f"Both have all of this alike: moved to {moved.target} in {seconds:.0f} s.")
    say(
        f"Now name the new address in TAPEWAY_TAPE__URL, and start the gateway. {moved.source}"
        " keeps what it has, and does not start any more; `tapeway migrate --undo` lets it."
    )
    return 0


def undo_move(settings: Settings) -> int:
    mark = undo(settings)
    since = f" What was said there since {mark.ended_at[:10]} is not here." if mark.ended_at else ""
    say(
        f"The gateway may start here again.{since} Remove the database at {mark.place}, and never"
        " start a gateway there, which would answer for the same bots."
    )
    return 0
