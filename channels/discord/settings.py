"""Settings of the Discord channel."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, field_validator

from channels.settings import CONFIG, Address, chosen, some_of

Rule = Literal["private", "mention", "reply", "name", "thread"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)


class DiscordSettings(BaseModel):
    """A Discord bot; the channel is on when there is a token."""

    model_config = CONFIG

    token: SecretStr = Field(
        SecretStr(""),
        description="The bot's token, from the developer portal (Bot, Reset Token). Without it, the"
        " Discord channel is off.",
        examples=["MTAx..."],
    )
    base_url: Address = Field(
        "https://discord.com/api/v10",
        description="Base URL of Discord's API.",
        examples=["http://127.0.0.1:8082/api/v10"],
    )
    gateway_url: str = Field(
        "wss://gateway.discord.gg/",
        description="URL of Discord's gateway, which sends events.",
        examples=["ws://127.0.0.1:8082/"],
    )
    cdn_url: str = Field(
        "https://cdn.discordapp.com,https://media.discordapp.net",
        description="Hosts that attachments may be downloaded from, separated by commas. The host"
        " of BASE_URL is always allowed.",
        examples=["https://cdn.discordapp.com"],
    )
    proxy: Address = Field(
        "",
        description="Proxy for all connections to Discord.",
        examples=["http://127.0.0.1:3128"],
    )
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name,thread",
        description="Messages that the agent answers, separated by commas: private messages, and"
        " in a server a mention, a reply to it, its name, or any message in a thread where it"
        " was addressed before (`thread`).",
        examples=["private,mention,reply"],
    )
    shards: int = Field(
        0,
        ge=0,
        le=64,
        description="Number of gateway connections (shards). 0 means a single one, which Discord"
        " allows for up to 2500 servers.",
        examples=["4"],
    )
    per_second: int = Field(
        45,
        ge=0,
        description="Maximum messages per second over all chats; 0 means no limit.",
        examples=["45"],
    )

    @property
    def enabled(self) -> bool:
        """Whether there is a token."""
        return bool(self.key())

    def key(self) -> str:
        """Return the token in plain text."""
        return self.token.get_secret_value()

    def rules(self) -> frozenset[str]:
        """Return the rules by which the agent answers."""
        return chosen(self.answers)

    @field_validator("token")
    @classmethod
    def _is_a_token(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip().removeprefix("Bot ").strip()
        if not (token.isascii() and token.isprintable()) or set(token) & set(" /?#"):
            raise ValueError("a token consists of letters, digits, dots, - and _")
        return SecretStr(token)

    @field_validator("cdn_url")
    @classmethod
    def _are_addresses(cls, value: str) -> str:
        found = [item.strip().rstrip("/") for item in value.split(",") if item.strip()]
        if any(not item.startswith(("http://", "https://")) for item in found):
            raise ValueError("an address begins with http:// or https://")
        return ",".join(found)

    @field_validator("gateway_url")
    @classmethod
    def _is_a_socket(cls, value: str) -> str:
        if not value.startswith(("ws://", "wss://")):
            raise ValueError("the gateway's address begins with ws:// or wss://")
        return value
