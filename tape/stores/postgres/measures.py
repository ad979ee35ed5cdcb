"""How long the PostgreSQL store waits, and how much it reads and remembers at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STRETCH: Final = 2**16


@dataclass(frozen=True, slots=True)
class PostgresMeasures:
    """What no setting changes; whoever opens a store in code, as tests do, may give others.

    An index that was made with another `stretch` is not found.
    """

    gather_seconds: float = 2.0
    """Seconds to wait for more entries to index: a transaction costs more than to scan a few."""

    answer_seconds: float = 0.5
    """Seconds until the server is asked once more how a transaction ended whose answer was lost."""

    answer_tries: int = 20
    """How often it is asked."""

    remembered_bytes: int = 32_000_000
    """Maximum bytes of JSON of the tapes' ends that this process remembers."""

    stretch: int = STRETCH
    """Ids of a tape whose entries share a term, which are those that one term returns at most."""

    first_walk: int = 1_000
    """Ids of the first walk, by which the frequency of what is searched is counted."""

    most_found: int = 16 * STRETCH
    """Maximum ids in which the index of terms is searched at once."""


MEASURES: Final = PostgresMeasures()
"""Those of the product."""
