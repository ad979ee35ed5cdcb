"""Access to other chats' tapes: only the owner has it, in a private chat, by id and role."""

from __future__ import annotations

import re
from collections.abc import Callable
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
