"""The command `,rewind`: go back to an anchor of the chat, or of a topic of a private chat."""

from __future__ import annotations

from typing import Final

from agent.tools.words import as_code
from gateway.errors import CommandRefused
from gateway.pipeline.turn import Question
from tape.errors import NotFound
from tape.handle import Tape
from tape.rewind import anchor_in, anchors_in

MAX_OFFERED: Final = 10  # anchors that a command without a name lists


async def rewind(tape: Tape, question: Question, wanted: str) -> str:
    """Rewind the chat's tape, or a topic's lane, to an anchor, and return the reply.

    The anchor that is set repeats the state of the older one, so it stays that person's words.
    Raises CommandRefused.
    """
    topic = own_lane(question)
    lane = topic.get("lane")
    if not wanted:
        raise CommandRefused(await _offer(tape, lane))
    try:
        older = await anchor_in(tape, lane, wanted)
    except NotFound as unknown:
        raise CommandRefused(f"There is {unknown}. {await _offer(tape, lane)}") from unknown
    anchor = await tape.rewind(older, by=question.message.sender.id, **topic)
    return (
        f"I'm going on from {as_code(wanted)} (entry {anchor.meta['rewind']}). What came after"
        " it stays on the tape and can be searched."
    )


def own_lane(question: Question) -> dict[str, str]:
    """Return the `meta` of an anchor by which a person begins again: the lane, in a topic.

    In a topic of a private chat, that concerns the topic alone. Elsewhere, it concerns the chat.
    """
    private, lane = question.message.chat_kind == "private", question.lane
    in_topic = private and question.message.thread_id is not None and lane is not None
    return {"lane": lane} if in_topic and lane is not None else {}


async def _offer(tape: Tape, lane: str | None) -> str:
    anchors = await anchors_in(tape, lane, MAX_OFFERED)
    listed = ", ".join(f"{as_code(entry.name)} ({entry.id})" for entry in reversed(anchors))
    return (
        f"Name a checkpoint or its number, the newest first: {listed}."
        if listed
        else ("There is no checkpoint here yet: `,handoff` sets one.")
    )
