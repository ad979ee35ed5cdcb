"""What the fake Bot API keeps of requests."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fakes.base.http import JsonObject


@dataclass(slots=True)
class Call:
    """Hold one API request, in the order they came.

    `error_code` is None when it went well, and when the fake hung up or has not answered yet;
    `ok` tells whether it had its effect. `message_id` is the message sent or edited.
    `dropped_entities` counts those beyond the hundred that Telegram keeps.
    """

    method: str
    params: JsonObject
    at: float
    ok: bool = False
    error_code: int | None = None
    description: str = ""
    message_id: int | None = None
    dropped_entities: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """Hold one chat action, such as typing."""

    chat_id: int
    thread_id: int | None
    at: float
    action: str
