"""The guilds, channels and threads of the fake Discord, and the events of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.permissions import Overwrite, Permission
from tests.fakes.discord.session import HEARTBEAT_MS, Event, Intent, Session, Spot
from tests.fakes.discord.shown_world import ShownWorld, chosen_members
from tests.fakes.discord.world import (
    DM,
    FORUM,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    TEXT,
    Channel,
    Guild,
    Member,
    Role,
    User,
    usual_role,
)

_FLAGS: Final = {Intent.PRESENCES: 1 << 13, Intent.MEMBERS: 1 << 15, Intent.CONTENT: 1 << 19}


class Places:
    """Make places and change them; a place can be given as itself or by its id.

    `portal` has the privileged intents that are switched on for the bot. `untaken` are the messages
    of others that went out over no socket that works, and that no history has told; `unconfirmed`
    those of which no heartbeat says, either, that they were taken.
    """

    def __init__(
        self,
        bot: User,
        token: str,
        clock: Callable[[], float],
        *,
        heartbeat_ms: int = HEARTBEAT_MS,
        session_seconds: float = 90.0,
    ) -> None:
        self.clock = clock
        self.epoch = time.time() - clock()
        self.world = ShownWorld(bot, lambda: self.epoch + self.clock())
        self.gateway = Gateway(self, heartbeat_ms, session_seconds)
        self.portal = Intent.CONTENT | Intent.MEMBERS
        self.token = token
        self.revoked = False
        self.gateway_url = ""
        self.cdn_url = ""
        self.untaken: dict[Spot, None] = {}
        self.unconfirmed: dict[Spot, None] = {}
        self.application_id = bot.id
        self.is_public, self.requires_code_grant, self.interactions_url = True, False, ""
        self.sessions_left, self.advised_shards = 1000, 1

    # -- what the gateway asks

    def allowed(self, token: str) -> bool:
        """Return whether a token is the bot's."""
        return not self.revoked and token.removeprefix("Bot ") == self.token

    def privileged(self) -> int:
        """Return the privileged intents that are switched on in the portal."""
        return int(self.portal)

    @property
    def flags(self) -> int:
        """Return the application's flags, which say what is switched on."""
        return sum(flag for intent, flag in _FLAGS.items() if self.portal & intent)

    def ready(self, session: Session) -> JsonObject:
        """Return what READY says: the guilds come after it."""
        present = [guild for guild in self.world.guilds.values() if not guild.left]
        return {
            "v": 10,
            "user": self.world.bot.as_json() | {"verified": True, "mfa_enabled": False},
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in present],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": f"{self.gateway_url}resume",
            "shard": [0, 1],
            "application": {"id": str(self.application_id), "flags": self.flags},
            "private_channels": [],
            "relationships": [],
            "user_settings": {},
            "presences": [],
            "geo_ordered_rtc_regions": [],
            "_trace": [],
        }

    def arrivals(self, session: Session) -> list[Event]:
        """Return a GUILD_CREATE for each guild that is there."""
        if not session.intents & Intent.GUILDS:
            return []
        present = [guild for guild in self.world.guilds.values() if not guild.left]
        return [self._arrival(guild, session.intents) for guild in present if not guild.unavailable]

    def chunks(self, session: Session, wanted: JsonObject) -> list[JsonObject]:
        """Return the members that a request asks for, all in one chunk."""
        number = str(wanted.get("guild_id"))
        guild = self.world.guilds.get(int(number)) if number.isdecimal() else None
        if guild is None or guild.left:
            return []
        ids = wanted.get("user_ids")
        everybody = ids is None and not wanted.get("query") and not wanted.get("limit")
        if everybody and not session.intents & Intent.MEMBERS:
            return []
        members = chosen_members(guild, wanted)
        chunk: JsonObject = {
            "guild_id": str(guild.id),
            "members": [member.as_json() for member in members],
            "chunk_index": 0,
            "chunk_count": 1,
        }
        return [chunk | ({"nonce": wanted["nonce"]} if "nonce" in wanted else {})]

    def handed_over(self, spot: Spot) -> None:
        """Note that a message went out over a socket that works."""
        self.untaken.pop(spot, None)

    def confirmed(self, spot: Spot) -> None:
        """Note that a heartbeat named the event of a message, or a later one."""
        self.unconfirmed.pop(spot, None)

    def changed(self) -> None:
        """Wake whoever waits for a change."""

    # -- who and where -----------------------------------------------------------------------

    def user(
        self,
        name: str,
        *,
        id: int | None = None,  # noqa: A002 - the API's own name
        is_bot: bool = False,
    ) -> User:
        """Make a user; the name is the one that people see."""
        number = self.world.snowflake() if id is None else id
        user = User(number, name.lower().replace(" ", "_"), name, is_bot)
        self.world.users[user.id] = user
        return user

    def guild(
        self,
        name: str = "Guild",
        *,
        owner: User | None = None,
        bot_permissions: int = 0,
        left: bool = False,
    ) -> Guild:
        """Make a server with the bot in it, unless `left`; its own role adds `bot_permissions`."""
        number = self.world.snowflake()
        owner = owner or self.user(f"Owner of {name}")
        guild = Guild(number, name, owner.id, self.world.stamp())
        guild.roles[guild.id] = usual_role(guild.id)
        own = Role(self.world.snowflake(), "Tapeway", bot_permissions, managed_by=self.world.bot.id)
        guild.roles[own.id] = own
        self.world.guilds[guild.id] = guild
        guild.members[owner.id] = Member(owner, guild.joined)
        guild.members[self.world.bot.id] = Member(self.world.bot, guild.joined, [own.id])
        guild.left = left
        if not left:
            self._arrive(guild)
        return guild

    def role(
        self, guild: Guild | int, name: str, *, permissions: int = 0, mentionable: bool = False
    ) -> Role:
        """Make a role."""
        guild = self._guild(guild)
        role = Role(self.world.snowflake(), name, permissions, mentionable, len(guild.roles))
        guild.roles[role.id] = role
        data = {"guild_id": str(guild.id), "role": role.as_json()}
        self._emit(guild, Event("GUILD_ROLE_CREATE", data, Intent.GUILDS))
        return role

    def join(self, guild: Guild | int, user: User, *roles: Role) -> Member:
        """Have someone join a server; who is there gets the roles."""
        guild = self._guild(guild)
        known = guild.members.get(user.id)
        if known is not None:
            known.roles += [role.id for role in roles if role.id not in known.roles]
            return known
        member = Member(user, self.world.stamp(), [role.id for role in roles])
        guild.members[user.id] = member
        data = member.as_json() | {"guild_id": str(guild.id)}
        self._emit(guild, Event("GUILD_MEMBER_ADD", data, Intent.MEMBERS))
        return member

    def text_channel(
        self, guild: Guild | int, name: str = "general", *, kind: int = TEXT
    ) -> Channel:
        """Make a channel that is written in."""
        guild = self._guild(guild)
        place = self.world.snowflake()
        channel = Channel(place, kind, name, guild.id, position=len(guild.channels))
        return self._open(guild, channel)

    def forum(self, guild: Guild | int, name: str = "questions") -> Channel:
        """Make a forum, which has posts instead of messages."""
        return self.text_channel(guild, name, kind=FORUM)

    def dm(self, user: User) -> Channel:
        """Return the channel of bot and user, which the bot learns of by its first message."""
        channels = self.world.channels.values()
        known = next((channel for channel in channels if channel.person is user), None)
        if known is not None:
            return known
        channel = Channel(self.world.snowflake(), DM, person=user)
        self.world.channels[channel.id] = channel
        return channel

    def make_thread(
        self,
        parent: Channel,
        name: str,
        maker: User,
        *,
        private: bool = False,
        message_id: int | None = None,
    ) -> Channel:
        """Add a thread; one that begins at a message has that message's id."""
        kind = PRIVATE_THREAD if private else PUBLIC_THREAD
        number = self.world.snowflake() if message_id is None else message_id
        thread = Channel(number, kind, name, parent.guild_id, parent.id, owner_id=maker.id)
        thread.archived_at = self.world.stamp()
        thread.members.append(maker.id)
        guild = self._guild(parent.guild_id or 0)
        self.world.channels[thread.id] = thread
        guild.channels.append(thread.id)
        self.tell_thread("THREAD_CREATE", thread, newly_created=True)
        return thread

    def channel(self, channel: Channel | int) -> Channel:
        """Return the channel of an id."""
        return channel if isinstance(channel, Channel) else self.world.channels[channel]

    # -- places change -----------------------------------------------------------------------

    def deny(self, channel: Channel | int, *denied: Permission) -> None:
        """Take permissions from the bot in one channel."""
        own = self._own_overwrite(self.channel(channel))
        for one in denied:
            own.deny |= one
            own.allow &= ~one
        self._tell_channel("CHANNEL_UPDATE", self.channel(channel))

    def allow(self, channel: Channel | int, *allowed: Permission) -> None:
        """Give the bot permissions in one channel."""
        own = self._own_overwrite(self.channel(channel))
        for one in allowed:
            own.allow |= one
            own.deny &= ~one
        self._tell_channel("CHANNEL_UPDATE", self.channel(channel))

    def set_archived(
        self, thread: Channel | int, *, archived: bool = True, locked: bool | None = None
    ) -> None:
        """Archive a thread, or open it again; a locked one opens for moderators only."""
        thread = self.channel(thread)
        thread.archived = archived
        thread.locked = thread.locked if locked is None else locked
        thread.archived_at = self.world.stamp()
        self.tell_thread("THREAD_UPDATE", thread)

    def add_to_thread(self, thread: Channel | int, user: User) -> None:
        """Put someone into a thread; the bot learns of a private one only so."""
        thread = self.channel(thread)
        if user.id in thread.members:
            return
        thread.members.append(user.id)
        if user is self.world.bot and thread.kind == PRIVATE_THREAD:
            self.tell_thread("THREAD_CREATE", thread)
        member = self.world.thread_member(thread, user.id)
        data = {
            "id": str(thread.id),
            "guild_id": str(thread.guild_id),
            "member_count": len(thread.members),
            "added_members": [member],
        }
        event = Event("THREAD_MEMBERS_UPDATE", data, Intent.GUILDS)
        self._emit(self._guild(thread.guild_id or 0), event)

    def delete_channel(self, channel: Channel | int) -> None:
        """Have an administrator delete a channel, or a thread; its threads go with it."""
        channel = self.channel(channel)
        inside = [one for one in self.world.channels.values() if one.parent_id == channel.id]
        for one in [*inside, channel]:
            one.gone = True
            del self.world.channels[one.id]
            self._guild(one.guild_id or 0).channels.remove(one.id)
        if channel.is_thread:
            names = ("id", "guild_id", "parent_id", "type")
            shown = self.world.channel_json(channel)
            data = {name: shown[name] for name in names}
            guild = self._guild(channel.guild_id or 0)
            self._emit(guild, Event("THREAD_DELETE", data, Intent.GUILDS))
        else:
            self._tell_channel("CHANNEL_DELETE", channel)

    def kick_bot(self, guild: Guild | int) -> None:
        """Have an administrator throw the bot out."""
        guild = self._guild(guild)
        event = Event("GUILD_DELETE", {"id": str(guild.id)}, Intent.GUILDS)
        self._emit(guild, event)
        guild.left = True

    def empty_guild(self, name: str, owner: User) -> Guild:
        """Make a server without the bot, with a channel for Discord's own messages."""
        guild = self.guild(name, owner=owner, left=True)
        guild.system_channel_id = self.text_channel(guild, "general").id
        return guild

    def invite_bot(self, guild: Guild | int, by: User | None = None) -> None:
        """Have the bot come back, or come for the first time; Discord says `by` whom."""
        guild = self._guild(guild)
        guild.left = False
        self._arrive(guild)
        if by is not None:
            bot = {"id": str(self.application_id), "bot": self.world.bot.as_json()}
            data = {
                "id": str(self.world.snowflake()),
                "guild_id": str(guild.id),
                "name": self.world.bot.username,
                "type": "discord",
                "enabled": True,
                "account": {"id": str(self.world.bot.id), "name": self.world.bot.username},
                "application": bot,
                "user": by.as_json(),
            }
            self._emit(guild, Event("INTEGRATION_CREATE", data, Intent.INTEGRATIONS))

    def outage(self, guild: Guild | int, *, over: bool = False) -> None:
        """Make a server unavailable, as in an outage, or available again."""
        guild = self._guild(guild)
        guild.unavailable = not over
        if over:
            self._arrive(guild, new=False)
        else:
            data = {"id": str(guild.id), "unavailable": True}
            self._emit(guild, Event("GUILD_DELETE", data, Intent.GUILDS))

    # -- parts -------------------------------------------------------------------------------

    def _guild(self, guild: Guild | int) -> Guild:
        return guild if isinstance(guild, Guild) else self.world.guilds[guild]

    def _own_overwrite(self, channel: Channel) -> Overwrite:
        bot = self.world.bot.id
        own = next((one for one in channel.overwrites if one.id == bot), None)
        if own is None:
            own = Overwrite(bot, 1)
            channel.overwrites.append(own)
        return own

    def _open(self, guild: Guild, channel: Channel) -> Channel:
        self.world.channels[channel.id] = channel
        guild.channels.append(channel.id)
        self._tell_channel("CHANNEL_CREATE", channel)
        return channel

    def _arrival(self, guild: Guild, intents: int, *, new: bool = False) -> Event:
        own = guild.members[self.world.bot.id]
        members = guild.members.values() if intents & Intent.MEMBERS else [own]
        data = self.world.guild_create(guild, members)
        # Only of a guild that was there before is it said that it is available (again).
        return Event("GUILD_CREATE", data if new else data | {"unavailable": False})

    def _arrive(self, guild: Guild, *, new: bool = True) -> None:
        for session in list(self.gateway.sessions.values()):
            if session.intents & Intent.GUILDS:
                self.gateway.tell(session, self._arrival(guild, session.intents, new=new))
        self.changed()

    def _emit(self, guild: Guild, event: Event) -> None:
        if not guild.left:
            self.gateway.emit(event)
        self.changed()

    def _tell_channel(self, name: str, channel: Channel) -> None:
        event = Event(name, self.world.channel_json(channel), Intent.GUILDS)
        self._emit(self._guild(channel.guild_id or 0), event)

    def tell_thread(self, name: str, thread: Channel, **more: object) -> None:
        """Announce a thread, unless the bot cannot see it."""
        if self.world.may(thread, self.world.bot.id, Permission.VIEW_CHANNEL):
            data = self.world.channel_json(thread) | more
            self._emit(self._guild(thread.guild_id or 0), Event(name, data, Intent.GUILDS))
