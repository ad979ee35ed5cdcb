"""How a test waits for what it gets no event of: another process, a file, a row of a database.

What happens in the test's own process has an event, a condition or the clock of the test. No other
place of the tests waits for a fixed time; `tests/test_steady_rules.py` sees to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import anyio

PATIENCE_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 0.02


async def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Wait until a condition holds; raises AssertionError, which says what was waited for."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds:g} seconds in vain until {what}"
        await anyio.sleep(PAUSE_SECONDS)
