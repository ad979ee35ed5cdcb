"""The agent's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class AgentSettings(BaseModel):
    """The model and its limits."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: str = Field(
        "offline",
        description="Name of the model, as its server knows it. `offline` needs no network.",
        examples=["gpt-5-mini"],
    )
    base_url: str = Field(
        "",
        description="Address of an OpenAI-compatible server. Empty means OPENAI_BASE_URL, or OpenAI"
        " itself.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="API key for that server. Empty means OPENAI_API_KEY.",
        examples=["sk-..."],
    )
    fallback_models: str = Field(
        "",
        description="Models of the same server to try, in order, when the first one fails;"
        " separated by commas.",
        examples=["gpt-5-nano,gpt-4.1-mini"],
    )
    name: str = Field(
        "Tapeway",
        min_length=1,
        max_length=60,
        description="Name of the agent in the chats.",
        examples=["Robin"],
    )
    names: str = Field(
        "",
        description="More names for the agent in groups, separated by commas.",
        examples=["Robin,Robbie"],
    )
    steps: int = Field(
        20, ge=1, le=200, description="Maximum model calls in one turn.", examples=["20"]
    )
    tool_timeout: float = Field(
        60, gt=0, description="Maximum seconds for one tool call.", examples=["60"]
    )
    connect_timeout: float = Field(
        10, gt=0, description="Seconds to wait for a connection.", examples=["10"]
    )
    read_timeout: float = Field(
        120,
        gt=0,
        description="Maximum seconds of silence from the model, before or during an answer.",
        examples=["120"],
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="How many times to retry a call that fails, and an answer that breaks off.",
        examples=["2"],
    )
    subagents: int = Field(
        2,
        ge=0,
        le=16,
        description="Maximum subagents that work on one answer at the same time; 0 turns them off.",
        examples=["2"],
    )
    subagent_steps: int = Field(
        10, ge=1, le=200, description="Maximum model calls of one subagent.", examples=["10"]
    )
    counter: Literal["estimate", "exact"] = Field(
        "estimate",
        description="How to count the tokens of a prompt before sending it: `estimate` (corrected"
        " by the usage that the server reports), or `exact` (with the model's own vocabulary, if it"
        " is known; needs `tapeway[exact]`).",
        examples=["estimate"],
    )
    strict_roles: bool = Field(
        False,
        description="Merge consecutive messages of the same role, for servers whose chat template"
        " requires user and assistant to alternate.",
        examples=["true"],
    )

    @field_validator("api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not fits_a_header(key):
            raise ValueError("a key may contain only ASCII letters, digits and signs")
        return SecretStr(key)

    def models(self) -> tuple[str, ...]:
        return (self.model, *_names(self.fallback_models))

    def names_in_chats(self) -> tuple[str, ...]:
        return (self.name, *_names(self.names))

    def key(self) -> str:
        """Return the API key in clear text."""
        return self.api_key.get_secret_value()


def _names(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(",")))


def fits_a_header(key: str) -> bool:
    """Return whether a key is valid in an HTTP header."""
    return key.isascii() and key.isprintable() and " " not in key
