"""Fields and validators that the settings of several platforms share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator

CONFIG: Final = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
"""Settings are immutable; errors hide the values of settings, since some are secret."""


def _checked_address(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    return value.rstrip("/")


Address = Annotated[str, AfterValidator(_checked_address)]
"""A web address without a trailing slash, or an empty string."""


def some_of(rules: Sequence[str]) -> AfterValidator:
    def check(value: str) -> str:
        for rule in chosen(value):
            if rule not in rules:
                raise ValueError(f"{rule!r} is none of {', '.join(rules)}")
        return value

    return AfterValidator(check)


def chosen(answers: str) -> frozenset[str]:
    """Return the rules named in a comma-separated list."""
    return frozenset(item.strip() for item in answers.split(",") if item.strip())


def proxy_field(platform: str) -> Any:
    return Field(
        "", description=f"Proxy for requests to {platform}.", examples=["http://127.0.0.1:3128"]
    )


def per_second_field(default: int) -> Any:
    return Field(
        default,
        ge=0,
        description="Maximum messages per second over all chats; 0: no maximum.",
        examples=[str(default)],
    )


class PlatformSettings(BaseModel):
    """The settings of a platform whose rules say which messages the agent answers."""

    model_config = CONFIG

    # Each platform declares `answers`: rules differ, and base fields come first in .env.example.
    if TYPE_CHECKING:
        answers: str

    def rules(self) -> frozenset[str]:
        """Return the rules that `answers` lists."""
        return chosen(self.answers)


class BotSettings(PlatformSettings):
    """The settings of a bot that has one token; setting the token enables the channel."""

    key_prefix: ClassVar[str] = ""
    key_form: ClassVar[str] = "letters, digits, dots, - and _"
    if TYPE_CHECKING:
        token: SecretStr

    @property
    def enabled(self) -> bool:
        return bool(self.key())

    def key(self) -> str:
        return self.token.get_secret_value()

    @field_validator("token", check_fields=False)
    @classmethod
    def _is_a_token(cls, value: SecretStr) -> SecretStr:
        token = value.get_secret_value().strip().removeprefix(cls.key_prefix).strip()
        if not (token.isascii() and token.isprintable()) or set(token) & set(" /?#"):
            raise ValueError(f"a token is {cls.key_form}")
        return SecretStr(token)
