"""Events of Slack as it sends them, and a source of those that were missed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
from slack_sdk.signature import SignatureVerifier

from channels.host import Cursors
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.api_methods import RateLimits
from channels.slack.event_fields import SlackSelf
from channels.slack.name_cache import Names
from channels.slack.settings import RULES, SlackSettings
from channels.slack.workspaces import Workspace
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock


class Source:
    """A channel that only catches up; `read` stands for reading the history."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.read_at: list[float] = []
        self.read: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint

    async def read_missed(self) -> Cursors:
        self.read_at.append(self._clock.monotonic())
        await self.read()
        return Cursors()

    async def probe(self) -> bool:
        return False


def signed(fake: FakeSlack, body: str, age: float = 0.0) -> dict[str, str]:
    """Return the headers of a request that Slack signed."""
    stamp = str(int(time.time() - age))
    verifier = SignatureVerifier(fake.signing_secret)
    signature = verifier.generate_signature(timestamp=stamp, body=body)
    assert signature is not None
    return {
        "content-type": "application/json",
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": signature,
    }


def me(*rules: str) -> SlackSelf:
    """Return the app's identity; with `rules` it answers only by these."""
    settings = SlackSettings.model_validate({"bot_token": "xoxb-1"})
    api = SlackApi(
        "xoxb-1", settings, ApiSessions(settings), RateLimits(ManualClock()), lambda _text: None
    )

    def spawn(_name: str, _work: Callable[[], Awaitable[None]]) -> None:
        """Look nobody up."""

    names = Names(api, spawn)
    names.learn("U1", "Ada")
    workspace = Workspace("", "T1", "UBOT", "BBOT", "tapeway", "", api, names)
    return SlackSelf(workspace, ("Tapeway", "Robin"), frozenset(rules or RULES))


def event(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "text": text,
        "ts": "1700000000.000100",
        **more,
    }
