"""The settings of the Telegram channel."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, SecretStr

from channels.settings import Address, BotSettings, chosen, per_second_field, proxy_field, some_of

RULES: Final = ("private", "mention", "reply", "name", "topic")
MAX_RICH: Final = 1_000  # maximum number of chats that TAPEWAY_TELEGRAM__RICH may name
_CHAT: Final = re.compile(r"-?[1-9]\d{0,18}", re.ASCII)


def _checked_chats(value: str) -> str:
    chats = chosen(value)
    if len(chats) > MAX_RICH:
        raise ValueError(f"at most {MAX_RICH} chats can be named")
    for chat in sorted(chats):
        if not _CHAT.fullmatch(chat):
            raise ValueError(
                f"{chat[:40]!r} is no id of a chat: an id is a number, such as -1001234567890 for"
                " a group, with commas between ids"
            )
    return value


class TelegramSettings(BotSettings):
    """A Telegram bot; setting its token enables the channel."""

    key_form: ClassVar[str] = "digits, a colon, then letters, digits, - and _"

    token: SecretStr = Field(
        SecretStr(""),
        description="The bot's token from @BotFather. Leave empty to disable Telegram.",
        examples=["123456789:AAE..."],
    )
    base_url: Address = Field(
        "https://api.telegram.org/bot",
        description="Address of the Bot API. Change it to use your own Bot API server.",
        examples=["http://127.0.0.1:8081/bot"],
    )
    proxy: Address = proxy_field("Telegram")
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name",
        description="What the agent answers: private chats; in groups, mentions, replies to it and"
        " its name; with `topic` every message in a forum topic where it was asked before.",
        examples=["private,mention,reply"],
    )
    rich: Annotated[str, AfterValidator(_checked_chats)] = Field(
        "",
        description="Ids of the chats where answers are rich messages, with headings, lists, tables"
        " and formulas as Telegram draws them, separated by commas; leave empty for none. Older"
        " apps show only a placeholder in their place.",
        examples=["-1001234567890,141"],
    )
    webhook_url: Address = Field(
        "",
        description="Public https address at which Telegram reaches this gateway's"
        " /webhooks/telegram. Leave empty to poll Telegram for updates.",
        examples=["https://bot.example.org/webhooks/telegram"],
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="Secret that Telegram sends with each update. Leave empty to generate one at"
        " each start.",
        examples=["a-long-random-text"],
    )
    poll_seconds: int = Field(
        25, ge=0, le=50, description="Seconds that a poll waits for an update.", examples=["25"]
    )
    per_second: int = per_second_field(30)
    group_per_minute: int = Field(
        20,
        ge=0,
        description="Maximum messages and edits per minute in a group; 0: no maximum.",
        examples=["20"],
    )

    def rich_chats(self) -> frozenset[int]:
        """Return the ids that `rich` lists."""
        return frozenset(map(int, chosen(self.rich)))
