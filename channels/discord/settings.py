"""The settings of the Discord channel."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, get_args

from pydantic import Field, SecretStr, field_validator

from channels.settings import Address, BotSettings, per_second_field, proxy_field, some_of

Rule = Literal["private", "mention", "reply", "name", "thread"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)


class DiscordSettings(BotSettings):
    """A Discord bot; setting its token enables the channel."""

    key_prefix: ClassVar[str] = "Bot "

    token: SecretStr = Field(
        SecretStr(""),
        description="The bot's token, from the developer portal (Bot, Reset Token). Leave empty to"
        " disable Discord.",
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
    proxy: Address = proxy_field("Discord")
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
    per_second: int = per_second_field(45)

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
