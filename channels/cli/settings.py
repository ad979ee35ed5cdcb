"""The terminal channel's own slice of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class CliSettings(BaseModel):
    """The terminal's chat."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(
        True, description="Let `tapeway chat` talk to this gateway.", examples=["false"]
    )
