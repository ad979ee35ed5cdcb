"""The command `,rewind`: go back to an anchor of the chat."""

from __future__ import annotations

from typing import Final

from agent.tools.words import as_code
from gateway.errors import CommandRefused
from gateway.pipeline.turn import Question
from tape.errors import NotFound
from tape.handle import Tape

MAX_OFFERED: Final = 10  # anchors that a command without a name lists


async def rewind(tape: Tape, question: Question, wanted: str) -> str:
    """Rewind the chat's tape to an anchor, and return the reply; raises CommandRefused.

    The anchor that is set repeats the state of the older one, so it stays that person's words.
    """
    if not wanted:
        raise CommandRefused(await _offer(tape))
    try:
        anchor = await tape.rewind(wanted, by=question.message.sender.id)
    except NotFound as unknown:
        raise CommandRefused(f"There is {unknown}. {await _offer(tape)}") from unknown
    return (
        f"I'm going on from {as_code(wanted)} (entry {anchor.meta['rewind']}). What came after"
        " it stays on the tape and can be searched."
    )


async def _offer(tape: Tape) -> str:
    anchors = await tape.anchors(limit=MAX_OFFERED)
    listed = ", ".join(f"{as_code(entry.name)} ({entry.id})" for entry in reversed(anchors))
    return (
        f"Name a checkpoint or its number, the newest first: {listed}."
        if listed
        else ("There is no checkpoint here yet: `,handoff` sets one.")
    )
