"""Channels: adapters that receive messages from a platform and send messages to it.

(Django Channels also installs a package named `channels`; do not install both.)

base host             what a channel implements, and what the gateway offers it
message errors        messages and receipts, and the errors that a channel raises
draft pacing typing_indicator    partial text, rate limits and typing signs
connection_state backoff clock   helpers for connections, retries and waits
mentions registry settings
markdown              rendering Markdown, and splitting it into pieces
room                  the base of cli and web, which have no platform
testing               test kits for authors of channels
cli discord slack telegram web   the adapters
"""

from channels.base import Channel
from channels.capabilities import ALL_FEATURES, Capability, Feature
from channels.clock import Clock, SystemClock
from channels.draft import DraftJournal, DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    DraftGone,
    InboundRefused,
    MediaRefused,
    NotThePlatform,
    SendAmbiguous,
    SendDelayed,
    SendPostponed,
    SendRefused,
    TooLarge,
)
from channels.host import (
    BackfillHost,
    ChannelEvent,
    ChannelHost,
    ChatReading,
    Cursors,
    FullHost,
    HistoryHost,
    StopHost,
)
from channels.message import (
    Author,
    InboundMessage,
    Media,
    MessageLink,
    OutboundMessage,
    Quote,
    Reactions,
    Receipt,
    ShownMessage,
)
from channels.pacing import Budget, Priority
from channels.room.channel import RoomChannel
from channels.traits import Traits

__all__ = [
    "ALL_FEATURES",
    "Author",
    "BackfillHost",
    "Budget",
    "Capability",
    "Channel",
    "ChannelDown",
    "ChannelError",
    "ChannelEvent",
    "ChannelHost",
    "ChannelUnfit",
    "ChatReading",
    "Clock",
    "Cursors",
    "DraftGone",
    "DraftJournal",
    "DraftReference",
    "Feature",
    "FullHost",
    "HistoryHost",
    "InboundMessage",
    "InboundRefused",
    "Media",
    "MediaRefused",
    "MessageLink",
    "NotThePlatform",
    "OutboundMessage",
    "Priority",
    "Quote",
    "Reactions",
    "Receipt",
    "RoomChannel",
    "SendAmbiguous",
    "SendDelayed",
    "SendPostponed",
    "SendRefused",
    "ShownMessage",
    "StopHost",
    "SystemClock",
    "TooLarge",
    "Traits",
]
