"""The view of a turn without a gateway: its lane since the latest anchor."""

from __future__ import annotations

from agent.anchoring import as_said
from agent.turn_log import TurnLog
from agent.wire import attach
from tape.context import LATEST, Message, to_messages, view_entries
from tape.entry import MESSAGE
from tape.snapshot import TapeSnapshot
from tape.turn_events import TurnRetake


async def plain_view(log: TurnLog, upto: int) -> list[Message]:
    """Build a turn's messages from its tape up to an entry, starting at the latest anchor."""
    tape = TapeSnapshot(log.tape, upto)
    entries = as_said(await view_entries(tape, LATEST, log.lane, log.turn))
    log.sources.look(entries)
    return attach(to_messages(entries), entries)


async def plain_retake(log: TurnLog, _budget: int) -> None:
    """Show a turn's own question again after an anchor, without anything older."""
    own = await log.tape.find(turn=log.turn, kinds=(MESSAGE,))
    question = tuple(entry.id for entry in own if entry.payload.get("role") == "user")
    await log.record(TurnRetake(log.turn, question).to_entry())
