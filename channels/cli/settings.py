"""The settings of the terminal channel."""

from __future__ import annotations

from pydantic import BaseModel, Field

from channels.settings import CONFIG


class CliSettings(BaseModel):
    """The settings of the terminal's chat."""

    model_config = CONFIG

    enabled: bool = Field(
        True, description="Allow `tapeway chat` to connect to this gateway.", examples=["false"]
    )
    reasoning: bool = Field(
        True,
        description="Show the model's reasoning and its tools in `tapeway chat`, to the owner.",
        examples=["false"],
    )
