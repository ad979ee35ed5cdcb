"""What exists on the fake Discord: users, guilds with their roles and members, channels, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.permissions import EVERYTHING, USUAL, Overwrite, Permission, permissions_in

TEXT: Final = 0
DM: Final = 1
CATEGORY: Final = 4
PUBLIC_THREAD: Final = 11
PRIVATE_THREAD: Final = 12
FORUM: Final = 15
THREADS: Final = frozenset({10, PUBLIC_THREAD, PRIVATE_THREAD})
EPHEMERAL: Final = 1 << 6
SUPPRESS_EMBEDS: Final = 1 << 2
HAS_THREAD: Final = 1 << 5
LOADING: Final = 1 << 7
DEFAULT_TYPE: Final = 0
THREAD_CREATED: Final = 18
REPLY: Final = 19
COMMAND_ANSWER: Final = 20
STARTER: Final = 21

_FIRST_MOMENT: Final = 1_420_070_400_000
_NOT_REAL_MEMBER: Final = "0000"


@dataclass(slots=True)
class User:
    """Hold one account: a person's, a bot's, or the name that a webhook speaks under.

    `takes_dms` tells whether it can be written to, `dm_with_bot` is that channel's id.
    """

    id: int
    username: str
    global_name: str | None = None
    is_bot: bool = False
    is_webhook: bool = False
    takes_dms: bool = True

    def as_json(self) -> JsonObject:
        """Return the API's user object."""
        found: JsonObject = {
            "id": str(self.id),
            "username": self.username,
            "discriminator": _NOT_REAL_MEMBER if self.is_bot or self.is_webhook else "0",
            "global_name": self.global_name,
            "avatar": None,
            "public_flags": 0,
        }
        return found | ({"bot": True} if self.is_bot or self.is_webhook else {})


@dataclass(slots=True)
class Role:
    """Hold one role of a guild; @everyone has the guild's own id."""

    id: int
    name: str
    permissions: int = 0
    mentionable: bool = False
    position: int = 1
    managed_by: int | None = None

    def as_json(self) -> JsonObject:
        """Return the API's role object."""
        found: JsonObject = {
            "id": str(self.id),
            "name": self.name,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "icon": None,
            "unicode_emoji": None,
            "position": self.position,
            "permissions": str(int(self.permissions)),
            "managed": self.managed_by is not None,
            "mentionable": self.mentionable,
            "flags": 0,
        }
        return found | ({"tags": {"bot_id": str(self.managed_by)}} if self.managed_by else {})


@dataclass(slots=True)
class Member:
    """Hold a user's place in a guild."""

    user: User
    joined: str
    roles: list[int] = field(default_factory=list)
    nick: str | None = None

    def as_json(self, *, with_user: bool = True) -> JsonObject:
        """Return the API's member object."""
        found: JsonObject = {
            "roles": [str(role) for role in self.roles],
            "nick": self.nick,
            "avatar": None,
            "joined_at": self.joined,
            "premium_since": None,
            "deaf": False,
            "mute": False,
            "pending": False,
            "flags": 0,
            "communication_disabled_until": None,
        }
        return found | ({"user": self.user.as_json()} if with_user else {})


@dataclass(frozen=True, slots=True)
class Ping:
    """Hold one alert that a message caused: a user, a role, "everyone" or "replied"."""

    kind: str
    id: int
    message_id: int


@dataclass(slots=True)
class File:
    """Hold one attachment.

    `size` is what the API says of it, whatever `data` is. The download promises `length` bytes
    (None: it names no length) and sends `pieces`, or the data; `encoding` is what it calls them.
    """

    id: int
    filename: str
    data: bytes = field(repr=False)
    size: int
    content_type: str | None
    url: str = ""
    width: int | None = None
    height: int | None = None
    length: int | None = None
    status: int = 200
    seconds_between: float = 0.0
    encoding: str | None = None
    pieces: Callable[[], Iterator[bytes]] | None = field(default=None, repr=False)

    def as_json(self) -> JsonObject:
        """Return the API's attachment object."""
        found: JsonObject = {
            "id": str(self.id),
            "filename": self.filename,
            "size": self.size,
            "url": self.url,
            "proxy_url": self.url,
        }
        if self.content_type is not None:
            found["content_type"] = self.content_type
        if self.width is not None:
            found |= {"width": self.width, "height": self.height}
        return found


@dataclass(slots=True)
class Message:
    """Hold one message; `mine` are the bot's, `history` has its texts from first to last.

    `json` has what does not change with who looks; `pings` whom it alerted when it was sent.
    `seen_by` limits an ephemeral message to one user.
    """

    id: int
    channel_id: int
    author: User
    mine: bool
    json: JsonObject
    at: float
    reply_to: int | None = None
    nonce: str | None = None
    edits: int = 0
    history: list[str] = field(default_factory=list)
    pings: list[Ping] = field(default_factory=list)
    reactions: dict[str, list[int]] = field(default_factory=dict)
    seen_by: int | None = None

    @property
    def text(self) -> str:
        """Return what it says."""
        return str(self.json["content"])


@dataclass(slots=True)
class Channel:
    """Hold one channel: of a guild, a thread or a forum's post, or a DM with `person`."""

    id: int
    kind: int
    name: str = ""
    guild_id: int | None = None
    parent_id: int | None = None
    person: User | None = None
    position: int = 0
    topic: str | None = None
    overwrites: list[Overwrite] = field(default_factory=list)
    messages: dict[int, Message] = field(default_factory=dict)
    last_message_id: int | None = None
    owner_id: int = 0
    archived: bool = False
    locked: bool = False
    archived_at: str = ""
    members: list[int] = field(default_factory=list)
    sent: int = 0
    gone: bool = False

    @property
    def is_thread(self) -> bool:
        """Return whether this is a thread, a forum's post included."""
        return self.kind in THREADS


@dataclass(slots=True)
class Guild:
    """Hold one server; `left` when the bot is not in it any more."""

    id: int
    name: str
    owner_id: int
    joined: str
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    channels: list[int] = field(default_factory=list)
    left: bool = False
    unavailable: bool = False
    system_channel_id: int | None = None


class World:
    """Hold everything, and give ids that grow with the time as Discord's do."""

    def __init__(self, bot: User, unix: Callable[[], float]) -> None:
        self.bot = bot
        self.unix = unix
        self.users: dict[int, User] = {bot.id: bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.files: dict[int, File] = {}
        self.removed: list[Message] = []
        self._last_id = 0

    def snowflake(self) -> int:
        """Return a new id, greater than all before."""
        now = (int(self.unix() * 1000) - _FIRST_MOMENT) << 22
        self._last_id = max(self._last_id + 1, now)
        return self._last_id

    def stamp(self, unix: float | None = None) -> str:
        """Return a moment as Discord writes it, that of now unless given."""
        moment = datetime.fromtimestamp(self.unix() if unix is None else unix, UTC)
        return moment.isoformat(timespec="microseconds")

    def guild_of(self, channel: Channel) -> Guild | None:
        """Return the guild that a channel is of, None for a DM."""
        return self.guilds.get(channel.guild_id) if channel.guild_id is not None else None

    def threads_of(self, guild: Guild, *, archived: bool = False) -> Iterator[Channel]:
        """Return a guild's threads, those that are archived or those that are not."""
        for number in guild.channels:
            channel = self.channels[number]
            if channel.is_thread and channel.archived is archived:
                yield channel

    def permissions(self, channel: Channel, user_id: int) -> int:
        """Return what a user may do in a channel; a thread has its parent's overwrites."""
        guild = self.guild_of(channel)
        if guild is None:
            return EVERYTHING if channel.person is not None else 0
        member = guild.members.get(user_id)
        if member is None or (guild.left and user_id == self.bot.id):
            return 0
        if user_id == guild.owner_id:
            return EVERYTHING
        base = guild.roles[guild.id].permissions
        for role in member.roles:
            base |= guild.roles[role].permissions
        place = self.channels[channel.parent_id or 0] if channel.is_thread else channel
        found = permissions_in(base, place.overwrites, guild.id, member.roles, user_id)
        if channel.kind == PRIVATE_THREAD and user_id not in channel.members:
            return found if found & Permission.MANAGE_THREADS else 0
        return found

    def may(self, channel: Channel, user_id: int, *wanted: Permission) -> bool:
        """Return whether a user may do all these in a channel."""
        found = self.permissions(channel, user_id)
        return all(found & one for one in wanted)


def usual_role(guild_id: int) -> Role:
    """Return the @everyone role of a new guild."""
    return Role(guild_id, "@everyone", int(USUAL), position=0)
