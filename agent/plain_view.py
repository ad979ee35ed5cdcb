"""What a turn shows the model unless its caller decides otherwise."""

from __future__ import annotations

from agent.turn_log import TurnLog
from tape.context import LATEST, Message, to_messages, view_entries
from tape.entry import MESSAGE
from tape.snapshot import TapeSnapshot
from tape.turn_events import TurnRetake


async def plain_view(log: TurnLog, upto: int) -> list[Message]:
    """Build the messages of a turn from its tape up to an entry: all since the latest anchor."""
    tape = TapeSnapshot(log.tape, upto)
    return to_messages(await view_entries(tape, LATEST, log.lane, log.turn))


async def plain_retake(log: TurnLog, _budget: int) -> None:
    """Show a turn's own question again after an anchor, and nothing from before it."""
    own = await log.tape.find(turn=log.turn, kinds=(MESSAGE,))
    question = tuple(entry.id for entry in own if entry.payload.get("role") == "user")
    await log.record(TurnRetake(log.turn, question).to_entry())
