"""The hosts whose links people share: a dated list, and what the operator adds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from gateway.links.address import WEB, LinkParts, decoded

_PORTS: Final = ("", "80", "443")
_BELOW: Final = re.compile(r"(?:[a-z][a-z-]{0,19}\.){1,2}")
_LOCALE: Final = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
_DOTS: Final = frozenset({".", ".."})
_AWAY_TEXT: Final = (
    "amp auth authorize away click connect download editor embed exit goto intent leave live"
    " login logout oauth oauth2 out outgoing people play playground proxy redir redirect repl"
    " run sandbox share signin signup spaces sso tracking translate try url users"
)
_AWAY: Final = frozenset(_AWAY_TEXT.split())
"""What a path begins with that may send its reader on, or run what somebody left there."""

_RUNS: Final = frozenset({"lite", "repl", "try-jupyter"})
"""What runs a program that stands in the link, wherever in a path: notebooks in the browser."""


class SharedHosts:
    """The hosts of the list, with some more."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        entries = {*_shipped(), *(one.lower() for one in more)}
        self._hosts = frozenset(one for one in entries if not one.startswith("*."))
        self._above = frozenset(one[2:] for one in entries if one.startswith("*."))

    def __len__(self) -> int:
        return len(self._hosts) + len(self._above)

    def holds(self, address: LinkParts) -> bool:
        """Return whether a link leads to a host of the list, and no further."""
        if address.scheme not in ("", *WEB) or address.port not in _PORTS or address.user:
            return False
        host = address.host.removeprefix("www.")
        return (host in self._hosts or self._is_below(host)) and not _leads_away(address.path)

    def _is_below(self, host: str) -> bool:
        found = _BELOW.match(host)
        return found is not None and any(
            host[end:] in self._above for end in _ends(found[0], found.end())
        )


def _ends(labels: str, end: int) -> Iterable[int]:
    return {labels.index(".") + 1, end}


def _leads_away(path: str) -> bool:
    text = decoded(path)
    if text is None:
        return True
    # Servers and browsers read what is encoded, and go back at dots.
    parts = [part.lower() for part in text.replace("\\", "/").split("/") if part]
    if not _RUNS.isdisjoint(parts) or not _DOTS.isdisjoint(parts):
        return True
    if parts and _LOCALE.fullmatch(parts[0]):
        parts = parts[1:]
    # What begins with a tilde is somebody's own.
    return bool(parts) and (parts[0] in _AWAY or parts[0].startswith("~"))


@cache
def _shipped() -> frozenset[str]:
    text = files("gateway.links").joinpath("hosts.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))
