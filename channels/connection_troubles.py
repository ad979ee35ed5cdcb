"""What keeps requests from a platform: the same troubles everywhere, each with its own names."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from channels.checkup import Trouble
from channels.errors import ChannelDown, NotThePlatform
from channels.redirects import Redirected

NOT_SENT: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    Redirected,
)
"""Errors after which it is certain that the request did not reach the platform."""

MAX_ROUTES: Final = 1_000  # maximum number of blocked routes that are remembered


@dataclass(frozen=True, slots=True)
class ConnectionTroubles:
    """The troubles of the way to one platform."""

    unreachable: Trouble
    proxy: Trouble
    redirected: Trouble
    tls: Trouble
    limited: Trouble
    not_the_platform: Trouble

    def page(self, status: int, address: str) -> NotThePlatform:
        """Return our error for an answer in which the platform's own form is missing."""
        return NotThePlatform(trouble=self.not_the_platform, detail=f"{status} from {address}")

    def error(self, cause: BaseException) -> ChannelDown:
        """Return our error for a request that got no answer; it never holds an address."""
        trouble = self.unreachable
        if isinstance(cause, (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)):
            trouble = self.proxy
        elif isinstance(cause, Redirected):
            trouble = self.redirected
        elif isinstance(cause, (aiohttp.ClientSSLError, ssl.SSLError)):
            trouble = self.tls
        return ChannelDown(trouble=trouble, detail=_words(cause))


def connection_troubles(platform: str, host: str) -> ConnectionTroubles:
    """Return a platform's troubles; `host` is where its API is."""
    name, setting = platform.lower(), f"TAPEWAY_{platform.upper()}__"
    proxy, own = f"{setting}PROXY", f"{setting}BASE_URL"
    return ConnectionTroubles(
        unreachable=Trouble(
            f"{name}.unreachable",
            f"{platform} cannot be reached now.",
            f"There is no way to {host}, or to the server that {own} names: the network, its name"
            f" server, a firewall, or {platform} itself.",
            f"Check that this machine reaches that server; if it needs a proxy, set {proxy}. The"
            " gateway keeps trying.",
        ),
        proxy=Trouble(
            f"{name}.proxy",
            f"The proxy for {platform} does not let the gateway through.",
            f"{proxy} names a proxy that is down or refuses the connection.",
            f"Check its address, user and password, or leave {proxy} empty. The gateway keeps"
            " trying.",
        ),
        redirected=Trouble(
            f"{name}.redirected",
            f"The server for {platform} redirects to another address.",
            f"{own} names a server that has moved, or a sign-in page of the network answers. The"
            " gateway does not follow: another host would get the token.",
            f"If you trust the new address, set {own} to it. Otherwise, sign in to the network, or"
            f" leave {own} empty. The gateway keeps trying.",
        ),
        tls=Trouble(
            f"{name}.tls",
            f"The secure connection to {platform} fails.",
            "This machine does not trust the certificate: its clock is wrong, its list of"
            " authorities is missing or old, or a firewall reads the traffic.",
            "Check the clock, and install the package ca-certificates or your company's"
            " certificate.",
        ),
        limited=Trouble(
            f"{name}.limited",
            f"{platform} asks the bot to wait.",
            f"The bot sent more requests than {platform} allows.",
            "Wait: the gateway goes on by itself. If it happens often, check that no other program"
            " uses this token.",
        ),
        not_the_platform=Trouble(
            f"{name}.not_the_platform",
            f"Something in front of {platform} refuses the bot's requests.",
            f"A proxy, a firewall or a provider's filter answers with a page in the place of"
            f" {platform}.",
            f"Let this machine through to that address, or set {proxy} or {own}. Answers wait"
            " meanwhile, as long as a question may.",
        ),
    )


class Way:
    """Notices whether something else answers in a platform's place, and shows it to the operator.

    `blocked` gets the sentence for the operator, and "" once the platform answers again.
    """

    def __init__(
        self,
        troubles: ConnectionTroubles,
        address: str,
        blocked: Callable[[str], None] | None = None,
    ) -> None:
        self._troubles = troubles
        self._address = host_of(address)
        self.tell = blocked or (lambda _why: None)
        self._routes: set[str] = set()

    def blocked(self, status: int, route: str) -> NotThePlatform:
        """Return the error for an answer on a route that is not the platform's."""
        error = self._troubles.page(status, self._address)
        self._routes.add(route)
        if len(self._routes) <= MAX_ROUTES:
            self.tell(str(error))
        else:
            self._routes.discard(route)
        return error

    def clear(self, route: str) -> None:
        """Record that the platform itself has answered on a route."""
        if route in self._routes:
            self._routes.discard(route)
            if not self._routes:
                self.tell("")


def host_of(url: str) -> str:
    """Return the host and port of an address, without what may be secret in it."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "?"
    except ValueError:
        return "?"


def _words(cause: BaseException) -> str:
    if isinstance(cause, Redirected):
        return str(cause)
    if isinstance(cause, aiohttp.ClientHttpProxyError):
        return f"it answered with {cause.status}"
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return str(getattr(cause.certificate_error, "verify_message", "its certificate"))
    if isinstance(cause, aiohttp.ClientConnectorError):
        number = cause.os_error.errno or 0  # that of a name that is not found is negative
        why = os.strerror(number) if number > 0 else cause.os_error.strerror or "no connection"
        return f"{cause.host}:{cause.port}: {why}"
    return "the connection broke"
