"""The Slack channel's own slice of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

from channels.settings import CONFIG, Address, chosen, some_of

Rule = Literal["private", "mention", "reply", "name", "thread"]

RULES: Final[tuple[Rule, ...]] = get_args(Rule)
BASE_URL: Final = "https://slack.com/api/"
FILES_URL: Final = "https://files.slack.com"
_BEGINS: Final = {"bot_token": "xoxb-", "app_token": "xapp-"}
_OTHERS: Final = ("xoxb-", "xapp-", "xoxp-")


class SlackSettings(BaseModel):
    """A Slack app; with any of its tokens, or a file of installations, it is on."""

    model_config = CONFIG

    bot_token: SecretStr = Field(
        SecretStr(""),
        description="The app's bot token (OAuth & Permissions, Bot User OAuth Token). Without any"
        " token, signing secret or file of installations Slack is off.",
        examples=["xoxb-..."],
    )
    app_token: SecretStr = Field(
        SecretStr(""),
        description="The app-level token with connections:write (Basic Information): with it"
        " events come over Socket Mode, which needs no public address.",
        examples=["xapp-..."],
    )
    signing_secret: SecretStr = Field(
        SecretStr(""),
        description="The app's signing secret (Basic Information): with it, and without an app"
        " token, events come to /slack/events of this gateway.",
        examples=["0123456789abcdef0123456789abcdef"],
    )
    base_url: Address = Field(
        BASE_URL,
        description="Where Slack's Web API is.",
        examples=["http://127.0.0.1:8082/api/"],
    )
    files_url: Address = Field(
        "",
        description="Where files are fetched from, and nowhere else; empty: files.slack.com, or"
        " the host of another BASE_URL.",
        examples=["https://files.slack-gov.com"],
    )
    proxy: Address = Field(
        "",
        description="A proxy through which Slack is reached.",
        examples=["http://127.0.0.1:3128"],
    )
    answers: Annotated[str, some_of(RULES)] = Field(
        "private,mention,reply,name,thread",
        description="What the agent answers: direct messages; and in channels a mention, an answer"
        " in the thread of a message of its own, its name, or whatever is said in a thread that it"
        " was asked in.",
        examples=["private,mention"],
    )
    hold: float = Field(
        0.2,
        ge=0,
        le=1,
        description="How long a message waits for one that was said before it and comes after it,"
        " in seconds: Slack does not keep their order.",
        examples=["0.1"],
    )
    installations: Path | None = Field(
        None,
        description="A file (JSON, for its owner only) with the bot tokens of further workspaces;"
        " /slack/install writes it.",
        examples=["/srv/tapeway/slack-installations.json"],
    )
    client_id: str = Field(
        "",
        description="The app's client id (Basic Information): with the client secret, a file of"
        " installations and a public address, /slack/install adds the app to a workspace.",
        examples=["123456789.987654321"],
    )
    client_secret: SecretStr = Field(
        SecretStr(""), description="The app's client secret (Basic Information).", examples=["..."]
    )

    @property
    def enabled(self) -> bool:
        """Whether something is set, be it too little: what is missing is then told."""
        given = (self.bot_token, self.app_token, self.signing_secret)
        return self.installations is not None or any(one.get_secret_value() for one in given)

    @property
    def files_origin(self) -> str:
        """Where files are: scheme and host."""
        if self.files_url:
            return self.files_url
        if self.base_url == BASE_URL:
            return FILES_URL
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    def rules(self) -> frozenset[str]:
        """Return what the agent answers."""
        return chosen(self.answers)

    @field_validator("bot_token", "app_token")
    @classmethod
    def _is_a_token(cls, value: SecretStr, info: object) -> SecretStr:
        token = value.get_secret_value().strip()
        name = str(getattr(info, "field_name", ""))
        wanted = _BEGINS[name]
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise ValueError(f"a token is {wanted} and then letters, digits and -")
        if token.startswith(_OTHERS) and not token.startswith(wanted):
            raise ValueError(
                f"it begins with {wanted}; what is set there is another token of the app's"
            )
        return SecretStr(token)

    @field_validator("signing_secret", "client_secret")
    @classmethod
    def _is_bare(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())

    @field_validator("base_url")
    @classmethod
    def _ends_with_a_slash(cls, value: str) -> str:
        return f"{value}/" if value else BASE_URL

    @field_validator("files_url")
    @classmethod
    def _is_an_origin(cls, value: str) -> str:
        parts = urlsplit(value)
        return f"{parts.scheme}://{parts.netloc}" if value else ""
