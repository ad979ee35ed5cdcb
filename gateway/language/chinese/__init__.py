"""The gateway's sentences in Chinese, by their sentences in English.

SAID      what `say` writes, in pieces: conversations, messages, turns
FINISHED  what is written or stored before a page asks for it: reasons, channels and their
          platforms, models, refusals, the room, setting, and what the settings mean
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.language.chinese.channels import CHANNELS
from gateway.language.chinese.conversations import CONVERSATIONS
from gateway.language.chinese.messages import MESSAGES
from gateway.language.chinese.models import MODELS
from gateway.language.chinese.platforms import PLATFORMS
from gateway.language.chinese.reasons import REASONS
from gateway.language.chinese.refusals import REFUSALS
from gateway.language.chinese.room import ROOM
from gateway.language.chinese.setting import DONE, SETTING
from gateway.language.chinese.settings_of_agent import SETTINGS_OF_AGENT
from gateway.language.chinese.settings_of_gateway import SETTINGS_OF_GATEWAY
from gateway.language.chinese.turns import TURNS

SAID: Final[Mapping[str, str]] = MappingProxyType({**CONVERSATIONS, **MESSAGES, **TURNS, **DONE})
FINISHED: Final[Mapping[str, str]] = MappingProxyType(
    {
        **REASONS,
        **CHANNELS,
        **PLATFORMS,
        **MODELS,
        **REFUSALS,
        **ROOM,
        **SETTING,
        **SETTINGS_OF_AGENT,
        **SETTINGS_OF_GATEWAY,
    }
)

__all__ = ["FINISHED", "SAID"]
