"""Keeps the installations, and joins their workspaces.

They are in a file of the home folder. Several processes over one database keep them as facts there,
and each joins what another one has installed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from channels.backoff import Backoff
from channels.errors import ChannelError, ChannelUnfit
from channels.host import FullHost
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.api_methods import RateLimits
from channels.slack.settings import SlackSettings
from channels.slack.troubles import BOT_REFUSED
from channels.slack.workspaces import Workspace, Workspaces, identify

NOT_INSTALLED: Final = (
    "The app is no longer installed in the workspace {team}. Install it again at /slack/install, or"
    " remove the workspace from the file of installations."
)
UNREACHABLE: Final = (
    "The workspace {team} cannot be reached now. I keep trying; the others are not affected."
)
FACT: Final = "workspace/"
RETRY_SECONDS: Final = 5.0
MAX_RETRY_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Installed:
    team: str
    token: str
    name: str = ""

    @property
    def title(self) -> str:
        return self.name or self.team


class WorkspaceSink(Protocol):  # implemented by the channel
    def joined_late(self) -> None:
        """Catch up on a workspace that was unreachable when the channel started."""

    def token_revoked(self, why: str) -> None:
        """End the channel, because its own bot token is no longer valid."""


class Installations:
    """Joins workspaces, retries unreachable ones, and drops those that removed the app.

    joining     the teams that could not be reached yet
    started_at  when the channel first ran; a new workspace's history is read from then on
    """

    def __init__(
        self,
        settings: SlackSettings,
        sessions: ApiSessions,
        workspaces: Workspaces,
        host: FullHost,
        sink: WorkspaceSink,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._workspaces = workspaces
        self._host = host
        self._sink = sink
        self._is_stopped = self._follows = False
        self._tokens: dict[str, str] = {}
        self.joining: set[str] = set()
        self.started_at = host.clock.now()

    async def join_all(self) -> None:
        """Connect to the bot token's workspace and to the installed ones; raises ChannelError."""
        token = self._settings.bot_token.get_secret_value()
        if token:
            self._workspaces.add(await identify("", self.api(token), self._host.start_soon))
        path, facts = self._settings.installations, self._host.facts
        listed = read_installations(path) if path is not None else []
        if not facts.shared:
            for one in listed:
                await self.join(one)
            return
        new = [one for one in listed if facts.get(FACT + one.team) is None]
        if new:
            await facts.store({FACT + one.team: _row(one) for one in new})
        await self._join_new()
        if not self._follows:
            self._follows = True
            self._host.start_soon("slack workspaces", self._follow)

    async def add(self, one: Installed) -> None:
        """Keep an installation and join its workspace; raises ChannelError."""
        path, facts = self._settings.installations, self._host.facts
        if facts.shared:
            await facts.store({FACT + one.team: _row(one)})
        elif path is not None:
            others = [known for known in read_installations(path) if known.team != one.team]
            write_installations(path, [*others, one])
        await self.join(one)

    async def _follow(self) -> None:
        """Join what other processes install, and drop what they found to be removed."""
        facts = self._host.facts
        while not self._is_stopped:
            changed = facts.changed()
            await self._join_new()
            for known in self._workspaces.all():
                if known.account and facts.get(FACT + known.account) is None:
                    self._drop(known.account)
            await changed.wait()

    async def _join_new(self) -> None:
        facts = self._host.facts
        for name in facts.names(FACT):
            row, team = facts.get(name), name.removeprefix(FACT)
            if row is not None and self._tokens.get(team) != row["token"]:
                await self.join(Installed(team, row["token"], row["name"]))

    def _drop(self, team: str) -> None:
        self._tokens.pop(team, None)
        self._workspaces.remove(team)
        if self._host.facts.get(FACT + team) is not None:
            self._host.facts.put({FACT + team: None})

    async def join(self, one: Installed) -> None:
        """Join a workspace, now or once it can be reached."""
        self._tokens[one.team] = one.token
        if not await self._try_to_join(one) and one.team not in self.joining:
            self.joining.add(one.team)
            self._host.warn(UNREACHABLE.format(team=one.title))
            self._host.start_soon("slack workspace", lambda: self._join_later(one))

    def check(self, workspace: Workspace) -> None:
        """Drop a workspace if the app is not installed there any more."""
        self._host.start_soon("slack token", lambda: self._check(workspace))

    def stop(self) -> None:
        self._is_stopped = True

    def api(self, token: str, account: str = "") -> SlackApi:
        is_own = token == self._settings.bot_token.get_secret_value()
        unfit = (
            (lambda: self._sink.token_revoked(BOT_REFUSED.sentence())) if is_own else (lambda: None)
        )
        limits = RateLimits(self._host.clock, self._host.gates, account)
        made = SlackApi(token, self._settings, self._sessions, limits, self._host.warn, unfit)
        made.way.tell = self._host.blocked
        return made

    async def _try_to_join(self, one: Installed) -> bool:
        """Try to join a workspace; return False if another attempt is needed."""
        try:
            found = await identify(one.team, self.api(one.token, one.team), self._host.start_soon)
        except ChannelUnfit:
            self._host.warn(NOT_INSTALLED.format(team=one.title))
        except ChannelError:
            return False
        else:
            self._workspaces.add(found)
        return True

    async def _join_later(self, one: Installed) -> None:
        backoff = Backoff(RETRY_SECONDS, MAX_RETRY_SECONDS)
        try:
            while not self._is_stopped:
                await self._host.clock.sleep(backoff.next())
                if await self._try_to_join(one):
                    break
        finally:
            self.joining.discard(one.team)
        self._sink.joined_late()

    async def _check(self, workspace: Workspace) -> None:
        try:
            await identify(workspace.account, workspace.api, self._host.start_soon)
        except ChannelUnfit as unfit:
            if not workspace.account:
                self._sink.token_revoked(str(unfit))
                return
            self._drop(workspace.account)
            self._host.warn(NOT_INSTALLED.format(team=workspace.team))
        except ChannelError:
            pass  # the next request will show whether the app is still installed


def _row(one: Installed) -> dict[str, str]:
    return {"token": one.token, "name": one.name}


def read_installations(path: Path) -> list[Installed]:
    """Return the installations in a file, or none if it does not exist; raises ChannelUnfit."""
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
    """Replace the file atomically; only its owner may read it."""
    target = path.expanduser()
    target.parent.mkdir(parents=True, exist_ok=True)
    held = {one.team: {"bot_token": one.token, "name": one.name} for one in installed}
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(held, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(target)
