"""The web channel's own slice of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class WebSettings(BaseModel):
    """The gateway's own room page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(
        True, description="Serve the room page at the gateway's address.", examples=["false"]
    )
