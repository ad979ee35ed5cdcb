"""The settings of the Slack channel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from channels.settings import Address, PlatformSettings, proxy_field, some_of

Rule = Literal["private", "mention", "reply", "name", "thread"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)
BASE_URL: Final = "https://slack.com/api/"
FILES_URL: Final = "https://files.slack.com"
_PREFIXES: Final = {"bot_token": "xoxb-", "app_token": "xapp-"}
_ALL_PREFIXES: Final = ("xoxb-", "xapp-", "xoxp-")


class SlackSettings(PlatformSettings):
    """A Slack app; setting any of its tokens or a file of installations enables the channel."""

    bot_token: SecretStr = Field(
        SecretStr(""),
        description="The app's bot token (OAuth & Permissions, Bot User OAuth Token). Slack is off"
        " unless a token, a signing secret or a file of installations is set.",
        examples=["xoxb-..."],
    )
    app_token: SecretStr = Field(
        SecretStr(""),
        description="The app-level token with connections:write (Basic Information). With it,"
        " events come over Socket Mode, which needs no public address.",
        examples=["xapp-..."],
    )
    signing_secret: SecretStr = Field(
        SecretStr(""),
        description="The app's signing secret (Basic Information). With it, and without an"
        " app-level token, events come to this gateway's /slack/events.",
        examples=["0123456789abcdef0123456789abcdef"],
    )
    base_url: Address = Field(
        BASE_URL,
        description="The address of Slack's Web API.",
        examples=["http://127.0.0.1:8082/api/"],
    )
    files_url: Address = Field(
        "",
        description="The only address to fetch files from. Empty: files.slack.com, or the host of"
        " BASE_URL if that is set.",
        examples=["https://files.slack-gov.com"],
    )
    proxy: Address = proxy_field("Slack")
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name,thread",
        description="The messages that the agent answers: direct messages (private); in channels,"
        " those that mention it (mention), reply in the thread of one of its messages (reply), call"
        " it by name (name), or continue a thread in which it was addressed (thread).",
        examples=["private,mention"],
    )
    reorder_seconds: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Seconds that a message waits for earlier ones, because Slack does not deliver"
        " events in order.",
        examples=["0.1"],
    )
    installations: Path | None = Field(
        None,
        description="A JSON file (readable by its owner only) with the bot tokens of more"
        " workspaces. /slack/install writes it.",
        examples=["/srv/tapeway/slack-installations.json"],
    )
    client_id: str = Field(
        "",
        description="The app's client ID (Basic Information). With it, the client secret, a file of"
        " installations and a public address, /slack/install adds the app to a workspace.",
        examples=["123456789.987654321"],
    )
    client_secret: SecretStr = Field(
        SecretStr(""), description="The app's client secret (Basic Information).", examples=["..."]
    )

    @property
    def enabled(self) -> bool:
        """Whether anything is set; on startup the channel reports settings that are missing."""
        given = (self.bot_token, self.app_token, self.signing_secret)
        return self.installations is not None or any(one.get_secret_value() for one in given)

    @property
    def files_origin(self) -> str:
        if self.files_url:
            return self.files_url
        if self.base_url == BASE_URL:
            return FILES_URL
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("bot_token", "app_token")
    @classmethod
    def _check_token(cls, value: SecretStr, info: object) -> SecretStr:
        token = value.get_secret_value().strip()
        name = str(getattr(info, "field_name", ""))
        prefix = _PREFIXES[name]
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise ValueError(f"a token is {prefix} followed by letters, digits and -")
        if token.startswith(_ALL_PREFIXES) and not token.startswith(prefix):
            raise ValueError(f"it begins with {prefix}, but this is another token of the app")
        return SecretStr(token)

    @field_validator("signing_secret", "client_secret")
    @classmethod
    def _strip(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())

    @field_validator("base_url")
    @classmethod
    def _end_with_slash(cls, value: str) -> str:
        return f"{value}/" if value else BASE_URL

    @field_validator("files_url")
    @classmethod
    def _keep_origin(cls, value: str) -> str:
        parts = urlsplit(value)
        return f"{parts.scheme}://{parts.netloc}" if value else ""
