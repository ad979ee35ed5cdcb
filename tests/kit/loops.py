"""The event loop of the tests: it closes what a test leaves open, and says so."""

from __future__ import annotations

import asyncio
from typing import Any

LEFT: list[str] = []
"""The connections that were open when their loop ended, since the last test."""


class TidyLoop(asyncio.SelectorEventLoop):
    """Ends connections that nobody ended.

    A task that is cancelled in the very moment in which its connection is made loses it. Python
    would complain whenever it collects garbage, in a test that has nothing to do with it.
    """

    def close(self) -> None:
        if not self.is_closed():
            transports: Any = self._transports  # type: ignore[attr-defined]
            for one in list(transports.values()):
                if not one.is_closing():
                    LEFT.append(str(one.get_extra_info("peername")))
                one.abort()
            self.run_until_complete(asyncio.sleep(0))  # they end in the loop's next round
        super().close()
