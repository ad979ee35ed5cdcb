"""The addresses in a text."""

from __future__ import annotations

from tests.agent.web.hostile import PRIVATE, PRIVATE_V6, SCHEMES, of_an_ipv4, of_an_ipv6


def urls(port: int) -> list[str]:
    v4 = [url for address in PRIVATE for url in of_an_ipv4(address, port)]
    return [*v4, *(url for address in PRIVATE_V6 for url in of_an_ipv6(address, port)), *SCHEMES]
