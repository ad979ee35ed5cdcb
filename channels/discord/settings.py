"""The Discord channel's own slice of the settings."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import BaseModel, Field, SecretStr, field_validator

from channels.settings import CONFIG, Address, chosen, some_of

Rule = Literal["private", "mention", "reply", "name", "thread"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)


class DiscordSettings(BaseModel):
    """A Discord bot; with a token it is on."""

    model_config = CONFIG

    token: SecretStr = Field(
        SecretStr(""),
        description="The bot's token, from the developer portal (Bot, Reset Token); empty: Discord"
        " is off.",
        examples=["MTAx..."],
    )
    base_url: Address = Field(
        "https://discord.com/api/v10",
        description="Where Discord's API is.",
        examples=["http://127.0.0.1:8082/api/v10"],
    )
    gateway_url: str = Field(
        "wss://gateway.discord.gg/",
        description="Where Discord's gateway is, over which events come in.",
        examples=["ws://127.0.0.1:8082/"],
    )
    cdn_url: str = Field(
        "https://cdn.discordapp.com,https://media.discordapp.net",
        description="The hosts from which attachments are fetched, separated by commas; that of"
        " BASE_URL is one, too.",
        examples=["https://cdn.discordapp.com"],
    )
    proxy: Address = Field(
        "",
        description="A proxy through which Discord is reached.",
        examples=["http://127.0.0.1:3128"],
    )
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name,thread",
        description="What the agent answers in a server: a mention, a reply to it, its name, or"
        " (`thread`) whatever is said in a thread that it was asked in; and private messages.",
        examples=["private,mention,reply"],
    )
    shards: int = Field(
        0,
        ge=0,
        le=64,
        description="Over how many connections events come in; 0: over one, which Discord allows"
        " up to 2500 servers.",
        examples=["4"],
    )
    per_second: int = Field(
        45,
        ge=0,
        description="How many messages a second the bot sends in all; 0: as many as there are.",
        examples=["45"],
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
        token = value.get_secret_value().strip().removeprefix("Bot ").strip()
        if not (token.isascii() and token.isprintable()) or set(token) & set(" /?#"):
            raise ValueError("a token is letters, digits, dots, - and _")
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
