"""What the settings of several platforms have in common: kinds of values, each checked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict

CONFIG: Final = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
"""Settings are made once, and a secret among them stands in no error."""


def _checked_address(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("an address begins with http:// or https://")
    return value.rstrip("/")


Address = Annotated[str, AfterValidator(_checked_address)]
"""An address of the web, or nothing; without the slash at its end."""


def some_of(rules: Sequence[str]) -> AfterValidator:
    """Make the check of a list, written with commas, of rules."""

    def check(value: str) -> str:
        for rule in chosen(value):
            if rule not in rules:
                raise ValueError(f"{rule!r} is none of {', '.join(rules)}")
        return value

    return AfterValidator(check)


def chosen(answers: str) -> frozenset[str]:
    """Return the rules of a list that is written with commas."""
    return frozenset(item.strip() for item in answers.split(",") if item.strip())
