"""What only the fake Slack does wrong with a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tests.fakes.base.faults import CommonFault
from tests.fakes.base.http import JsonObject


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Refuse with 429 and Retry-After."""

    seconds: int = 1


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse with this error; `more` goes into the answer."""

    error: str
    more: JsonObject = field(default_factory=dict)


Fault: TypeAlias = CommonFault | RateLimited | Refuse
