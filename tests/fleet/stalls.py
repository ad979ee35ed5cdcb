"""How long the machine let a process wait: on a busy one, any process is frozen at times.

What is taken for granted within a moment, such as that a lease that was just looked at still holds,
does not hold for a process that did not run meanwhile. So such moments are part of the window.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.chaos.tool import Acting

STALLS: Final = "CHAOS_STALLS"
"""The variable that names the file of a process."""

LOOK_SECONDS: Final = 0.05
LONG_SECONDS: Final = 0.3

Stall = tuple[float, float]


class Watched(Acting):
    """A plugin with the tool `act` that also writes down when its process did not run."""

    def __init__(self) -> None:
        path = Path(os.environ[STALLS])

        def note(stall: Stall) -> None:
            with path.open("a") as file:
                file.write("{} {}\n".format(*stall))

        watch(note)


def watch(note: Callable[[Stall], None]) -> Callable[[], None]:
    """Note from now on when this process did not run; return what ends that."""
    over = threading.Event()

    def look() -> None:
        last = time.monotonic()
        while not over.wait(LOOK_SECONDS):
            now = time.monotonic()
            if now - last > LOOK_SECONDS + LONG_SECONDS:
                note((last, now))
            last = now

    threading.Thread(target=look, daemon=True).start()
    return over.set


def read(path: Path) -> list[Stall]:
    """Return what a process has written; a line may have been cut off with the process."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = [line.split() for line in lines]
    return [(float(pair[0]), float(pair[1])) for pair in pairs if len(pair) == 2]
