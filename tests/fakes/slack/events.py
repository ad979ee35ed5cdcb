"""The events that Slack makes of what happens, for those the app's manifest names."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from random import Random
from typing import Final, Literal

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.deliveries import Deliveries, Delivery
from tests.fakes.slack.rules import PLURAL
from tests.fakes.slack.text import mentions
from tests.fakes.slack.world import APP_ID, Channel, Message, Workspace

TwinOrder = Literal["message", "app_mention"]

SCOPES: Final = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "mpim:read",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)
EVENTS: Final = frozenset(
    {
        "agent_session_stopped",
        "app_home_opened",
        "app_mention",
        "app_uninstalled",
        "channel_archive",
        "channel_id_changed",
        "channel_left",
        "channel_rename",
        "channel_unarchive",
        "group_archive",
        "group_left",
        "group_rename",
        "group_unarchive",
        "member_joined_channel",
        "member_left_channel",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
        "reaction_added",
        "reaction_removed",
        "tokens_revoked",
    }
)


class Events:
    """Make events and hand them to the deliveries.

    `interactive` says whether the manifest switches buttons on. `first_twin` and `twin_delay` say
    which of a mention's two events comes first, and how many seconds before the other; one of them
    may lack the files (`bare_mentions`).
    """

    def __init__(self, deliveries: Deliveries, seconds: Callable[[], float], seed: int) -> None:
        self.scopes: set[str] = set(SCOPES)
        self.subscribed: set[str] = set(EVENTS)
        self.interactive = True
        self.first_twin: TwinOrder = "message"
        self.twin_delay = 0.0
        self.bare_mentions = False
        self.twice = 0
        self._deliveries = deliveries
        self._seconds = seconds
        self._lot = Random(seed)

    def message(self, channel: Channel, event: JsonObject) -> Delivery | None:
        """Send the event of a message or its change; two for a mention."""
        if channel.workspace.bot.id not in channel.members:
            return None
        event = {"type": "message"} | event
        event |= {"channel": channel.id, "channel_type": channel.kind}
        event.setdefault("event_ts", event["ts"])
        plural = PLURAL[channel.kind]
        kinds: list[tuple[JsonObject, str, str]] = [
            (event, f"message.{plural}", f"{plural}:history")
        ]
        if self._is_mention(channel, event):
            hidden = ("channel_type", *(("files", "upload") if self.bare_mentions else ()))
            twin = {name: it for name, it in event.items() if name not in hidden}
            twin = twin | {"type": "app_mention"}
            kinds.append((twin, "app_mention", "app_mentions:read"))
        if self.first_twin == "app_mention":
            kinds.reverse()
        made = [
            self.emit(channel.workspace, event, name, scope, self.twin_delay * number)
            for number, (event, name, scope) in enumerate(kinds)
        ]
        return next((it for it in made if it is not None), None)

    def changed(
        self, channel: Channel, message: Message, before: JsonObject, ts: str
    ) -> Delivery | None:
        """Send the event of a changed message."""
        event: JsonObject = {
            "subtype": "message_changed",
            "message": dict(message.json) | _metadata(message),
            "previous_message": before,
            "hidden": True,
            "ts": ts,
        }
        return self.message(channel, event)

    def deleted(self, channel: Channel, message: Message, ts: str) -> Delivery | None:
        """Send the event of a deleted message."""
        event: JsonObject = {
            "subtype": "message_deleted",
            "previous_message": dict(message.json),
            "hidden": True,
            "deleted_ts": message.ts,
            "ts": ts,
        }
        return self.message(channel, event)

    def emit(
        self,
        workspace: Workspace,
        event: JsonObject,
        name: str | None = None,
        scope: str | None = None,
        delay: float = 0.0,
    ) -> Delivery | None:
        """Deliver an event; None if the manifest does not name it, or lacks the scope for it."""
        if (name or event["type"]) not in self.subscribed or not workspace.installed:
            return None
        if scope is not None and scope not in self.scopes:
            return None
        made = Delivery(
            "events_api", self.callback(workspace, event), self._deliveries.now() + delay
        )
        if self.twice:
            self.twice -= 1
            made.twice = True
        self._deliveries.put(made)
        return made

    def callback(self, workspace: Workspace, event: JsonObject) -> JsonObject:
        """Return an event as it is delivered."""
        authorization = {
            "enterprise_id": workspace.org or None,
            "team_id": workspace.team_id,
            "user_id": workspace.bot.id,
            "is_bot": True,
            "is_enterprise_install": bool(workspace.org),
        }
        return {
            "token": "not-used-any-more",
            "team_id": workspace.team_id,
            "context_team_id": workspace.team_id,
            "context_enterprise_id": workspace.org or None,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": self.new_event_id(),
            "event_time": int(self._seconds()),
            "authorizations": [authorization],
            "is_ext_shared_channel": False,
            "event_context": "4-" + uuid.UUID(int=self._lot.getrandbits(128)).hex,
        }

    def new_event_id(self) -> str:
        """Return the id of an event."""
        return f"Ev{self._lot.getrandbits(50):010X}"

    def again(self, delivery: Delivery, *, new_id: bool = False) -> Delivery:
        """Deliver something once more, as a retry, or with `new_id` as another event."""
        payload = dict(delivery.payload)
        made = Delivery(delivery.kind, payload, self._deliveries.now())
        if new_id:
            payload["event_id"] = self.new_event_id()
        else:
            made.attempt, made.reason = 1, "timeout"
        self._deliveries.put(made)
        return made

    def _is_mention(self, channel: Channel, event: JsonObject) -> bool:
        bot = channel.workspace.bot
        if channel.kind == "im" or event.get("user") == bot.id:
            return False
        if event.get("subtype") not in (None, "file_share", "thread_broadcast", "bot_message"):
            return False
        return mentions(str(event.get("text", "")), bot.id)


def _metadata(message: Message) -> JsonObject:
    return {"metadata": message.metadata} if message.metadata else {}
