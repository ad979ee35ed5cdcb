"""The workspaces where the app is installed, with the app's identity and token in each.

The workspace of TAPEWAY_SLACK__BOT_TOKEN is the channel's own account, "". Each workspace in the
file of installations is an account whose name is the id of its team. An app that is installed for a
whole organization has one account and one token for all workspaces of it; events name theirs.
https://docs.slack.dev/enterprise/organization-ready-apps/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from channels.errors import ChannelDown, ChannelUnfit, SendRefused
from channels.host import Spawn
from channels.slack.api import SlackApi
from channels.slack.name_cache import Names
from channels.slack.troubles import NOT_LET_IN


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace, and the app's identity in it.

    account  the channel's account: "" for its own workspace, otherwise the team's id
    team     its id; of an organization, the id of the workspace in question, if there is one
    user     the bot's user id, which mentions contain
    bot      the bot's bot id
    org      the organization's id, if the app is installed for all of it
    """

    account: str
    team: str
    user: str
    bot: str
    name: str
    url: str
    api: SlackApi
    names: Names
    org: str = ""


class Workspaces:
    """The workspaces that can be reached; `is_joining` says whether another one soon can."""

    def __init__(self, is_joining: Callable[[str], bool]) -> None:
        self._is_joining = is_joining
        self._by_account: dict[str, Workspace] = {}

    def all(self) -> list[Workspace]:
        return list(self._by_account.values())

    def add(self, workspace: Workspace) -> None:
        """Add a workspace or replace its account, unless another account has the same team."""
        accounts = {known.account for known in self.all() if known.team == workspace.team}
        if accounts <= {workspace.account}:
            self._by_account[workspace.account] = workspace

    def remove(self, account: str) -> None:
        self._by_account.pop(account, None)

    def of(self, account: str) -> Workspace:
        """Return the workspace of an account; raises SendRefused if there will be none."""
        found = self._by_account.get(account)
        if found is None and self._is_joining(account):
            raise ChannelDown("the workspace cannot be reached yet")
        if found is None:
            raise SendRefused("the app is no longer installed in this workspace")
        return found

    def of_body(self, body: Mapping[str, Any]) -> Workspace | None:
        """Return the workspace that a delivery came from, or None if it is unknown."""
        authorizations = body.get("authorizations")
        given = authorizations if isinstance(authorizations, list) else ()
        teams = [one.get("team_id") for one in given if isinstance(one, Mapping)]
        own = body.get("team")
        teams += [body.get("team_id"), own.get("id") if isinstance(own, Mapping) else own]
        below = body.get("message")  # a press may come with the team of a person from elsewhere
        teams += [below.get("team")] if isinstance(below, Mapping) else []
        known = self.all()
        found = next((one for team in teams for one in known if one.team == team), None)
        if found is None:
            found = self._of_organization(_organizations(body, given), teams)
        return found or (known[0] if len(known) == 1 and not any(teams) else None)

    def _of_organization(self, orgs: Sequence[Any], teams: Sequence[Any]) -> Workspace | None:
        """Return the workspace of an organization that an event names, with the token for all."""
        found = (one for org in orgs for one in self.all() if one.org and one.org == org)
        one, team = next(found, None), next((team for team in teams if team), None)
        return replace(one, team=str(team)) if one is not None and team else one


def _organizations(body: Mapping[str, Any], given: Sequence[Any]) -> list[Any]:
    own = body.get("enterprise")
    named = [one.get("enterprise_id") for one in given if isinstance(one, Mapping)]
    return [*named, body.get("enterprise_id"), own.get("id") if isinstance(own, Mapping) else own]


async def identify(account: str, api: SlackApi, spawn: Spawn) -> Workspace:
    """Ask Slack for the app's identity; raises ChannelUnfit or ChannelDown."""
    try:
        found = await api.call("auth.test")
    except SendRefused as refused:
        raise ChannelUnfit(trouble=NOT_LET_IN, detail=str(refused)) from refused
    api.warn_of_missing_scopes()
    if not found.get("user_id") or not found.get("team_id"):
        raise ChannelDown("Slack's auth.test does not say who the app is")
    names = Names(api, spawn)
    names.learn(str(found["user_id"]), str(found.get("user") or ""))
    return Workspace(
        account=account,
        team=str(found["team_id"]),
        user=str(found["user_id"]),
        bot=str(found.get("bot_id") or ""),
        name=str(found.get("user") or ""),
        url=str(found.get("url") or ""),
        api=api,
        names=names,
        org=organization_of(found),
    )


def organization_of(found: Mapping[str, Any]) -> str:
    """Return the organization that the app is installed for, from auth.test; "" if it is none."""
    if not found.get("is_enterprise_install"):
        return ""
    return str(found.get("enterprise_id") or found.get("team_id") or "")


def administers(user: Mapping[str, Any], team: str, org: str) -> bool:
    """Return whether a person administers a workspace, or the organization that it belongs to."""
    if user.get("deleted"):
        return False
    of_org = user.get("enterprise_user") or {}
    if (
        org
        and of_org.get("enterprise_id") == org
        and (of_org.get("is_admin") or of_org.get("is_owner"))
    ):
        return True
    # The flags of a person of another company, or workspace, are that one's.
    return user.get("team_id") == team and bool(user.get("is_admin") or user.get("is_owner"))
