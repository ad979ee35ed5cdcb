"""What only the fake Discord does wrong with a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tests.fakes.base.faults import CommonFault
from tests.fakes.base.http import JsonObject


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Refuse with 429 for some seconds; `everywhere` is the limit of all routes together.

    `cloudflare` is the ban in front of Discord: no JSON, and no Via header.
    """

    seconds: float
    everywhere: bool = False
    cloudflare: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse with a status, Discord's own error code, these words, and the fields' errors."""

    status: int
    code: int
    message: str
    errors: JsonObject | None = None


Fault: TypeAlias = CommonFault | RateLimited | Refuse
