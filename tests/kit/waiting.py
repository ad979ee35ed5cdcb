"""How a test waits for what it gets no event of: another process, a file, a row of a database.

What happens in the test's own process has an event, a condition or the clock of the test. Nothing
else in the tests waits for a fixed time: `tests/test_sleeping.py` sees to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import anyio

PATIENCE_SECONDS: Final = 120.0
PAUSE_SECONDS: Final = 0.01


class Patience:
    """Waits by looking again and again, and says in the end what it waited for.

    await patience.pause() stands in a loop that looks.
    """

    def __init__(
        self, until: str, *, seconds: float = PATIENCE_SECONDS, pause: float = PAUSE_SECONDS
    ) -> None:
        self._until = until
        self._seconds = seconds
        self._pause = pause
        self._end = time.monotonic() + seconds

    async def pause(self) -> None:
        """Wait for a short time; raises AssertionError if it has been too long."""
        late = time.monotonic() > self._end
        assert not late, f"waited for {self._seconds:g} seconds in vain until {self._until}"
        await anyio.sleep(self._pause)


async def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Wait until a condition holds; raises AssertionError, which says what was waited for."""
    patience = Patience(what, seconds=seconds)
    while not condition():
        await patience.pause()
