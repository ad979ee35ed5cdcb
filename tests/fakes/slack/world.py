"""What exists on the fake Slack: workspaces with their people, channels, messages and files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.fakes.base.http import JsonObject

ChannelKind = Literal["channel", "group", "im", "mpim"]
StreamState = Literal["streaming", "stopped", "stopped_by_user"]
STREAM_SECONDS: Final = 300.0
STATUS_SECONDS: Final = 120.0
APP_ID: Final = "A0TAPEWAY0"


@dataclass(slots=True, eq=False)
class User:
    """Hold one account of a workspace; that of a bot has a `bot_id` too."""

    id: str
    name: str
    real_name: str
    team_id: str
    bot_id: str | None = None
    app_id: str | None = None
    deleted: bool = False
    is_admin: bool = False
    is_owner: bool = False

    @property
    def is_bot(self) -> bool:
        """Return whether it is a bot's."""
        return self.bot_id is not None

    def as_json(self) -> JsonObject:
        """Return the API's user object."""
        profile: JsonObject = {
            "real_name": self.real_name,
            "real_name_normalized": self.real_name,
            "display_name": self.name,
            "display_name_normalized": self.name,
            "team": self.team_id,
        }
        if self.bot_id is not None:
            profile |= {"bot_id": self.bot_id, "api_app_id": self.app_id}
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "tz": "Etc/UTC",
            "tz_offset": 0,
            "profile": profile,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_admin": self.is_admin,
            "is_owner": self.is_owner,
            "is_restricted": False,
            "updated": 1700000000,
        }


@dataclass(slots=True)
class Stream:
    """Hold how a message is streamed."""

    started: float
    state: StreamState = "streaming"
    recipient: str | None = None

    def is_live(self, now: float) -> bool:
        """Return whether more can be appended; `now` is the clock's."""
        return self.state == "streaming" and now - self.started < STREAM_SECONDS


@dataclass(slots=True, eq=False)
class Message:
    """Hold one message; `mine` are the bot's, `history` has its texts from first to last.

    `markdown` tells that the text was given as standard Markdown. `settings` are the parameters
    that decide whether plain words alert somebody. `read` tells that the app has fetched it.
    """

    ts: str
    channel_id: str
    mine: bool
    json: JsonObject
    metadata: JsonObject | None = None
    history: list[str] = field(default_factory=list)
    markdown: bool = False
    settings: JsonObject = field(default_factory=dict)
    stream: Stream | None = None
    edits: int = 0
    read: bool = False

    @property
    def text(self) -> str:
        """Return the text, as Slack encodes it."""
        return str(self.json.get("text", ""))

    @property
    def blocks(self) -> list[JsonObject]:
        """Return the blocks."""
        return list(self.json.get("blocks", []))

    @property
    def buttons(self) -> dict[str, JsonObject]:
        """Return the buttons of its blocks by their labels."""
        rows = [block["elements"] for block in self.blocks if block["type"] == "actions"]
        return {element["text"]["text"]: element for row in rows for element in row}

    @property
    def unfurls(self) -> bool:
        """Return whether Slack adds previews to the links in it."""
        wanted = [self.settings.get(name, True) for name in ("unfurl_links", "unfurl_media")]
        return "http" in f"{self.text}{self.blocks}" and any(wanted)

    @property
    def user(self) -> str:
        """Return the id of the author."""
        return str(self.json.get("user", ""))

    @property
    def thread_ts(self) -> str | None:
        """Return the thread it is an answer in; None for a message of the channel itself."""
        found = self.json.get("thread_ts")
        return found if found != self.ts else None

    @property
    def in_channel(self) -> bool:
        """Return whether it stands in the channel, not only in a thread."""
        return self.thread_ts is None or self.json.get("subtype") == "thread_broadcast"


@dataclass(slots=True, eq=False)
class Channel:
    """Hold one conversation of a workspace; `members` are user ids."""

    id: str
    kind: ChannelKind
    workspace: Workspace
    name: str = ""
    members: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    archived: bool = False
    person: str | None = None
    last_ts: int = 0
    # The status under the input field, by thread: its text and when it was set.
    statuses: dict[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        """Return whether only members know of it."""
        return self.kind != "channel"

    def as_json(self) -> JsonObject:
        """Return the API's conversation object."""
        found: JsonObject = {
            "id": self.id,
            "created": 1700000000,
            "is_archived": self.archived,
            "is_im": self.kind == "im",
            "is_org_shared": False,
            "context_team_id": self.workspace.team_id,
            "updated": 1700000000000,
        }
        if self.kind == "im":
            return found | {"user": self.person, "is_user_deleted": False, "priority": 0}
        return found | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_mpim": self.kind == "mpim",
            "is_private": self.is_private,
            "is_general": False,
            "is_shared": False,
            "is_ext_shared": False,
            "is_member": self.workspace.bot.id in self.members,
            "creator": next(iter(self.members), ""),
            "topic": {"value": "", "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "num_members": len(self.members),
        }


@dataclass(slots=True, eq=False)
class File:
    """Hold one shared file."""

    id: str
    name: str
    mimetype: str
    data: bytes = field(repr=False)
    json: JsonObject = field(default_factory=dict)
    team_id: str = ""
    channels: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Workspace:
    """Hold one workspace that the app is, or could be, installed in."""

    team_id: str
    name: str
    domain: str
    bot: User
    bot_token: str
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    installed: bool = True
    # What its token is refused with; "" while it is good.
    refused: str = ""
    # The organization that the app is installed for, if it is one: its token is that of all.
    org: str = ""


class World:
    """Keep everything, and give ids and timestamps."""

    def __init__(self) -> None:
        self.workspaces: dict[str, Workspace] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self._numbers: Iterator[int] = itertools.count(1)

    def new_id(self, letter: str) -> str:
        """Return an id as Slack forms them: a letter for the kind, then capitals and digits."""
        return f"{letter}0{next(self._numbers):08d}"

    def workspace(self, name: str, token: str, team_id: str | None = None) -> Workspace:
        """Make a workspace with the app's bot in it."""
        team = team_id or self.new_id("T")
        bot = User(self.new_id("U"), "tapeway", "Tapeway", team, self.new_id("B"), APP_ID)
        domain = name.lower().replace(" ", "-")
        made = Workspace(team, name, domain, bot, token, {bot.id: bot})
        self.workspaces[team] = made
        return made

    def channel(self, channel: Channel) -> Channel:
        """Add a channel."""
        self.channels[channel.id] = channel
        channel.workspace.channels[channel.id] = channel
        return channel

    def new_ts(self, channel: Channel, seconds: float) -> str:
        """Return the timestamp of what happens now, unlike any other of the channel."""
        channel.last_ts = max(int(seconds * 1_000_000), channel.last_ts + 1)
        return f"{channel.last_ts // 1_000_000}.{channel.last_ts % 1_000_000:06d}"

    def add(self, channel: Channel, message: Message) -> None:
        """Put a message where it belongs, and count it in its thread."""
        channel.messages[message.ts] = message
        parent = channel.messages.get(message.thread_ts or "")
        if parent is not None:
            _count(parent, channel)

    def remove(self, channel: Channel, ts: str) -> Message:
        """Take a message away; a parent of a thread stays as a stone with no text."""
        message = channel.messages[ts]
        if any(it.thread_ts == ts for it in channel.messages.values()):
            message.json |= {"subtype": "tombstone", "text": "This message was deleted."}
            message.json |= {"user": "USLACKBOT", "hidden": True}
            message.json.pop("blocks", None)
            return message
        del channel.messages[ts]
        parent = channel.messages.get(message.thread_ts or "")
        if parent is not None:
            _count(parent, channel)
        return message

    def thread(self, channel: Channel, ts: str) -> list[Message]:
        """Return a parent with the answers to it, the oldest first."""
        found = [it for it in channel.messages.values() if ts in (it.ts, it.thread_ts)]
        return sorted(found, key=stamp)


def micros(ts: str) -> int:
    """Return a timestamp as microseconds; raises ValueError."""
    seconds, rest = parsed_ts(ts)
    return seconds * 1_000_000 + rest


def stamp(message: Message) -> tuple[int, int]:
    """Return what messages are ordered by."""
    return parsed_ts(message.ts)


def parsed_ts(ts: str) -> tuple[int, int]:
    """Return seconds and microseconds of a timestamp; raises ValueError."""
    seconds, _, rest = ts.partition(".")
    return int(seconds), int(rest[:6].ljust(6, "0")) if rest else 0


def _count(parent: Message, channel: Channel) -> None:
    replies = [it for it in channel.messages.values() if it.thread_ts == parent.ts]
    users = list(dict.fromkeys(it.user for it in replies))
    if not replies:
        for name in ("reply_count", "reply_users", "reply_users_count", "latest_reply"):
            parent.json.pop(name, None)
        return
    parent.json |= {
        "thread_ts": parent.ts,
        "reply_count": len(replies),
        "reply_users": users[:5],
        "reply_users_count": len(users),
        "latest_reply": max(replies, key=stamp).ts,
        "is_locked": False,
        "subscribed": False,
    }
