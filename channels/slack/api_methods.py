"""What the channel asks of Slack and is told by it, with the scope that each needs.

The manifests in `deploy/` are held to this table by a test. `Method.tier` is Slack's own word for
how often a method may be called: https://docs.slack.dev/apis/web-api/rate-limits/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

READS: Final = ("channels", "groups", "im", "mpim")
"""The kinds of conversations, as scopes name them."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the Web API.

    scopes  what it needs; of several kinds of conversations, each its own
    tier    how often it may be called; 0: bounded by the channel, or hardly at all
    reads   changes nothing: a lost answer is no harm
    """

    scopes: tuple[str, ...] = ()
    tier: int = 0
    reads: bool = False


_HISTORY: Final = tuple(f"{kind}:history" for kind in READS)
_LISTED: Final = tuple(f"{kind}:read" for kind in READS)

METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "auth.test": Method(reads=True),
        "assistant.threads.setStatus": Method(("chat:write",), 4),
        "chat.appendStream": Method(("chat:write",), 4),
        "chat.delete": Method(("chat:write",), 3),
        "chat.postMessage": Method(("chat:write",)),
        "chat.startStream": Method(("chat:write",), 2),
        "chat.stopStream": Method(("chat:write",), 2),
        "chat.update": Method(("chat:write",), 3),
        "conversations.history": Method(_HISTORY, 3, reads=True),
        "conversations.info": Method(_LISTED, 3, reads=True),
        "conversations.replies": Method(_HISTORY, 3, reads=True),
        "files.info": Method(("files:read",), 4, reads=True),
        "users.conversations": Method(_LISTED, 3, reads=True),
        "users.info": Method(("users:read",), 4, reads=True),
    }
)
"""Methods that are called with a bot token."""

APP_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {"apps.connections.open": Method(("connections:write",), reads=True)}
)
"""Methods that are called with the app-level token."""

EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "app_mention": "app_mentions:read",
        "app_uninstalled": "",
        "channel_left": "channels:read",
        "channel_rename": "channels:read",
        "group_left": "groups:read",
        "group_rename": "groups:read",
        "member_joined_channel": "channels:read",
        "message.channels": "channels:history",
        "message.groups": "groups:history",
        "message.im": "im:history",
        "message.mpim": "mpim:history",
        "tokens_revoked": "",
    }
)
"""The events that the app subscribes to, and the scope that each needs."""

AGENT_EVENTS: Final = ("agent_session_stopped",)
"""Events that only an app has that is declared as an agent: its Stop button."""

COMMAND: Final = "/tapeway"
COMMAND_SCOPE: Final = "commands"


def scopes() -> frozenset[str]:
    """Return the bot's scopes: all that is needed, and nothing else."""
    asked = {scope for method in METHODS.values() for scope in method.scopes}
    told = {scope for scope in EVENTS.values() if scope}
    return frozenset(asked | told | {COMMAND_SCOPE})
