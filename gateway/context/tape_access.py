"""Which other tapes an asking person may read: decided from ids and role, never from text.

The owner, in a private conversation: in a group the answer would be shown to the others. That
somebody has spoken in a chat does not prove that they are still one of its members.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from agent.tool import Role
from gateway.pipeline.turn import Question
from gateway.services import Services
from tape.handle import Tape

_CHAT: Final = re.compile(r"[a-z][a-z0-9_-]*:\S{1,200}")


def other_tapes(services: Services, asked: Question) -> Callable[[str], Tape | None]:
    """Return how the asker of a question reaches a tape by `channel:chat`; None: not at all."""

    def tape_of(chat: str) -> Tape | None:
        session_id = services.aliases.get(chat, chat)
        if session_id == asked.session_id:
            return services.tapes.tape(asked.tape)
        if asked.role < Role.OWNER or asked.message.chat_kind != "private":
            return None
        return services.tapes.session_tape(session_id) if _CHAT.fullmatch(chat) else None

    return tape_of
