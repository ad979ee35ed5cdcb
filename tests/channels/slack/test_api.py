"""Requests to Slack's Web API by several processes."""

from __future__ import annotations

import pytest

from channels.slack.api import ApiSessions, SlackApi, TokenRefused
from channels.slack.api_methods import RateLimits
from channels.slack.settings import SlackSettings
from tests.channels.gates import SharedKnowledge
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock


async def test_a_token_that_one_process_finds_revoked_is_not_used_by_another(
    fake: FakeSlack,
) -> None:
    gates = SharedKnowledge(clock := ManualClock())
    unfit: list[str] = []
    given = {"bot_token": fake.bot_token, "base_url": fake.base_url}
    settings = SlackSettings.model_validate(given)
    sessions = ApiSessions(settings)
    await sessions.open()
    one, other = (
        SlackApi(
            fake.bot_token,
            settings,
            sessions,
            RateLimits(clock, gates),
            lambda _text: None,
            lambda name=name: unfit.append(name),  # type: ignore[misc]
        )
        for name in ("one", "other")
    )
    fake.workspace.refused = "token_revoked"
    for api in (one, other):
        with pytest.raises(TokenRefused):
            await api.call("users.conversations")
    assert unfit == ["one", "other"]
    fake.workspace.refused = ""
    with pytest.raises(TokenRefused):
        await other.call("users.conversations")
    await one.call("auth.test")
    await other.call("users.conversations")
    await sessions.close()
