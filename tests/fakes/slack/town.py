"""Who and what there is on the fake Slack, and the events of what changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.deliveries import Deliveries, Delivery
from tests.fakes.slack.events import Events
from tests.fakes.slack.world import Channel, ChannelKind, Message, User, Workspace, World, micros


class Town:
    """Hold the world; what happens in it is dated by the clock, and `last` was told last."""

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        token: str = "xoxb-1-2-test-bot-token",
        seed: int = 1,
    ) -> None:
        self.world = World()
        self.clock = clock
        self.epoch = time.time() - clock()
        self.deliveries = Deliveries(clock, sleep, self._changed)
        self.events = Events(self.deliveries, self.unix, seed)
        self.workspace = self.world.workspace("Tapeway Works", token)
        self.base = ""
        self.last: Delivery | None = None

    def unix(self) -> float:
        """Return the Unix time of the clock."""
        return self.epoch + self.clock()

    def changed(self) -> None:
        """Wake whoever waits for a change."""

    # -- who and where ---------------------------------------------------------------------

    def user(self, name: str, *, is_bot: bool = False, workspace: Workspace | None = None) -> User:
        """Make a user; people call it by its name, in lower case."""
        place = workspace or self.workspace
        new = self.world.new_id
        bot_id, app_id = (new("B"), new("A")) if is_bot else (None, None)
        handle = name.lower().replace(" ", ".")
        made = User(new("U"), handle, name, place.team_id, bot_id, app_id)
        place.users[made.id] = made
        return made

    def guest(self, name: str, *, home: Workspace) -> User:
        """Make a user of another workspace who is seen here, in a shared channel."""
        made = self.user(name, workspace=home)
        self.workspace.users[made.id] = made
        return made

    def add_workspace(self, name: str, token: str, *, installed: bool = True) -> Workspace:
        """Make one more workspace; where the app is not installed its token is not good yet."""
        made = self.world.workspace(name, token)
        if not installed:
            made.installed, made.refused = False, "invalid_auth"
        return made

    def channel(
        self,
        name: str = "",
        kind: ChannelKind = "channel",
        *,
        workspace: Workspace | None = None,
        member: bool = True,
        members: Sequence[User] = (),
    ) -> Channel:
        """Make a channel, of the people given and the bot; the latter not without `member`."""
        place = workspace or self.workspace
        made = Channel(self.world.new_id("C"), kind, place, name or f"room-{len(place.channels)}")
        made.members = [user.id for user in members] + ([place.bot.id] if member else [])
        return self.world.channel(made)

    def im(self, user: User) -> Channel:
        """Return the conversation of a user with the bot."""
        place = self.world.workspaces[user.team_id]
        for channel in place.channels.values():
            if channel.kind == "im" and channel.person == user.id:
                return channel
        made = Channel(self.world.new_id("D"), "im", place, person=user.id)
        made.members = [user.id, place.bot.id]
        return self.world.channel(made)

    def find(self, channel: Channel | str) -> Channel:
        """Return the channel of an id."""
        return channel if isinstance(channel, Channel) else self.world.channels[channel]

    # -- what happens, whoever does it --------------------------------------------------

    def post(self, channel: Channel, json: JsonObject, metadata: JsonObject | None) -> Message:
        """Put a message of the bot's into a channel; the status there ends with it."""
        bot = channel.workspace.bot
        made = self._put(
            channel,
            {"user": bot.id, "type": "message"} | bot_fields(bot, classic=False) | json,
            mine=True,
            metadata=metadata,
        )
        channel.statuses.pop(made.thread_ts or made.ts, None)
        return made

    def tell(self, channel: Channel, message: Message) -> None:
        """Send the app the event of a message."""
        self._tell(channel, message)

    def edited(self, channel: Channel, message: Message, before: JsonObject, by: str) -> None:
        """Note that a message was changed, and tell the app."""
        ts = self.world.new_ts(channel, self.unix())
        message.json["edited"] = {"user": by, "ts": f"{ts.partition('.')[0]}.000000"}
        message.history.append(message.text)
        message.edits += 1
        self._told(self.events.changed(channel, message, before, ts))

    def removed(self, channel: Channel, message: Message, before: JsonObject) -> None:
        """Take a message away, and tell the app."""
        left = self.world.remove(channel, message.ts)
        ts = self.world.new_ts(channel, self.unix())
        if left.ts in channel.messages:
            self._told(self.events.changed(channel, left, before, ts))
        else:
            self._told(self.events.deleted(channel, message, ts))

    def reacted(
        self, channel: Channel, message: Message, user_id: str, name: str, *, remove: bool
    ) -> None:
        """Send the app the event of a reaction."""
        event: JsonObject = {
            "type": "reaction_removed" if remove else "reaction_added",
            "user": user_id,
            "reaction": name,
            "item": {"type": "message", "channel": channel.id, "ts": message.ts},
            "item_user": message.user,
            "event_ts": self.world.new_ts(channel, self.unix()),
        }
        if channel.workspace.bot.id in channel.members:
            self._told(self.events.emit(channel.workspace, event, scope="reactions:read"))

    def join(
        self, channel: Channel | str, user: User | None = None, by: User | None = None
    ) -> None:
        """Have someone join a channel, invited by somebody or not; without a user, the bot."""
        place = self.find(channel)
        found = user or place.workspace.bot
        if found.id not in place.members:
            place.members.append(found.id)
        text = f"<@{found.id}> has joined the channel"
        json = {"type": "message", "subtype": "channel_join", "user": found.id, "text": text}
        self._tell(place, self._put(place, json))
        invited = {"inviter": by.id} if by is not None else {}
        self._about(place, "member_joined_channel", user=found.id, team=found.team_id, **invited)

    # -- parts -----------------------------------------------------------------------------

    def _changed(self) -> None:
        self.changed()

    def _message(self, channel: Channel, message: Message | str) -> Message:
        return message if isinstance(message, Message) else channel.messages[message]

    def _put(
        self,
        channel: Channel,
        json: JsonObject,
        *,
        mine: bool = False,
        metadata: JsonObject | None = None,
        ts: str | None = None,
    ) -> Message:
        ts = ts or self.world.new_ts(channel, self.unix())
        channel.last_ts = max(channel.last_ts, micros(ts))
        message = Message(ts, channel.id, mine, json | {"ts": ts}, metadata)
        message.history.append(message.text)
        self.world.add(channel, message)
        return message

    def _tell(self, channel: Channel, message: Message) -> None:
        metadata = {"metadata": message.metadata} if message.metadata else {}
        self._told(self.events.message(channel, message.json | metadata))

    def _about(self, channel: Channel, kind: str, **fields: str) -> None:
        ts = self.world.new_ts(channel, self.unix())
        event: JsonObject = {"type": kind, "channel": channel.id, "event_ts": ts} | fields
        if kind.startswith("member_"):
            event["channel_type"] = channel.id[0]
        scope = "channels:read" if channel.kind == "channel" else "groups:read"
        inside = channel.workspace.bot.id in channel.members
        if inside or kind.endswith("_left"):
            self._told(self.events.emit(channel.workspace, event, scope=scope))

    def _told(self, delivery: Delivery | None) -> None:
        if delivery is not None:
            self.last = delivery
        self.changed()


def change_reaction(message: Message, user_id: str, name: str, *, remove: bool) -> bool:
    """Put a user's reaction on a message or take it away; False if it is so already."""
    reactions: list[JsonObject] = message.json.setdefault("reactions", [])
    found = next((it for it in reactions if it["name"] == name), None)
    if (found is not None and user_id in found["users"]) != remove:
        return False
    if found is None:
        found = {"name": name, "users": [], "count": 0}
        reactions.append(found)
    if remove:
        found["users"].remove(user_id)
    else:
        found["users"].append(user_id)
    found["count"] = len(found["users"])
    message.json["reactions"] = [it for it in reactions if it["count"]]
    return True


def bot_fields(user: User, *, classic: bool) -> JsonObject:
    """Return what a message of a bot's tells of it; a `classic` one has no user."""
    found: JsonObject = {"bot_id": user.bot_id}
    if classic:
        return found | {"subtype": "bot_message", "username": user.real_name}
    profile: JsonObject = {
        "id": user.bot_id,
        "app_id": user.app_id,
        "name": user.real_name,
        "deleted": False,
    }
    profile |= {"team_id": user.team_id, "updated": 1700000000}
    return found | {"app_id": user.app_id, "team": user.team_id, "bot_profile": profile}
