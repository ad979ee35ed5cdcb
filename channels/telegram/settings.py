"""The settings of the Telegram channel."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field, SecretStr

from channels.settings import Address, BotSettings, per_second_field, proxy_field, some_of

RULES: Final = ("private", "mention", "reply", "name", "topic")


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
