"""What was said and answered in chats in the last day, by hours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from gateway.console.reads import ConsoleReads
from tape.entry import utc_iso
from tape.errors import ReadTooSlow
from tape.rollups import hour_of

HOURS: Final = 24


async def sparks_of(
    reads: ConsoleReads, tapes: Sequence[str], now: datetime
) -> dict[str, list[int]]:
    """Map tapes to what was said and answered in each of the last 24 hours, oldest first.

    Nothing is known of tapes that cannot be counted in time.
    """
    newest = hour_of(utc_iso(now))
    try:
        found = await reads.sparks(tapes, newest - HOURS + 1)
    except ReadTooSlow:
        return {}
    return {
        tape: _day(newest, {s.hour: s.said + s.answered for s in found[tape]}) for tape in tapes
    }


def _day(newest: int, hours: dict[int, int]) -> list[int]:
    return [hours.get(hour, 0) for hour in range(newest - HOURS + 1, newest + 1)]
