"""What only the fake Telegram does wrong with a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tests.fakes.base.faults import CommonFault
from tests.fakes.base.http import JsonObject


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Refuse with 429; with a `chat_id` only a call to that chat."""

    seconds: int
    chat_id: int | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse in these words."""

    code: int
    description: str
    parameters: JsonObject = field(default_factory=dict)


Fault: TypeAlias = CommonFault | RetryAfter | Refuse
