"""The settings of one model: its server, what it is asked with, what it accepts, what it costs."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from agent.models.offline import OFFLINE
from agent.models.prices import CURRENCY, Prices, listed_prices

NO_KEY: Final = "none"
"""What stands for a key where none is needed, because the SDK requires one."""


def fits_a_header(key: str) -> bool:
    """Return whether a key is valid in an HTTP header."""
    return key.isascii() and key.isprintable() and " " not in key


def _checked_key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value().strip()
    if not fits_a_header(key):
        raise ValueError("a key may contain only ASCII letters, digits and signs")
    return SecretStr(key)


def checked_address(value: str) -> str:
    """Return a server's address without its last slash; raises ValueError without a scheme."""
    address = value.strip().rstrip("/").removesuffix("/chat/completions")
    if address and not address.startswith(("http://", "https://")):
        raise ValueError(f"an address begins with http:// or https://, so write http://{address}")
    return address


def _parsed(value: object) -> object:
    # A variable of the environment holds JSON.
    return json.loads(value) if isinstance(value, str) else value


ServerAddress = Annotated[str, AfterValidator(checked_address)]
Key = Annotated[SecretStr, AfterValidator(_checked_key)]


class ModelSettings(BaseModel):
    """One model on one server."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    base_url: ServerAddress = Field(
        "",
        description="Address of an OpenAI-compatible server. Empty means OPENAI_BASE_URL, or OpenAI"
        " itself.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: Key = Field(
        SecretStr(""),
        description="API key for that server. Empty means OPENAI_API_KEY.",
        examples=["sk-..."],
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
        description="How many times to repeat a call that fails, or whose answer breaks off.",
        examples=["2"],
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="Sampling temperature. Empty: the server's.", examples=["0.7"]
    )
    max_output: int | None = Field(
        None,
        ge=1,
        description="Maximum tokens of one answer. Empty: the server's.",
        examples=["4000"],
    )
    reasoning_effort: str = Field(
        "", description="How much the model reasons. Empty: the server's.", examples=["low"]
    )
    headers: Annotated[dict[str, SecretStr], BeforeValidator(_parsed)] = Field(
        {}, description="More HTTP headers, as JSON.", examples=['{"X-Title": "Tapeway"}']
    )
    body: Annotated[dict[str, Any], BeforeValidator(_parsed)] = Field(
        {}, description="More fields of every request, as JSON.", examples=['{"top_p": 0.9}']
    )
    tools: bool = Field(True, description="Offer tools to the model.", examples=["false"])
    images: bool = Field(True, description="Send images to the model.", examples=["false"])
    stream_options: bool = Field(
        True, description="Ask for token counts at the end of a stream.", examples=["false"]
    )
    strict_roles: bool = Field(
        False,
        description="Merge consecutive messages of the same role, for servers whose chat template"
        " requires user and assistant to alternate.",
        examples=["true"],
    )
    tool_call_ids: Literal["any", "nine"] = Field(
        "any",
        description="IDs of tool calls: `any`, or `nine` letters and digits, as Mistral requires.",
        examples=["nine"],
    )
    answer_after_tool: bool = Field(
        False,
        description="Put a short answer between a tool's result and a person's message, as Mistral"
        " requires.",
        examples=["true"],
    )
    reasoning: Literal["auto", "open", "off"] = Field(
        "auto",
        description="How reasoning inside the text is recognized: by its tags (`auto`), as begun"
        " before the first word (`open`), or not at all (`off`).",
        examples=["open"],
    )
    reasoning_tags: str = Field(
        "think,thinking,thought,[THINK]",
        description="Tags around such reasoning, separated by commas.",
        examples=["think,reason"],
    )
    context_window: int = Field(
        0, ge=0, description="Size of the context window, in tokens; 0: unknown.", examples=["8192"]
    )
    price_input: float | None = Field(
        None,
        ge=0,
        description="Price of a million prompt tokens, in TAPEWAY_AGENT__CURRENCY. While no price"
        " is set, those of common models are known in USD.",
        examples=["0.25"],
    )
    price_cached: float | None = Field(
        None,
        ge=0,
        description="Price of a million cached prompt tokens, in TAPEWAY_AGENT__CURRENCY. Empty: as"
        " other prompt tokens.",
        examples=["0.025"],
    )
    price_output: float | None = Field(
        None,
        ge=0,
        description="Price of a million tokens of answers, in TAPEWAY_AGENT__CURRENCY. Empty: 0, if"
        " another price is set.",
        examples=["2"],
    )

    def key(self) -> str:
        """Return the API key in clear text."""
        return self.api_key.get_secret_value()

    def prices(self, model: str, currency: str) -> Prices | None:
        """Return what a million tokens cost in a currency, or None if that is not known.

        `model` is the name that has these settings. A listed price is never converted.
        """
        set_ = (self.price_input, self.price_cached, self.price_output)
        if any(price is not None for price in set_):
            fresh = self.price_input or 0
            cached = fresh if self.price_cached is None else self.price_cached
            return Prices(fresh, cached, self.price_output or 0)
        if model == OFFLINE:
            return Prices(0, 0, 0)
        return listed_prices(self.base_url, model) if currency == CURRENCY else None

    def prompt_budget(self, most: int) -> int:
        """Return the maximum tokens of a prompt, so that an answer still fits into the window."""
        if not self.context_window:
            return most
        reserve = min(self.max_output or self.context_window // 4, self.context_window // 2)
        return min(most, self.context_window - reserve)
