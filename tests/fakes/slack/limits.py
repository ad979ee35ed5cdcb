"""How fast Slack may be asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from tests.fakes.slack.rules import TooFast

# Calls a minute; what is not named here is of tier 3.
TIERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "apps.connections.open": 1,
        "assistant.threads.setStatus": 4,
        "auth.test": 4,
        "chat.appendStream": 4,
        "chat.postEphemeral": 4,
        "chat.startStream": 2,
        "chat.stopStream": 2,
        "conversations.list": 2,
        "conversations.members": 4,
        "files.info": 4,
        "oauth.v2.access": 4,
        "users.info": 4,
    }
)
_PER_MINUTE: Final = {1: 1, 2: 20, 3: 50, 4: 100}
_BURST: Final = {1: 10, 2: 20, 3: 50, 4: 100}
_POSTS: Final = frozenset({"chat.postMessage", "chat.startStream"})
_POST_BURST: Final = 4


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


@dataclass(slots=True)
class Limits:
    """Keep count of the calls; each method and workspace has a bucket, posts one per channel."""

    clock: Callable[[], float]
    _buckets: dict[tuple[str, ...], _Bucket] = field(default_factory=dict)

    def charge(self, method: str, team: str, channel: object) -> None:
        """Count a call; raises TooFast for one that comes too early."""
        if method in _POSTS and isinstance(channel, str):
            self._take(("posts", team, channel), _POST_BURST, 1.0)
        if method != "chat.postMessage":
            tier = TIERS.get(method, 3)
            self._take((method, team), _BURST[tier], _PER_MINUTE[tier] / 60)

    def _take(self, key: tuple[str, ...], burst: int, per_second: float) -> None:
        now = self.clock()
        bucket = self._buckets.setdefault(key, _Bucket(burst, now))
        bucket.left = min(bucket.left + (now - bucket.at) * per_second, burst)
        bucket.at = now
        # What the clock's fractions leave out of a whole call is no offence.
        if bucket.left < 1 - 1e-6:
            raise TooFast(max(math.ceil((1 - bucket.left) / per_second), 1))
        bucket.left -= 1
