"""The settings of the web channel."""

from __future__ import annotations

from pydantic import BaseModel, Field

from channels.settings import CONFIG


class WebSettings(BaseModel):
    """The settings of the gateway's own chat page."""

    model_config = CONFIG

    enabled: bool = Field(
        True, description="Serve the chat page at the gateway's address.", examples=["false"]
    )
    reasoning: bool = Field(
        False,
        description="Show the model's reasoning on the page, folded, to the owner, but not to"
        " invited members.",
        examples=["true"],
    )
