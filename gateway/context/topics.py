"""What a topic of a private chat begins with: the message that it was opened on, if there is one.

A topic is a conversation of its own. Where a thread is one, as in Slack's direct messages, it may
have been opened on a question or on an answer that was said outside it, which it then begins with.
"""

from __future__ import annotations

from gateway.pipeline.turn import Question
from gateway.services import Services
from tape.entry import MESSAGE
from tape.turn_events import is_take, read_take


async def opened_on(services: Services, question: Question) -> tuple[int, ...]:
    """Return the entries that a question's topic was opened on: a message, and its answer."""
    said, row = question.message, question.rows[-1]
    channel = services.router.channels.get(said.channel)
    if said.thread_id is None or channel is None or not channel.traits.answers_open_threads:
        return ()
    place = (row.account_id, said.chat_id, said.thread_id)
    entry, turn = await services.ledger.inbox.place_of(*place)
    if not turn:
        return (entry,) if entry else ()
    own = await services.tapes.tape(question.tape).find(turn=turn)
    takes = [read_take(one) for one in own if is_take(one)]
    asked = [entry] if entry else [number for take in takes for number in take.takes[-1:]]
    finals = [one.id for one in own if one.kind == MESSAGE and one.meta.get("final")]
    return tuple(dict.fromkeys([*asked[:1], *finals]))
