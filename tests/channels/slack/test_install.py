"""Installing the app in another workspace."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from channels.errors import ChannelUnfit
from channels.slack.api_methods import scopes
from channels.slack.installations import Installed, read_installations, write_installations
from channels.slack.oauth import COOKIE
from tests.channels.slack.hosts import running, slack
from tests.fakes.slack.server import FakeSlack


@pytest.mark.parametrize("org", ["", "E0OTHER001"])
async def test_installing_the_app_stores_the_token_of_the_workspace_or_the_organization(
    org: str, tmp_path: Path, fake: FakeSlack
) -> None:
    path = tmp_path / "installations.json"
    other = fake.world.workspace("Other Works", "xoxb-2-test")
    other.org = org
    fake.tokens.oauth_codes["a-code"] = other
    given = {
        "installations": path,
        "client_id": fake.tokens.client_id,
        "client_secret": fake.tokens.client_secret,
    }
    async with running(fake, **given) as app, app.web() as web:  # type: ignore[arg-type]
        await app.ready()
        begun = await web.get("/slack/install")
        assert begun.status_code == 302
        query = parse_qs(urlsplit(begun.headers["location"]).query)
        assert set(query["scope"][0].split(",")) == scopes()
        state = query["state"][0]
        for wrong, cookie in ((state, ""), ("x", "x"), (state[:-1] + "x", state[:-1] + "x")):
            refused = await web.get(
                f"/slack/oauth?code=a-code&state={wrong}", headers={"cookie": f"{COOKIE}={cookie}"}
            )
            assert refused.status_code == 400
        back = f"/slack/oauth?code=a-code&state={state}"
        done = await web.get(back, headers={"cookie": f"{COOKIE}={state}"})
        assert (done.status_code, done.text) == (200, "The app is now in Other Works.\n")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert json.loads(path.read_text())[org or other.team_id]["bot_token"] == "xoxb-2-test"
        bob = fake.user("Bob", workspace=other)
        fake.say(fake.im(bob), bob, "hello")
        await app.heard(1)
        assert app.host.accepted[0].account == (org or other.team_id)


async def test_without_a_client_secret_the_install_route_is_absent() -> None:
    async with slack() as fake, running(fake) as app, app.web() as web:
        await app.ready()
        assert (await web.get("/slack/install")).status_code == 404


async def test_the_file_of_installations_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    assert read_installations(path) == []
    one = Installed("T1", "xoxb-1", "One")
    write_installations(path, [one])
    assert read_installations(path) == [one]
    path.write_text("[1]")
    with pytest.raises(ChannelUnfit, match="must hold JSON"):
        read_installations(path)
