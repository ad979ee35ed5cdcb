"""The methods of the fake Slack that tell: who, where, what was said, and what may be connected."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from tests.fakes.base.http import JsonObject
from tests.fakes.slack import rules
from tests.fakes.slack.chat import Method
from tests.fakes.slack.rules import Asked, Refusal
from tests.fakes.slack.town import Town
from tests.fakes.slack.world import Channel, Message, User, parsed_ts, stamp

T = TypeVar("T")
_TYPES: Final = {
    "public_channel": "channel",
    "private_channel": "group",
    "mpim": "mpim",
    "im": "im",
}


@dataclass(slots=True)
class Reads:
    """Answer the methods that change nothing, or no messages."""

    town: Town

    def methods(self) -> Mapping[str, Method]:
        """Return the methods by their names."""
        return {
            "auth.teams.list": self.teams,
            "auth.test": self.auth_test,
            "bots.info": self.bots_info,
            "conversations.history": self.history,
            "conversations.info": self.info,
            "conversations.join": self.join,
            "conversations.list": self.list_channels,
            "conversations.members": self.members,
            "conversations.open": self.open,
            "conversations.replies": self.replies,
            "files.info": self.file,
            "team.info": self.team,
            "users.conversations": self.list_own,
            "users.info": self.user,
            "users.list": self.users,
        }

    # -- who ---------------------------------------------------------------------------------

    def auth_test(self, asked: Asked) -> JsonObject:
        place = asked.workspace
        return {
            "url": f"https://{place.domain}.slack.com/",
            "team": place.name,
            "user": place.bot.name,
            "team_id": place.org or place.team_id,
            "user_id": place.bot.id,
            "bot_id": place.bot.bot_id,
            "is_enterprise_install": bool(place.org),
        } | ({"enterprise_id": place.org} if place.org else {})

    def teams(self, asked: Asked) -> JsonObject:
        place = asked.workspace
        return _page(asked, "teams", [{"id": place.team_id, "name": place.name}], 100)

    def team(self, asked: Asked) -> JsonObject:
        place = asked.workspace
        return {"team": {"id": place.team_id, "name": place.name, "domain": place.domain}}

    def bots_info(self, asked: Asked) -> JsonObject:
        wanted = asked.text("bot") or asked.workspace.bot.bot_id
        found = next((it for it in asked.workspace.users.values() if it.bot_id == wanted), None)
        if found is None:
            raise Refusal("bot_not_found")
        return {
            "bot": {
                "id": found.bot_id,
                "deleted": found.deleted,
                "name": found.real_name,
                "updated": 1700000000,
                "app_id": found.app_id,
                "user_id": found.id,
                "icons": {},
            }
        }

    def user(self, asked: Asked) -> JsonObject:
        found = asked.workspace.users.get(asked.needed("user"))
        if found is None:
            raise Refusal("user_not_found")
        return {"user": found.as_json()}

    def users(self, asked: Asked) -> JsonObject:
        everybody = [it.as_json() for it in asked.workspace.users.values()]
        return _page(asked, "members", everybody, 1_000)

    # -- where -------------------------------------------------------------------------------

    def info(self, asked: Asked) -> JsonObject:
        return {"channel": rules.channel_of(asked).as_json()}

    def list_channels(self, asked: Asked) -> JsonObject:
        bot = asked.workspace.bot.id
        return self._listed(asked, lambda it: not it.is_private or bot in it.members)

    def list_own(self, asked: Asked) -> JsonObject:
        bot = asked.workspace.bot.id
        return self._listed(asked, lambda it: bot in it.members)

    def members(self, asked: Asked) -> JsonObject:
        channel = rules.channel_of(asked)
        return _page(asked, "members", list(channel.members), 100)

    def join(self, asked: Asked) -> JsonObject:
        channel = rules.channel_of(asked)
        if channel.kind != "channel":
            raise Refusal("method_not_supported_for_channel_type")
        if channel.archived:
            raise Refusal("is_archived")
        if asked.workspace.bot.id in channel.members:
            return {"channel": channel.as_json(), "warning": "already_in_channel"}
        self.town.join(channel)
        return {"channel": channel.as_json()}

    def open(self, asked: Asked) -> JsonObject:
        users = [it for it in asked.text("users").split(",") if it]
        if not users:
            return {"channel": {"id": rules.channel_of(asked).id}}
        known = asked.workspace.users
        if any(it not in known or known[it].deleted for it in users):
            raise Refusal("user_not_found")
        if len(users) > 1:
            people: list[User] = [known[it] for it in users]
            name = f"mpdm-{'--'.join(it.name for it in people)}-1"
            made = self.town.channel(name, "mpim", workspace=asked.workspace, members=people)
            return {"channel": {"id": made.id}}
        return {"channel": {"id": self.town.im(known[users[0]]).id}}

    # -- what was said -----------------------------------------------------------------------

    def history(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        found = [it for it in _window(asked, channel) if it.in_channel]
        found.sort(key=stamp)
        # From the newest on; but from the oldest on where only that end is given.
        if not (asked.text("oldest") and not asked.text("latest")):
            found.reverse()
        page, cursor = _cut(asked, found, 100)
        page.sort(key=stamp, reverse=True)
        self.town.changed()
        return _messages(asked, page, cursor) | {"pin_count": 0}

    def replies(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        ts = asked.needed("ts")
        wanted = channel.messages.get(ts)
        if wanted is None:
            raise Refusal("thread_not_found")
        thread = self.town.world.thread(channel, wanted.thread_ts or ts)
        inside = {it.ts for it in _window(asked, channel)}
        # The parent comes with every page of the first.
        found = [it for it in thread if it.ts in inside or it.ts == (wanted.thread_ts or ts)]
        page, cursor = _cut(asked, found, 1_000)
        self.town.changed()
        return _messages(asked, page, cursor)

    def file(self, asked: Asked) -> JsonObject:
        found = self.town.world.files.get(asked.needed("file"))
        if found is None or found.team_id != asked.workspace.team_id:
            raise Refusal("file_not_found")
        return {"file": found.json | {"file_access": "visible", "channels": found.channels}}

    # -- parts -------------------------------------------------------------------------------

    def _listed(self, asked: Asked, wanted: Callable[[Channel], bool]) -> JsonObject:
        if asked.workspace.org and asked.text("team_id") != asked.workspace.team_id:
            raise Refusal("missing_argument")
        types = asked.text("types", "public_channel").split(",")
        kinds = {_TYPES[name.strip()] for name in types if name.strip() in _TYPES}
        if len(kinds) != len(types):
            raise Refusal("invalid_types")
        for scope in (f"{rules.PLURAL[kind]}:read" for kind in sorted(kinds)):
            if scope not in (scopes := self.town.events.scopes):
                raise Refusal("missing_scope", needed=scope, provided=",".join(sorted(scopes)))
        bare = asked.flag("exclude_archived")
        found = [
            it.as_json()
            for it in asked.workspace.channels.values()
            if it.kind in kinds and wanted(it) and not (bare and it.archived)
        ]
        return _page(asked, "channels", found, 100)


def _window(asked: Asked, channel: Channel) -> list[Message]:
    """Return the messages between `oldest` and `latest`; raises Refusal."""
    oldest, latest = asked.text("oldest"), asked.text("latest")
    low = rules.valid_ts(oldest or "0", "invalid_ts_oldest")
    high = rules.valid_ts(latest or "99999999999", "invalid_ts_latest")
    edges = asked.flag("inclusive")
    found = []
    for message in channel.messages.values():
        at = parsed_ts(message.ts)
        if low < at < high or (edges and at in (low, high)):
            found.append(message)
    return found


def _messages(asked: Asked, page: list[Message], cursor: str) -> JsonObject:
    whole = asked.flag("include_all_metadata")
    shown = []
    for message in page:
        message.read = True
        metadata = {"metadata": message.metadata} if whole and message.metadata else {}
        shown.append(message.json | metadata)
    found: JsonObject = {"messages": shown, "has_more": bool(cursor)}
    return found | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _page(asked: Asked, name: str, everything: Sequence[T], default: int) -> JsonObject:
    page, cursor = _cut(asked, everything, default)
    return {name: page, "response_metadata": {"next_cursor": cursor}}


def _cut(asked: Asked, found: Sequence[T], default: int) -> tuple[list[T], str]:
    limit = asked.number("limit", default) or default
    if not 0 < limit <= 1_000:
        raise Refusal("invalid_limit")
    start = _start(asked.text("cursor"))
    end = start + limit
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(found) else ""
    return list(found[start:end]), cursor


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except (binascii.Error, ValueError):
        raise Refusal("invalid_cursor") from None
