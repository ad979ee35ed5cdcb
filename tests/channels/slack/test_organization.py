"""An app that is installed for a whole organization: one token, and events of many workspaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from channels.host import Cursors
from channels.slack.checkup import examine
from channels.slack.installations import Installed, write_installations
from channels.slack.settings import SlackSettings
from channels.slack.workspaces import Workspaces, administers
from tests.channels.checkups import troubles
from tests.channels.slack.events import me
from tests.channels.slack.hosts import Running, running
from tests.fakes.slack.server import FakeSlack

ORG = "E0WORKS001"


def organization() -> Workspaces:
    found = Workspaces(lambda _account: False)
    one = me().workspace
    found.add(type(one)("", ORG, "UBOT", "BBOT", "tapeway", "", one.api, one.names, ORG))
    return found


@pytest.mark.parametrize(
    "body",
    [
        {"team_id": "T1", "authorizations": [{"enterprise_id": ORG, "team_id": "T1"}]},
        {"team_id": "T1", "authorizations": [{"enterprise_id": ORG, "team_id": None}]},
        {"team_id": "T1", "enterprise_id": ORG, "command": "/tapeway"},
        {"team": {"id": "T1"}, "enterprise": {"id": ORG}, "type": "block_actions"},
        {"team": None, "enterprise": {"id": ORG}, "message": {"team": "T1"}},
    ],
)
def test_what_comes_from_a_workspace_of_the_organization_is_that_workspace_s(
    body: dict[str, Any],
) -> None:
    found = organization().of_body(body)
    assert found is not None
    assert (found.account, found.team, found.org) == ("", "T1", ORG)


def test_what_comes_from_elsewhere_is_nobody_s() -> None:
    given = [{"enterprise_id": "E0OTHER001", "team_id": "T1"}]
    assert organization().of_body({"team_id": "T1", "authorizations": given}) is None


def test_a_workspace_with_a_token_of_its_own_keeps_it() -> None:
    workspaces, own = organization(), me().workspace
    workspaces.add(type(own)("T1", "T1", "U2", "B2", "tapeway", "", own.api, own.names))
    given = [{"enterprise_id": ORG, "team_id": "T1"}]
    found = workspaces.of_body({"team_id": "T1", "authorizations": given})
    assert found is not None
    assert found.account == "T1"


async def test_its_events_are_accepted_and_belong_to_their_workspace(fake: FakeSlack) -> None:
    fake.workspace.org = ORG
    async with running(fake) as app:
        await app.ready()
        fake.say(fake.channel(), fake.user("Ada"), "@tapeway hello")
        await app.heard(1)
        (message,) = app.host.accepted
        assert (message.server_id, message.addressed) == (fake.workspace.team_id, True)
        assert app.host.warnings == []


async def test_what_it_missed_is_read_in_each_workspace(fake: FakeSlack) -> None:
    fake.workspace.org = ORG
    async with running(fake) as app:
        await app.ready()
        since = app.clock.now()
        fake.deliveries.hold()
        fake.say(fake.channel(), fake.user("Ada"), "@tapeway hello")
        cursors = Cursors(accounts={"": since})
        found = [one async for part in app.channel.missed(cursors) for one in part]
        assert [(one.text, one.server_id) for one in found] == [
            ("@tapeway hello", fake.workspace.team_id)
        ]


async def test_it_is_joined_from_the_file_of_installations(tmp_path: Path, fake: FakeSlack) -> None:
    path = tmp_path / "installations.json"
    write_installations(path, [Installed(ORG, "xoxb-2-test")])
    other = fake.add_workspace("Other Works", "xoxb-2-test")
    other.org = ORG
    async with running(fake, installations=path) as app:
        await app.ready()
        bob = fake.user("Bob", workspace=other)
        fake.say(fake.im(bob), bob, "hello")
        await app.heard(1)
        assert app.host.accepted[0].account == ORG


async def test_a_check_says_in_how_many_workspaces_it_is(fake: FakeSlack, app: Running) -> None:
    fake.workspace.org = ORG
    values = {"bot_token": fake.bot_token, "app_token": fake.app_token, "base_url": fake.base_url}
    found = await examine(SlackSettings.model_validate(values))
    assert troubles(found) == []
    says = {result.check: result.says for result in found.results}
    assert says["slack.workspaces"] == (
        "the app is installed for an organization, and in 1 of its workspaces"
    )


@pytest.mark.parametrize(
    ("user", "does"),
    [
        ({"team_id": "T1", "is_admin": True}, True),
        ({"team_id": "T2", "is_admin": True}, False),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": ORG, "is_owner": True}}, True),
        ({"team_id": "T2", "enterprise_user": {"enterprise_id": "E2", "is_owner": True}}, False),
        ({"team_id": "T1", "is_admin": True, "deleted": True}, False),
    ],
)
def test_administrators_are_those_of_the_workspace_and_of_the_organization(
    user: dict[str, Any], does: bool
) -> None:
    assert administers(user, "T1", ORG) is does
