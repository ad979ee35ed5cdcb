"""Whether events come when they must: Slack tells the app of the app's own messages, too.

A connection that answers every ping may still deliver nothing, for hours; a quiet workspace looks
the same. What the app itself says is proof without asking anybody: where Slack has delivered what
people said in a channel, it delivers that as well, and within moments.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

ECHO_SECONDS: Final = 4.0
MOST: Final = 2_000


class SelfEvents:
    """What the app said, and has not been told of yet.

    `owed` is when the earliest of it was said, in the clock's seconds; None: nothing is owed.
    """

    def __init__(self) -> None:
        self.owed: float | None = None
        self._kind = self._late = ""
        self._heard: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._unechoed: set[str] = set()

    def said(self, account: str, channel: str, kind: str, now: float) -> None:
        """Note that the app said something; `kind` is in which way."""
        if (account, channel) in self._heard and kind not in self._unechoed and self.owed is None:
            self.owed, self._kind = now, kind

    def heard(self, account: str, event: Mapping[str, Any]) -> None:
        """Note that an event came: whatever it is about, events come."""
        self.owed = None
        if event.get("type") == "message" and isinstance(event.get("channel"), str):
            self._heard[account, event["channel"]] = None
            while len(self._heard) > MOST:
                self._heard.popitem(last=False)

    def late(self, now: float) -> bool:
        """Tell whether something is owed for too long."""
        if self.owed is None or now - self.owed < ECHO_SECONDS:
            return False
        self._late = self._kind
        return True

    def forgive(self) -> None:
        """Expect no more of the kind that was late: events came without it."""
        if self._late == "stream":  # of posts and edits Slack is known to tell
            self._unechoed.add(self._late)
        self.owed = None
