"""The agent's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import Field, SecretStr, field_validator

from agent.model_settings import NO_KEY, ModelSettings

SHARED: Final = ("base_url", "api_key", "connect_timeout", "read_timeout", "retries")
"""What a fallback model takes over from the first one, unless its own section says otherwise."""


_HOST: Final = re.compile(
    r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,62}"
)


class AgentSettings(ModelSettings):
    """The model in use, and its limits."""

    model: str = Field(
        "offline",
        description="Name of the model, as its server knows it. `offline` needs no network.",
        examples=["gpt-5-mini"],
    )
    fallback_models: str = Field(
        "",
        description="Models to try, in order, when the first one fails; separated by commas. A"
        " `[models.NAME]` section of tapeway.toml may give one a server of its own.",
        examples=["gpt-5-nano,gpt-4.1-mini"],
    )
    name: str = Field(
        "Tapeway",
        min_length=1,
        max_length=60,
        description="Name of the agent in the chats.",
        examples=["Robin"],
    )
    more_names: str = Field(
        "",
        description="More names for the agent in groups, separated by commas.",
        examples=["Robin,Robbie"],
    )
    currency: str = Field(
        "USD",
        pattern=r"^[A-Z]{3}$",
        description="Currency of all prices, costs and budgets, as its three letters (ISO 4217)."
        " It names the amounts; nothing is converted.",
        examples=["EUR"],
    )
    steps: int = Field(
        20, ge=1, le=200, description="Maximum model calls in one turn.", examples=["20"]
    )
    tool_timeout: float = Field(
        60, gt=0, description="Maximum seconds for one tool call.", examples=["60"]
    )
    probe: bool = Field(
        True,
        description="Ask the model for a word after the start, at most hourly, to see that it"
        " answers.",
        examples=["false"],
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
    count_tokens: Literal["estimate", "exact"] = Field(
        "estimate",
        description="How to count the tokens of a prompt before sending it: `estimate` (corrected"
        " by the usage that the server reports), or `exact` (with the model's own vocabulary, if it"
        " is known; needs `tapeway[exact]`).",
        examples=["estimate"],
    )

    link_hosts: str = Field(
        "",
        description="More hosts whose links stay whole in answers where text of others is in view,"
        " separated by commas; `*.` stands for one or two labels before a host. List only hosts"
        " that tell nobody else what they are asked for.",
        examples=["wiki.example.com,*.docs.example.com"],
    )

    @field_validator("link_hosts")
    @classmethod
    def _are_hosts(cls, value: str) -> str:
        for host in _names(value):
            if not _HOST.fullmatch(host.lower()):
                raise ValueError(f"{host!r} is no host such as wiki.example.com or *.example.com")
        return ",".join(_names(value.lower()))

    def hosts_of_links(self) -> tuple[str, ...]:
        return tuple(_names(self.link_hosts))

    def models(self) -> tuple[str, ...]:
        return (self.model, *_names(self.fallback_models))

    def names_in_chats(self) -> tuple[str, ...]:
        return (self.name, *_names(self.more_names))

    def model_settings(self, name: str, sections: Mapping[str, ModelSettings]) -> ModelSettings:
        """Return the settings of the first model or of a fallback model.

        A model's section gives defaults for the first model. A fallback model's section wins over
        what it shares with the first one. A server never gets another server's key.
        """
        section = sections.get(name, ModelSettings())
        own = {key: getattr(section, key) for key in section.model_fields_set}
        if name == self.model:
            wanted = self.model_fields_set & ModelSettings.model_fields.keys()
            given = {key: getattr(self, key) for key in wanted}
            if _differ(own, given):
                for secret in ("api_key", "headers", "body"):
                    own.pop(secret, None)
            return ModelSettings.model_construct(**{**own, **given})
        first = self.model_settings(self.model, sections)
        shared = {key: getattr(first, key) for key in SHARED}
        if _differ(own, shared):
            shared["api_key"] = SecretStr(NO_KEY)
        return ModelSettings.model_construct(**{**shared, **own})


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether both name a server, and not the same one."""
    servers = [values["base_url"] for values in (one, other) if "base_url" in values]
    return len(set(servers)) > 1


def _names(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(",")))
