"""Channels: how messages come in from a platform and go out to it.

(The import package `channels` is also Django Channels': the two cannot be installed together.)

message errors        what passes, and what goes wrong
base host             the contract and its capabilities, and what a channel gets of the gateway
draft pacing          partial text, at the pace that a platform allows
markdown chunk        what a Markdown text shows, and its pieces that a platform takes
  markdown_tree text_table unfinished, cuts cut_planner seams    what these two are made of
typing addressing     signs while somebody waits, and whether a text calls somebody
testing               the conformance suite's kit
rooms rooms_http hub  channels of our own
telegram discord web cli    the adapters, each with adapter inbound outbound format settings
"""

from channels.base import Channel, Traits
from channels.host import ChannelHost
from channels.message import Author, InboundMessage, OutboundMessage, Receipt

__all__ = [
    "Author",
    "Channel",
    "ChannelHost",
    "InboundMessage",
    "OutboundMessage",
    "Receipt",
    "Traits",
]
