"""Write `.env.example` from the settings: `python -m gateway.env_example > .env.example`."""

from __future__ import annotations

import sys
from textwrap import wrap

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from gateway.settings import fields


def env_example() -> str:
    """Return the text of `.env.example`."""
    lines = [
        "# Every setting of Tapeway with its default. Copy this file to .env and uncomment what",
        "# you change. Made by `make env-example`; do not edit it by hand.",
    ]
    section = None
    for name, group, field in fields():
        if group != section:
            lines += ["", f"# --- {group or 'general'} ---"]
            section = group
        lines += ["", *(f"# {line}" for line in wrap(field.description or "", 92))]
        if field.examples and str(field.examples[0]) != _default(field):
            lines.append(f"# Example: {field.examples[0]}")
        lines.append(f"#{name}={_default(field)}")
    return "\n".join(lines) + "\n"


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, SecretStr):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


if __name__ == "__main__":
    sys.stdout.write(env_example())
