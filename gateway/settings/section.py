"""What all sections of the gateway's own settings are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


def setting(default: Any, description: str, example: str = "", **bounds: Any) -> Any:
    """Declare a setting; unless an example is given, the default serves as one."""
    return Field(default, description=description, examples=[example or str(default)], **bounds)


class Section(BaseModel):
    """The base class of all sections: unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def split(value: str) -> list[str]:
    """Return the items of a value that separates them by commas."""
    return [item.strip() for item in value.split(",") if item.strip()]
