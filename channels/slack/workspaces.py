"""The workspaces that the app is installed in: who it is there, and its token.

The workspace of TAPEWAY_SLACK__BOT_TOKEN is the channel's own account; those of the file of
installations are accounts by their team's id.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from channels.errors import ChannelDown, ChannelUnfit, SendRefused
from channels.slack.api import SlackApi, TokenRefused
from channels.slack.name_cache import Names, Spawn

NOT_INSTALLED: Final = (
    "The app is not installed in the workspace {team} any more: install it again at /slack/install,"
    " or take the workspace out of the file of installations."
)


@dataclass(frozen=True, slots=True)
class Installed:
    """A workspace in the file of installations."""

    team: str
    token: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace, and who the app is in it.

    account  the account of the channel: "" for its own workspace, else the team's id
    user     the id of the bot as a user, which mentions hold; bot its id as a bot
    """

    account: str
    team: str
    user: str
    bot: str
    name: str
    url: str
    api: SlackApi
    names: Names


class Workspaces:
    """The workspaces by account and by team."""

    def __init__(self) -> None:
        self._by_account: dict[str, Workspace] = {}

    def __len__(self) -> int:
        return len(self._by_account)

    def all(self) -> list[Workspace]:
        """Return every workspace."""
        return list(self._by_account.values())

    def add(self, workspace: Workspace) -> None:
        """Take a workspace; one of its account is replaced, one of its team is left alone."""
        for known in self.all():
            if known.team == workspace.team and known.account != workspace.account:
                return
        self._by_account[workspace.account] = workspace

    def remove(self, account: str) -> None:
        """Forget a workspace."""
        self._by_account.pop(account, None)

    def of(self, account: str) -> Workspace:
        """Return the workspace of an account; raises SendRefused."""
        found = self._by_account.get(account)
        if found is None:
            raise SendRefused("the app is not installed in this workspace any more")
        return found

    def of_body(self, body: Mapping[str, Any]) -> Workspace | None:
        """Return the workspace that something came from; None for one that is not known."""
        authorizations = body.get("authorizations")
        teams = [
            one.get("team_id")
            for one in (authorizations if isinstance(authorizations, list) else ())
            if isinstance(one, Mapping)
        ]
        own = body.get("team")
        teams += [body.get("team_id"), own.get("id") if isinstance(own, Mapping) else own]
        for team in teams:
            for workspace in self.all():
                if workspace.team == team:
                    return workspace
        only = self.all()
        return only[0] if len(only) == 1 and not any(teams) else None


async def introduce(account: str, api: SlackApi, spawn: Spawn) -> Workspace:
    """Ask who the app is in a workspace; raises ChannelUnfit or ChannelDown."""
    try:
        found = await api.call("auth.test")
    except TokenRefused:
        raise
    except SendRefused as refused:
        raise ChannelUnfit(
            f"Slack does not let the app in: {refused}. Install it again at"
            " https://api.slack.com/apps (Install App) and put its token into"
            " TAPEWAY_SLACK__BOT_TOKEN."
        ) from refused
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
    )


def read_installations(path: Path) -> list[Installed]:
    """Return what the file holds; a file that is not there holds nothing. Raises ChannelUnfit."""
    try:
        text = path.expanduser().read_text("utf-8")
    except FileNotFoundError:
        return []
    except OSError as cause:
        raise ChannelUnfit(
            f"TAPEWAY_SLACK__INSTALLATIONS cannot be read: {cause.strerror}"
        ) from None
    try:
        found = json.loads(text)
        return [
            Installed(str(team), str(one["bot_token"]), str(one.get("name") or ""))
            for team, one in found.items()
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ChannelUnfit(
            'TAPEWAY_SLACK__INSTALLATIONS must hold JSON: {"T0123": {"bot_token": "xoxb-..."}}'
        ) from None


def write_installations(path: Path, installed: Iterable[Installed]) -> None:
    """Write the file, for its owner only, in one step."""
    place = path.expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    held = {one.team: {"bot_token": one.token, "name": one.name} for one in installed}
    fresh = place.with_name(f"{place.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(held, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(place)
