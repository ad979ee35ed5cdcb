"""The addresses of stores, as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ALIASES: Final[Mapping[str, str]] = MappingProxyType({"postgres": "postgresql"})
"""Maps other names of schemes, which libpq and providers of databases use too."""


def canonical(url: str) -> str:
    """Return an address whose scheme has the name that is used here."""
    scheme, colon, rest = url.strip().partition(":")
    return f"{ALIASES.get(scheme.lower(), scheme)}{colon}{rest}"
