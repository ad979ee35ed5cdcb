"""What the fakes of the running test heard and thought, for whoever looks for canaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson

LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """The body of a request to a model: who was asked, and with which words."""

    server: str
    model: str
    body: bytes


class Witness(Protocol):
    """Somebody beside the gateway: a platform, a model, a visitor of the page, a store."""

    def heard(self) -> bytes:
        """Return what came from the gateway, without what authorizes it."""

    def asked(self) -> list[Asked]:
        """Return the requests to a model; only those may hold its reasoning."""


WITNESSES: Final[list[Witness]] = []
"""Those of the running test."""

THOUGHTS: Final[dict[str, set[tuple[str, str]]]] = {}
"""The canaries of reasoning that was sent in the running test, and which server and model did."""


def forget_traffic() -> None:
    """Forget everybody: another test begins."""
    WITNESSES.clear()
    THOUGHTS.clear()


def think(server: str, model: str) -> str:
    """Return a canary for the reasoning of a server's model."""
    number = sum(map(ord, model))
    canary = f"canary-thought-{server.rpartition(':')[2].replace('/', '-')}-{number}: "
    THOUGHTS.setdefault(canary, set()).add((server, model))
    return canary


def dumped(value: Any) -> bytes:
    """Return the bytes of anything that was sent."""
    return orjson.dumps(value, default=_text, option=orjson.OPT_NON_STR_KEYS)


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return value[:LONGEST].decode("latin-1")
    return repr(value)[:LONGEST]
