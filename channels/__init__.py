"""Channels: how messages come in from a platform and go out to it.

(The import package `channels` is also Django Channels': the two cannot be installed together.)

base host             the contract of a channel, and what the gateway offers it
message errors        messages and receipts; what can go wrong
draft pacing typing_indicator    partial text, rate limits and typing
connection_state backoff clock    for adapters: is it connected, when to retry
mentions registry settings
markdown              renders Markdown, and splits it into pieces
room                  channels of our own, and the base of cli and web
testing               kits for the authors of channels
cli discord slack telegram web   the adapters
"""

from channels.base import ALL_FEATURES, Capability, Channel, Feature, Traits
from channels.clock import Clock, SystemClock
from channels.draft import DraftJournal, DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    DraftGone,
    InboundRefused,
    MediaRefused,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.host import (
    BackfillHost,
    ChannelEvent,
    ChannelHost,
    Cursors,
    FullHost,
    HistoryHost,
)
from channels.message import (
    Author,
    InboundMessage,
    Media,
    MessageLink,
    OutboundMessage,
    Quote,
    Receipt,
    ShownMessage,
)
from channels.pacing import Budget, Priority
from channels.room.channel import RoomChannel

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
    "OutboundMessage",
    "Priority",
    "Quote",
    "Receipt",
    "RoomChannel",
    "SendAmbiguous",
    "SendDelayed",
    "SendRefused",
    "ShownMessage",
    "SystemClock",
    "Traits",
]
