"""What a channel counts of its own work: plain numbers, which the gateway reads for its metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counts since the process began.

    edits        updates of partial text that were shown
    dropped      updates that were not shown
    rate_limits  requests that the platform refused because of its limits
    """

    edits: int = 0
    dropped: int = 0
    rate_limits: int = 0
