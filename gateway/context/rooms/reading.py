"""What the tape says of a message, as the linker gets it, and what is written there of its link."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from channels.mentions import without
from channels.message import InboundMessage
from tape.entry import EVENT, Entry, parse_date
from tape.erasing import ERASE
from tape.linking import LaneLink, LinkerRoom, Utterance
from tape.linking.naming import MAX_CHARACTERS
from tape.linking.recognition import Recognition, read_recognition
from tape.linking.utterance import AGENT

OURS: Final = "turn:"
_HANDLE: Final = re.compile(r"(?<!\w)@\w+")


def room_key(message: InboundMessage, inbox_id: int) -> str:
    """Return the key of a message in its chat's room."""
    # A migrated chat numbers its messages from 1 again; a slash command may have no number.
    return f"{message.chat_id}/{message.message_id or f'in-{inbox_id}'}"


def link_meta(
    link: LaneLink, said: Utterance | None, chat: str, recognition: Recognition | None = None
) -> dict[str, Any]:
    """Return a link for the meta of the message's entry, with the platform's message ids."""
    parent = link.parent
    if parent and _is_plain(parent.removeprefix(f"{chat}/")):
        parent = parent.removeprefix(f"{chat}/")
    meta: dict[str, Any] = {"parent": parent, "why": link.why}
    if said is not None:
        meta |= {"to": list(said.mentions), "calls": said.calls}
        is_answer = said.reply_to is not None and said.reply_to.startswith(OURS)
        meta["answer"] = said.reply_to if is_answer else None
        meta["recognized"] = recognition.to_json() if recognition is not None else None
    return {name: value for name, value in meta.items() if value}


def _is_plain(parent: str) -> bool:
    """Return whether a key in a link's meta is a message's id, which lacks its chat."""
    return "/" not in parent and not parent.startswith(OURS)


def recorded_recognition(entry: Entry) -> Recognition | None:
    """Return how well a room's conversations are recognized, if it was recorded with an entry."""
    link = entry.meta.get("link")
    return read_recognition(link.get("recognized")) if isinstance(link, Mapping) else None


def answer_key(turn: str) -> str:
    """Return the key of a turn's answer in a room."""
    return f"{OURS}{turn}"


def answer_of(entry: Entry) -> str:
    """Return the key of the answer that an entry would be of its turn."""
    return answer_key(str(entry.meta.get("turn")))


def entry_key(entry: Entry) -> str:
    """Return the key of what was said with an entry that `is_said`."""
    meta = entry.meta
    if meta.get("final"):
        return answer_of(entry)
    return f"{meta.get('chat', '')}/{meta.get('message_id') or 'in-' + str(meta.get('inbox'))}"


def is_erasure(entry: Entry) -> bool:
    """Return whether an entry records that something was erased from its tape."""
    return entry.kind == EVENT and entry.name == ERASE


def is_said(entry: Entry) -> bool:
    """Return whether a room remembers an entry: a person's message or an answer, in a lane."""
    meta = entry.meta
    said = "inbox" in meta or meta.get("final")
    return bool(said) and isinstance(meta.get("lane"), str) and "command" not in meta


def read_entry(
    entry: Entry, room: LinkerRoom, names: Sequence[str], own: str
) -> tuple[Utterance, LaneLink] | None:
    """Return an entry as the linker gets it, or None if it is not said or cannot be read.

    An answer is placed by what the room has of its lane. `own` is the `own_mention` of the tape.
    """
    if not is_said(entry):
        return None
    meta = entry.meta
    try:
        if meta.get("final"):
            at = parse_date(entry.date).timestamp()
            return answer_in(room, meta["lane"], str(meta.get("turn")), entry.text, at)
        return _theirs(meta, names, own)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None  # Imported, or written by another version: a single entry must not stop a chat.


def _theirs(meta: Mapping[str, Any], names: Sequence[str], own: str) -> tuple[Utterance, LaneLink]:
    chat = str(meta.get("chat", ""))
    link = meta.get("link") or {}
    reply_to, parent = meta.get("reply_to"), link.get("parent")
    to = [str(one) for one in link.get("to", ())]
    # Former versions recorded a call as a mention of the agent.
    calls, text = bool(link.get("calls")) or AGENT in to, str(meta.get("text", ""))
    said = Utterance(
        key=f"{chat}/{meta.get('message_id') or 'in-' + str(meta['inbox'])}",
        at=parse_date(meta["said_at"]).timestamp(),
        author=str(meta.get("author", "")),
        name=str(meta.get("name", ""))[:MAX_CHARACTERS],
        text=without_call(text, names) if calls else text,
        mentions=tuple(one for one in to if one != AGENT and not (AGENT in to and one == own)),
        reply_to=str(link.get("answer") or (f"{chat}/{reply_to}" if reply_to else "")) or None,
        thread=str(meta["thread"]) if meta.get("thread") else None,
        calls=calls,
    )
    if parent and _is_plain(parent):
        parent = f"{chat}/{parent}"
    return said, LaneLink(meta["lane"], parent or None, str(link.get("why", "")))


def answer_in(
    room: LinkerRoom, lane: str, turn: str, text: str, at: float
) -> tuple[Utterance, LaneLink]:
    """Return a turn's answer in its lane.

    It continues the last call there, or what was said last if no call is known.
    """
    heard = room.lanes[lane].heard if lane in room.lanes else ()
    theirs = [one for one in reversed(heard) if not one.agent]
    asked = next((one for one in theirs if one.calls), theirs[0] if theirs else None)
    said = Utterance(answer_key(turn), at, AGENT, "", text, agent=True)
    return said, LaneLink(lane, asked.key if asked else None, "an answer")


def own_mention(entries: Iterable[Entry]) -> str:
    """Return the id by which former versions' calls mention the agent itself, or ""."""
    metas = [entry.meta for entry in entries if isinstance(entry.meta.get("link"), dict)]
    authors = {str(meta.get("author")) for meta in metas}
    calls = [meta["link"].get("to") for meta in metas if meta.get("why") == "mention"]
    calls = [to for to in calls if isinstance(to, list) and AGENT in to]
    found = Counter(str(one) for to in calls for one in to if one != AGENT)
    (most, count), *_others = found.most_common(1) or [("", 0)]
    return most if 2 * count > len(calls) and most not in authors else ""


def without_call(text: str, names: Sequence[str]) -> str:
    """Return a call's words without the names by which it calls the agent."""
    return without(_HANDLE.sub(" ", text), names)


def names_of(name: str, handle: str) -> set[str]:
    """Return the words by which others may call a person, in lower case."""
    folded = name.casefold().split()
    return {"".join(folded), *folded[:1], handle[:MAX_CHARACTERS].casefold()} - {""}
