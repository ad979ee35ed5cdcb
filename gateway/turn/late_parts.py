"""Show a running turn the parts of albums that came after it had begun.

They are looked for on the tape, so that a turn that is resumed, by this process or another, finds
them as well.
"""

from __future__ import annotations

from typing import Final

from channels.message import REST
from gateway.context.images import load_images
from gateway.context.selection import PART_OF, selected_ids
from gateway.pipeline.turn import Turn
from gateway.services import Services
from tape.deletions import deleted
from tape.entry import EVENT, MESSAGE
from tape.turn_events import TAKES, TurnRetake, day_line, further_days

MAX_LOOKED_AT: Final = 100  # newest messages of the lane in which late parts are looked for


async def take_late_parts(services: Services, turn: Turn) -> None:
    """Add to a turn the late parts of the albums that it has taken."""
    asked = [row for row in turn.took if row.message.joins not in ("", REST)]
    albums = {*turn.pictured, *(row.entry_id for row in asked if row.entry_id is not None)}
    if not albums:
        return
    lane = turn.question.lane
    said = await turn.tape.find(
        after=min(albums), lane=lane, kinds=(MESSAGE,), limit=MAX_LOOKED_AT, newest=True
    )
    parts = [entry for entry in said if entry.meta.get(PART_OF) in albums]
    if not parts:
        return
    own = await turn.tape.find(turn=turn.id, kinds=(EVENT,), names=TAKES)
    known = {*selected_ids(own), *await deleted(turn.tape, min(albums))}
    late = [entry for entry in parts if entry.id not in known]
    if not late:
        return
    ids = tuple(entry.id for entry in late)
    dates = further_days(late, day_line(turn.took[-1].message.date))
    retake = TurnRetake(turn.id, ids, steered=True, dates=dates).to_entry()
    await turn.log.record(retake, key=f"turn:{turn.id}:late:{ids[-1]}")
    await load_images(services, turn, ids)
