"""Discord's types of messages: what people and apps write, and what Discord says of a channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from channels.discord.guild_cache import Raw

DEFAULT: Final = 0
REPLY: Final = 19
COMMAND_ANSWER: Final = 20
STARTER: Final = 21
"""The first message of a thread that was made of a message; it carries that message."""

MENU_ANSWER: Final = 23
POLL_RESULT: Final = 46

WRITTEN: Final = frozenset({DEFAULT, REPLY, COMMAND_ANSWER, MENU_ANSWER})
"""Types of messages that people and apps write; only these may ask the bot something."""

READ: Final = WRITTEN | {STARTER, POLL_RESULT}
"""Types of messages that say something in somebody's words."""

NAMES: Final[Mapping[int, str]] = {
    DEFAULT: "DEFAULT",
    1: "RECIPIENT_ADD",
    2: "RECIPIENT_REMOVE",
    3: "CALL",
    4: "CHANNEL_NAME_CHANGE",
    5: "CHANNEL_ICON_CHANGE",
    6: "CHANNEL_PINNED_MESSAGE",
    7: "USER_JOIN",
    8: "GUILD_BOOST",
    9: "GUILD_BOOST_TIER_1",
    10: "GUILD_BOOST_TIER_2",
    11: "GUILD_BOOST_TIER_3",
    12: "CHANNEL_FOLLOW_ADD",
    14: "GUILD_DISCOVERY_DISQUALIFIED",
    15: "GUILD_DISCOVERY_REQUALIFIED",
    16: "GUILD_DISCOVERY_GRACE_PERIOD_INITIAL_WARNING",
    17: "GUILD_DISCOVERY_GRACE_PERIOD_FINAL_WARNING",
    18: "THREAD_CREATED",
    REPLY: "REPLY",
    COMMAND_ANSWER: "CHAT_INPUT_COMMAND",
    STARTER: "THREAD_STARTER_MESSAGE",
    22: "GUILD_INVITE_REMINDER",
    MENU_ANSWER: "CONTEXT_MENU_COMMAND",
    24: "AUTO_MODERATION_ACTION",
    25: "ROLE_SUBSCRIPTION_PURCHASE",
    26: "INTERACTION_PREMIUM_UPSELL",
    27: "STAGE_START",
    28: "STAGE_END",
    29: "STAGE_SPEAKER",
    30: "STAGE_RAISE_HAND",
    31: "STAGE_TOPIC",
    32: "GUILD_APPLICATION_PREMIUM_SUBSCRIPTION",
    36: "GUILD_INCIDENT_ALERT_MODE_ENABLED",
    37: "GUILD_INCIDENT_ALERT_MODE_DISABLED",
    38: "GUILD_INCIDENT_REPORT_RAID",
    39: "GUILD_INCIDENT_REPORT_FALSE_ALARM",
    44: "PURCHASE_NOTIFICATION",
    POLL_RESULT: "POLL_RESULT",
}


def type_of(raw: Raw) -> int:
    return int(raw.get("type") or 0)


def type_name(raw: Raw) -> str:
    """Return the documented name of a message's type, or its number: `type 99`."""
    kind = type_of(raw)
    return NAMES.get(kind, f"type {kind}")
