"""The agent's own slice of the settings."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class AgentSettings(BaseModel):
    """Which model answers, and within which limits."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: str = Field(
        "offline",
        description="The model that answers, as its server names it; `offline` needs no network.",
        examples=["gpt-5-mini"],
    )
    base_url: str = Field(
        "",
        description="The address of an OpenAI-compatible server; empty means OPENAI_BASE_URL, or"
        " OpenAI itself.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="The key for that server; empty means OPENAI_API_KEY.",
        examples=["sk-..."],
    )
    fallback_models: str = Field(
        "",
        description="Models of the same server that are asked, in turn, when the first one fails;"
        " separated by commas.",
        examples=["gpt-5-nano,gpt-4.1-mini"],
    )
    name: str = Field(
        "Tapeway",
        min_length=1,
        max_length=60,
        description="What the agent is called in the chats.",
        examples=["Robin"],
    )
    names: str = Field(
        "",
        description="Further names by which people in a group may call the agent, with commas.",
        examples=["Robin,Robbie"],
    )
    steps: int = Field(
        20,
        ge=1,
        le=200,
        description="How often the model may be called in one turn.",
        examples=["20"],
    )
    tool_timeout: float = Field(
        60, gt=0, description="How long one tool may run, in seconds.", examples=["60"]
    )
    connect_timeout: float = Field(
        10, gt=0, description="How long to wait for a connection, in seconds.", examples=["10"]
    )
    read_timeout: float = Field(
        120,
        gt=0,
        description="How long the model may be silent, before or inside an answer, in seconds.",
        examples=["120"],
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="How often a call that fails is tried again, and an answer that breaks off"
        " asked for again.",
        examples=["2"],
    )
    subagents: int = Field(
        2,
        ge=0,
        le=16,
        description="How many subagents of one answer work side by side; 0: there are none.",
        examples=["2"],
    )
    subagent_steps: int = Field(
        10,
        ge=1,
        le=200,
        description="How often the model may be called for one subagent.",
        examples=["10"],
    )
    counter: Literal["estimate", "exact"] = Field(
        "estimate",
        description="How a prompt's tokens are counted before it is sent: estimated and corrected"
        " by what the server tells, or with the model's own vocabulary (`exact`, needs the package"
        " tiktoken: `tapeway[exact]`), where that is known.",
        examples=["estimate"],
    )
    strict_roles: bool = Field(
        False,
        description="Join neighbouring messages of one role, for servers whose chat template"
        " demands that user and assistant alternate.",
        examples=["true"],
    )

    @field_validator("api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not fits_a_header(key):
            raise ValueError("a key has letters, digits and signs only, no blanks or line ends")
        return SecretStr(key)

    def models(self) -> tuple[str, ...]:
        """Return the model's name and those of its fallbacks."""
        others = (name.strip() for name in self.fallback_models.split(","))
        return (self.model, *(name for name in others if name))

    def names_in_chats(self) -> tuple[str, ...]:
        """Return what people in a group may call the agent."""
        others = (name.strip() for name in self.names.split(","))
        return (self.name, *(name for name in others if name))

    def key(self) -> str:
        """Return the key in the clear; for the one call that needs it."""
        return self.api_key.get_secret_value()


def fits_a_header(key: str) -> bool:
    """Tell whether a key can be sent at all."""
    return key.isascii() and key.isprintable() and " " not in key
