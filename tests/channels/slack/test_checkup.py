"""What a check of a Slack app finds, on a server that refuses what Slack refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from channels.checkup import Checkup
from channels.slack.api_methods import scopes
from channels.slack.checkup import examine
from channels.slack.settings import SlackSettings
from channels.slack.troubles import (
    APP_REFUSED,
    BOT_REFUSED,
    CONNECTION,
    INSTALLATIONS,
    NO_BOT_TOKEN,
    NO_CHANNEL,
    NO_SCOPE,
    NO_TOKEN,
    NO_WAY_IN,
    NOT_LET_IN,
    SOCKET_MODE_OFF,
    TROUBLES,
    WRONG_TOKEN,
)
from tests.channels.checkups import troubles
from tests.channels.slack.hosts import Running, running
from tests.fakes.base.faults import ServerError
from tests.fakes.slack.faults import Fault, RateLimited, Refuse
from tests.fakes.slack.server import FakeSlack


async def examined(fake: FakeSlack, **more: object) -> Checkup:
    values = {"bot_token": fake.bot_token, "app_token": fake.app_token, "base_url": fake.base_url}
    found = await examine(SlackSettings.model_validate(values | more))
    assert fake.bot_token not in repr(found)
    assert fake.app_token not in repr(found)
    return found


async def test_an_app_in_order_is_named_with_its_workspace(fake: FakeSlack) -> None:
    fake.channel()
    found = await examined(fake)
    assert troubles(found) == []
    assert (found.bot, found.invite) == ("@tapeway", "/invite @tapeway")
    assert [result.check for result in found.results] == [
        "slack.bot_token",
        "slack.scopes",
        "slack.channels",
        "slack.app_token",
    ]


async def test_a_check_beside_a_running_app_opens_no_connection(app: Running) -> None:
    await app.ready()
    app.fake.channel()
    before, opened = len(app.fake.calls), app.fake.sockets.opened
    assert troubles(await examined(app.fake)) == []
    assert (app.fake.sockets.opened, len(app.fake.sockets.live)) == (opened, 1)
    asked = [call.method for call in app.fake.calls[before:]]
    assert asked == ["auth.test", "users.conversations", "apps.connections.open"]


SETTINGS: list[tuple[dict[str, object], Any, str]] = [
    ({"bot_token": "", "app_token": ""}, NO_TOKEN, "no token is set"),
    ({"app_token": ""}, NO_WAY_IN, ""),
    ({"bot_token": "123456:AAE-of-telegram"}, WRONG_TOKEN, "TAPEWAY_SLACK__BOT_TOKEN: this looks"),
    ({"app_token": "0" * 32}, WRONG_TOKEN, "like a secret of a Slack app"),
    ({"app_token": "", "signing_secret": "xapp-1-x"}, WRONG_TOKEN, "app-level token"),
]


@pytest.mark.parametrize(("more", "trouble", "says"), SETTINGS, ids=range(len(SETTINGS)))
async def test_a_token_that_is_missing_or_misplaced_is_named_and_nothing_is_sent(
    more: dict[str, object], trouble: object, says: str, fake: FakeSlack
) -> None:
    (result,) = troubles(await examined(fake, **more))
    assert fake.calls == []
    assert result.trouble == trouble
    assert says in result.says


async def test_without_a_bot_token_the_app_token_is_still_checked(fake: FakeSlack) -> None:
    found = await examined(fake, bot_token="")
    assert [(one.trouble, one.state) for one in found.results] == [
        (NO_BOT_TOKEN, "failure"),
        (None, "ok"),
    ]


FAULTS: list[tuple[Fault, Any]] = [
    (Refuse("invalid_auth"), BOT_REFUSED),
    (Refuse("token_revoked"), BOT_REFUSED),
    (Refuse("account_inactive"), NOT_LET_IN),
    (Refuse("team_access_not_granted"), NOT_LET_IN),
    (RateLimited(30), CONNECTION.limited),
    (ServerError(503), CONNECTION.unreachable),
]


@pytest.mark.parametrize(("fault", "trouble"), FAULTS, ids=range(len(FAULTS)))
async def test_a_refused_bot_token_is_named(fault: Fault, trouble: object, fake: FakeSlack) -> None:
    fake.fail("auth.test", fault)
    (result,) = troubles(await examined(fake))
    assert (result.check, result.trouble) == ("slack.bot_token", trouble)


async def test_an_app_token_that_is_refused_or_lacks_its_scope_is_named(fake: FakeSlack) -> None:
    fake.channel()
    fake.tokens.app_scopes = {"authorizations:read"}
    (lacks,) = troubles(await examined(fake))
    fake.tokens.app_refused = "token_revoked"
    (revoked,) = troubles(await examined(fake))
    fake.fail("apps.connections.open", RateLimited(60))
    limited = (await examined(fake)).results[-1]
    assert (lacks.trouble, revoked.trouble) == (APP_REFUSED, APP_REFUSED)
    assert (limited.trouble, limited.state) == (None, "note")


async def test_missing_scopes_are_named_by_doctor_and_at_the_start(fake: FakeSlack) -> None:
    fake.channel()
    fake.events.scopes = set(scopes()) - {"files:read", "im:write"}
    (result,) = troubles(await examined(fake))
    async with running(fake) as app:
        await app.ready()
        assert app.host.warnings == [NO_SCOPE.sentence("files:read, im:write")]
    assert (result.trouble, result.state) == (NO_SCOPE, "failure")
    assert "files:read, im:write" in result.says


async def test_socket_mode_that_is_off_is_named_by_a_running_app(fake: FakeSlack) -> None:
    fake.sockets.enabled = False
    async with running(fake) as app:
        await app.host.until(lambda: bool(app.host.downs))
        assert app.host.downs[0] == SOCKET_MODE_OFF.sentence()


async def test_a_bot_in_no_channel_is_a_warning(fake: FakeSlack) -> None:
    (result,) = troubles(await examined(fake))
    assert (result.trouble, result.state) == (NO_CHANNEL, "warning")


async def test_over_http_the_signing_secret_is_enough(fake: FakeSlack) -> None:
    fake.channel()
    found = await examined(fake, app_token="", signing_secret=fake.signing_secret)
    assert troubles(found) == []
    assert found.results[-1].check == "slack.events"


async def test_other_workspaces_are_checked_and_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, fake: FakeSlack
) -> None:
    file = tmp_path / "installations.json"
    fake.channel()
    file.write_text(json.dumps({"T9": {"bot_token": "xoxb-gone", "name": "Elsewhere"}}))
    (gone,) = troubles(await examined(fake, installations=file))
    file.write_text("no JSON")
    (unusable,) = troubles(await examined(fake, installations=file))
    assert (gone.trouble, unusable.trouble) == (BOT_REFUSED, INSTALLATIONS)


async def test_what_is_in_the_way_of_the_connection_is_named(fake: FakeSlack) -> None:
    proxy = troubles(await examined(fake, proxy="http://127.0.0.1:1"))
    closed = troubles(await examined(fake, base_url="http://127.0.0.1:1/api/"))
    assert {one.trouble for one in proxy} == {CONNECTION.proxy}
    assert {one.trouble for one in closed} == {CONNECTION.unreachable}


def test_every_trouble_has_an_id_of_its_own() -> None:
    assert len({trouble.id for trouble in TROUBLES}) == len(TROUBLES)
