"""Everything that a plugin needs, importable from one module.

from gateway.plugin import hookimpl
"""

from agent.tool import Arguments, Chats, NoArguments, Role, Tool, ToolContext
from agent.tool_decorator import tool
from channels.base import Channel
from channels.checkup import CheckResult, Checkup, Trouble
from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    MediaRefused,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.message import Author, InboundMessage, Media, OutboundMessage, Quote, Receipt
from channels.traits import Traits
from gateway.hooks.messages import content_of, field_of
from gateway.hooks.specs import hookimpl
from tape.context import LATEST, TapeContext, to_messages
from tape.entry import Entry
from tape.store import TapeStore

__all__ = [
    "LATEST",
    "Arguments",
    "Author",
    "Channel",
    "ChannelDown",
    "ChannelError",
    "ChannelUnfit",
    "Chats",
    "CheckResult",
    "Checkup",
    "Entry",
    "InboundMessage",
    "Media",
    "MediaRefused",
    "NoArguments",
    "OutboundMessage",
    "Quote",
    "Receipt",
    "Role",
    "SendAmbiguous",
    "SendDelayed",
    "SendRefused",
    "TapeContext",
    "TapeStore",
    "Tool",
    "ToolContext",
    "Traits",
    "Trouble",
    "content_of",
    "field_of",
    "hookimpl",
    "to_messages",
    "tool",
]
