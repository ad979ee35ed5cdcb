"""The platforms whose bots can be set up, and the tokens that each needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform, and each of its tokens: the setting, the flag, and where a person finds it."""

    name: str
    title: str
    tokens: tuple[tuple[str, str, str], ...]


PLATFORMS: Final = (
    Platform("telegram", "Telegram", (("token", "telegram_token", "token from @BotFather"),)),
    Platform(
        "discord",
        "Discord",
        (("token", "discord_token", "token from the developer portal (Bot, Reset Token)"),),
    ),
    Platform(
        "slack",
        "Slack",
        (
            ("bot_token", "slack_bot_token", "bot token, xoxb-... (OAuth & Permissions)"),
            ("app_token", "slack_app_token", "app-level token, xapp-... (Basic Information)"),
        ),
    ),
)
