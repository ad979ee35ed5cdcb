"""Find messages near a question but outside its lane: recent ones, and old evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from channels.message import InboundMessage
from gateway.context.rooms.memories import RoomMemories
from gateway.context.rooms.reading import room_key
from gateway.context.selection import Nearby
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from tape.construct.keywords import words_of_task
from tape.entry import MESSAGE
from tape.errors import TapeError
from tape.handle import Tape
from tape.linking.standing import stands_alone
from tape.rewind import out_of_view
from tape.turn_events import is_take, read_take

EVIDENCE_WORDS: Final = 3  # how many rare words an old entry must contain
MIN_WORD_LETTERS: Final = 4
"""Minimum length of an ASCII word; in other scripts, a single character counts as a word."""


async def find_nearby(
    rooms: RoomMemories, tape: Tape, message: InboundMessage, inbox_id: int, text: str, most: int
) -> Nearby:
    """Return messages outside a question's lane that may belong to the question.

    `text` is the question. `most` limits the old entries, which are searched only while the
    question's conversation is young.
    """
    room = await rooms.of(tape.name)
    key = room_key(message, inbox_id)
    heard = room.room.by_key.get(key)
    if heard is None:
        return Nearby(thread=message.thread_id)
    begins, shows = room.room.begins(heard), _shows_its_subject(message)
    refers = begins and not shows and not stands_alone(room.words_of(text))
    opened_on = room.entry_of(f"{message.chat_id}/{message.thread_id}")
    known = Nearby(thread=message.thread_id, opened_on=opened_on, refers=refers)
    if room.whole(key):
        return replace(known, whole=True, left_out=room.apart(key))
    if not (begins and shows):
        known = room.beside(key, known)
    if not room.is_young(key):
        return known
    old = await find_evidence(tape, heard.lane, text, room.begins(), most)
    return replace(known, evidence=tuple(old))


async def find_evidence(tape: Tape, lane: str, question: str, before: int, most: int) -> list[int]:
    """Return the newest old entries outside a lane that contain a question's rarest words.

    `before` is the first entry in the room memory. What a reset or rewind took out of view is no
    evidence. If the search fails, the list is empty, so that the question is still answered.
    """
    words = [word for word in words_of_task(question) if _is_distinctive(word)][:EVIDENCE_WORDS]
    if most < 1 or len(words) < EVIDENCE_WORDS or before <= 1:
        return []
    try:
        hits = await tape.search(" ".join(words), limit=most * 2, kinds=(MESSAGE,), before=before)
        gone = await out_of_view(tape) if hits else []
    except TapeError as cause:
        get_log().warning("evidence.not_searched", why=str(cause))
        return []
    hits = [entry for entry in hits if not any(entry.id in span for span in gone)]
    others = (entry for entry in hits if entry.meta.get("lane") != lane)
    found = [entry.id for entry in others if not {"command", "hint"} & entry.meta.keys()]
    return sorted(found[:most])


async def opened_on(services: Services, question: Question) -> tuple[int, ...]:
    """Return the entries that a question's topic was opened on: a message, and its answer."""
    said, row = question.message, question.rows[-1]
    channel = services.router.channels.get(said.channel)
    if said.thread_id is None or channel is None or not channel.traits.answers_open_threads:
        return ()
    place = (row.account_id, said.chat_id, said.thread_id)
    known = await services.ledger.inbox.find(*place)
    entry = known.entry_id if known is not None else 0
    if known is None or not known.turn_id:
        return (entry,) if entry else ()
    own = await services.tapes.tape(question.tape).find(turn=known.turn_id)
    takes = [read_take(one) for one in own if is_take(one)]
    asked = [entry] if entry else [number for take in takes for number in take.takes[-1:]]
    finals = [one.id for one in own if one.kind == MESSAGE and one.meta.get("final")]
    return tuple(dict.fromkeys([*asked[:1], *finals]))


def _shows_its_subject(message: InboundMessage) -> bool:
    """Return whether a question came with what it is probably about, such as a picture."""
    return bool(message.media or message.excerpts or message.quote or message.forwarded)


def _is_distinctive(word: str) -> bool:
    return len(word) >= MIN_WORD_LETTERS or not word.isascii()
