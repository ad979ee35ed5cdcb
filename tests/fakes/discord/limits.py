"""How many requests Discord takes: a bucket for each kind and channel, and all together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

EVERYWHERE: Final = 50
TOLERANCE: Final = 0.02

# Figures of the community, not of Discord's documentation: how many in how many seconds.
BUCKETS: Final[dict[str, tuple[int, float]]] = {
    "post": (5, 5.0),
    "edit": (5, 5.0),
    "delete": (5, 1.0),
    "typing": (5, 5.0),
    "history": (5, 5.0),
    "react": (1, 0.25),
    "followup": (5, 5.0),
    "edit_followup": (5, 5.0),
    "edit_original": (5, 5.0),
}
_OTHERS: Final = (50, 1.0)
_UNBOUND: Final = frozenset(
    {"callback", "followup", "original", "edit_original", "edit_followup", "delete_original"}
)


@dataclass(slots=True)
class Bucket:
    """Count the requests of one window, which the first of them begins."""

    name: str
    limit: int
    seconds: float
    used: int = 0
    ends: float = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds to wait, 0.0 when the next request may come."""
        if now >= self.ends - TOLERANCE:
            self.used, self.ends = 0, now + self.seconds
        return max(self.ends - now, 0.001) if self.used >= self.limit else 0.0

    def headers(self, now: float, unix: float) -> str:
        """Return the X-RateLimit headers."""
        left = max(self.ends - now, 0.0)
        return (
            f"x-ratelimit-limit: {self.limit}\r\n"
            f"x-ratelimit-remaining: {max(self.limit - self.used, 0)}\r\n"
            f"x-ratelimit-reset: {unix + left:.3f}\r\n"
            f"x-ratelimit-reset-after: {left:.3f}\r\n"
            f"x-ratelimit-bucket: {self.name}\r\n"
        )


@dataclass(frozen=True, slots=True)
class Exceeded:
    """Say that a request came too early: for how long, and whether all routes are closed."""

    seconds: float
    everywhere: bool
    bucket: Bucket


class Limits:
    """Count requests, 50 a second in all and those of each bucket."""

    def __init__(self) -> None:
        self._all = Bucket("", EVERYWHERE, 1.0)
        self._buckets: dict[tuple[str, object], Bucket] = {}

    def charge(self, kind: str, major: object, now: float) -> Bucket | Exceeded:
        """Count one request; `major` is its channel, guild or webhook."""
        bucket = self.bucket(kind, major)
        if (wait := bucket.wait(now)) > 0:
            return Exceeded(wait, False, bucket)
        if kind not in _UNBOUND:
            if (wait := self._all.wait(now)) > 0:
                return Exceeded(wait, True, bucket)
            self._all.used += 1
        bucket.used += 1
        return bucket

    def bucket(self, kind: str, major: object) -> Bucket:
        """Return the bucket of a kind of request in one place."""
        found = self._buckets.get((kind, major))
        if found is None:
            most, seconds = BUCKETS.get(kind, _OTHERS)
            name = hashlib.sha1(kind.encode()).hexdigest()[:32]
            found = self._buckets[kind, major] = Bucket(name, most, seconds)
        return found
