"""Access to other chats: only the owner has it, in a private chat, by id and role."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

from agent.powers import OTHER_CHATS, may
from gateway.pipeline.turn import Question
from gateway.services import Services
from tape.handle import Tape

_CHAT: Final = re.compile(r"[a-z][a-z0-9_-]*:\S{1,200}")


def other_tapes(services: Services, asked: Question) -> Callable[[str], Tape | None]:
    """Return a function that opens a tape by `channel:chat`, or returns None without access."""

    def tape_of(chat: str) -> Tape | None:
        session_id = services.aliases.get(chat, chat)
        if session_id == asked.session_id:
            return services.tapes.tape(asked.tape)
        if not may(OTHER_CHATS, asked.role, shared=asked.message.chat_kind == "group"):
            return None
        return services.tapes.session_tape(session_id) if _CHAT.fullmatch(chat) else None

    return tape_of


def known_people(
    services: Services, asked: Question
) -> Callable[[str, int], Awaitable[str | None]]:
    """Return a function that finds a person by number; `tape_of` has checked the access."""

    async def person_of(chat: str, number: int) -> str | None:
        session_id = services.aliases.get(chat, chat) or asked.session_id
        return await services.ledger.people.find(session_id, number)

    return person_of
