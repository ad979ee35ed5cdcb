"""The Telegram channel's own slice of the settings."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, field_validator

from channels.settings import CONFIG, Address, chosen, some_of

Rule = Literal["private", "mention", "reply", "name", "topic"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)


class TelegramSettings(BaseModel):
    """A Telegram bot; with a token it is on."""

    model_config = CONFIG

    token: SecretStr = Field(
        SecretStr(""),
        description="The bot's token, from @BotFather; empty: Telegram is off.",
        examples=["123456789:AAE..."],
    )
    base_url: Address = Field(
        "https://api.telegram.org/bot",
        description="Where the Bot API is; another one for a Bot API server of your own.",
        examples=["http://127.0.0.1:8081/bot"],
    )
    proxy: Address = Field(
        "",
        description="A proxy through which the Bot API is reached.",
        examples=["http://127.0.0.1:3128"],
    )
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name",
        description="What the agent answers in a group: a mention, a reply to it, its name, or"
        " (`topic`) whatever is said in a forum topic that it was asked in; and private chats.",
        examples=["private,mention,reply"],
    )
    webhook_url: Address = Field(
        "",
        description="The public address (https) at which Telegram reaches /webhooks/telegram of"
        " this gateway; empty: the gateway asks Telegram for updates itself.",
        examples=["https://bot.example.org/webhooks/telegram"],
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="What Telegram shows with each update; empty: a new one at each start.",
        examples=["a-long-random-text"],
    )
    poll_seconds: int = Field(
        25,
        ge=0,
        le=50,
        description="How long one request for updates waits for one, in seconds.",
        examples=["25"],
    )
    per_second: int = Field(
        30,
        ge=0,
        description="How many messages a second the bot sends in all; 0: as many as there are.",
        examples=["30"],
    )
    group_per_minute: int = Field(
        20,
        ge=0,
        description="How many messages and edits a minute the bot sends to one group; 0: any.",
        examples=["20"],
    )

    @property
    def enabled(self) -> bool:
        """Whether there is a token."""
        return bool(self.key())

    def key(self) -> str:
        """Return the token in the clear; for the one place that needs it."""
        return self.token.get_secret_value()

    def rules(self) -> frozenset[str]:
        """Return what the agent answers."""
        return chosen(self.answers)

    @field_validator("token")
    @classmethod
    def _is_a_token(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip()
        if not (token.isascii() and token.isprintable()) or set(token) & set(" /?#"):
            raise ValueError("a token is digits, a colon, then letters, digits, - and _")
        return SecretStr(token)
