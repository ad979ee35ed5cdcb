"""A right of way that says when somebody asks for it."""

from __future__ import annotations

import threading

from tape.right_of_way import RightOfWay


class WatchedWay(RightOfWay):
    """A right of way that something urgent waits for, and which notes that it was asked for."""

    def __init__(self, most: float) -> None:
        super().__init__(most)
        self.asked = threading.Event()
        self.waits = True

    @property
    def is_taken(self) -> bool:
        """Whether the way is taken, which is noted if it is."""
        taken = super().is_taken
        if taken:
            self.asked.set()
        return taken
