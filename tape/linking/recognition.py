"""How well a room's conversations are recognized, by its own replies.

A platform's reply says for certain what its message continues. Before that fact is used, the linker
says where it would have put the message without it. Over a room's last replies this gives, without
any label, how often the message replied to is in the lane that the linker decides on, in the set
that it chooses, and among as many of the room's last messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

LAST_REPLIES: Final = 100
"""About how many of a room's last replies the shares are of: older ones fade."""

MIN_REPLIES: Final = 30
"""Minimum replies that were judged before they decide what a view shows."""

BETTER_BY: Final = 0.05
"""The difference of shares from which on views show the last messages, until it is below zero."""

PACE: Final = 10
"""Messages from one reply that is judged to the next one, as each costs about five milliseconds.

Chosen on `data/discord/product`, half of the replies hidden: with 25, it is found out too late.
"""

FIRST_PACE: Final = 5
"""The same until the fewest replies that decide have been judged."""

KEPT_FOR: Final = 100
"""Messages after which the shares are recorded again, so that a room's memory always has them."""

_DIGITS: Final = 4  # so that what is recorded, and read again, decides the same


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """Where the message was that one reply replies to.

    in_lane   whether it was in the lane that the linker decides on without the reply
    in_set    whether it was among what the linker chooses for the conversation
    in_last   whether it was among as many last messages
    """

    in_lane: bool
    in_set: bool
    in_last: bool


@dataclass(frozen=True, slots=True)
class Recognition:
    """The shares of a room's replies for which their message was found.

    replies     how many were judged, up to `LAST_REPLIES`
    in_lane     the share found in the lane
    in_set      the share found in the chosen set
    in_last     the share found among as many last messages
    by_recency  whether views show the room's last messages, as these are found more often
    """

    replies: int = 0
    in_lane: float = 0.0
    in_set: float = 0.0
    in_last: float = 0.0
    by_recency: bool = False

    @property
    def is_known(self) -> bool:
        """Return whether enough replies were judged."""
        return self.replies >= MIN_REPLIES

    def is_due(self, messages: int) -> bool:
        """Return whether to judge a reply that comes so many messages after the last one."""
        return messages >= (PACE if self.is_known else FIRST_PACE)

    def after(self, found: JudgedReply) -> Recognition:
        """Return the shares after one more reply."""
        replies = min(self.replies + 1, LAST_REPLIES)

        def share(before: float, *, now: bool) -> float:
            return round(before + (now - before) / replies, _DIGITS)

        new = Recognition(
            replies,
            share(self.in_lane, now=found.in_lane),
            share(self.in_set, now=found.in_set),
            share(self.in_last, now=found.in_last),
        )
        least = 0.0 if self.by_recency else BETTER_BY
        return replace(new, by_recency=new.is_known and new.in_last - new.in_set >= least)

    def to_json(self) -> dict[str, Any]:
        """Return the shares as they are recorded."""
        shares = {"lane": self.in_lane, "set": self.in_set, "last": self.in_last}
        found: dict[str, Any] = {"replies": self.replies, **shares}
        return {**found, "recency": True} if self.by_recency else found


def read_recognition(recorded: object) -> Recognition | None:
    """Return shares that were recorded, or None if they cannot be read."""
    if not isinstance(recorded, Mapping):
        return None
    replies = recorded.get("replies")
    lane, chosen, last = (_share(recorded.get(name)) for name in ("lane", "set", "last"))
    if type(replies) is not int or not 0 < replies <= LAST_REPLIES:
        return None
    if lane is None or chosen is None or last is None:
        return None
    return Recognition(replies, lane, chosen, last, recorded.get("recency") is True)


def _share(recorded: object) -> float | None:
    if not isinstance(recorded, int | float) or not 0 <= recorded <= 1:
        return None
    return float(recorded)
