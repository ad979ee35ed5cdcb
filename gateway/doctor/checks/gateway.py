"""Check the gateway that runs on the home with its channels, and the port for one that starts."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from channels.checkup import CheckResult
from gateway.doctor import troubles
from gateway.doctor.checks.running import SECONDS, ask
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import Subject
from gateway.home import LOCK
from gateway.settings.sections import MIN_TOKEN_CHARACTERS

GATEWAY: Final = "gateway"
PORT: Final = "port"
LIVE: Final = '{"status":"live"}'
METRICS: Final = "tapeway_build_info"


async def check_gateway(subject: Subject) -> list[CheckResult]:
    running = subject.running
    if running is None:
        return [_unclear(subject) if subject.held else _none(subject)]
    who = f"process {running.pid} at {running.url}"
    try:
        status, body = await ask(running, "/health/ready")
    except httpx2.HTTPError as cause:
        says = f"{who} does not answer ({type(cause).__name__})"
        return [ill(GATEWAY, troubles.GATEWAY_SILENT, says)]
    if status not in (200, 503) or not isinstance(body, dict):
        return [ill(GATEWAY, troubles.GATEWAY_SILENT, f"{who} answers with status {status}")]
    facts = {"pid": running.pid, "url": running.url}
    return [well(GATEWAY, f"{who} answers", **facts), *_not_well(body), *_notes(body)]


def _none(subject: Subject) -> CheckResult:
    try:
        (subject.home / LOCK).open("rb").close()
    except PermissionError:
        return noted(GATEWAY, "not known, because this user may not look into the home folder")
    except OSError:
        pass
    return noted(GATEWAY, "none runs on this home")


def _unclear(subject: Subject) -> CheckResult:
    try:
        holder = (subject.home / LOCK).read_text("ascii", "replace").strip()
    except OSError:
        holder = ""
    who = f"process {holder}" if holder.isdigit() else "a process"
    says = f"{who} holds the lock of {subject.home}, but no gateway has said its address"
    return ill(GATEWAY, troubles.GATEWAY_UNCLEAR, says, "warning")


def _not_well(body: Mapping[str, Any]) -> Iterator[CheckResult]:
    if store := body.get("store"):
        says = f"no write for {store.get('seconds')} s: {store.get('why')}"
        yield ill(GATEWAY, troubles.GATEWAY_STORE_AWAY, says)
    for name, state in body.get("channels", {}).items():
        why = f": {state['why']}" if state.get("why") else ""
        since = f" since {state['since']}" if state.get("since") else ""
        if state["state"] == "deaf":
            says = f"{name} has heard nothing for {state.get('deaf_seconds')} s"
            yield ill(GATEWAY, troubles.CHANNEL_STALLED, says, channel=name)
        elif state["state"] in ("unfit", "stopped"):
            says = f"{name} has stopped{since}{why}"
            yield ill(GATEWAY, troubles.CHANNEL_UNFIT, says, channel=name)
        elif state["state"] == "starting":
            yield noted(GATEWAY, f"{name} is starting", channel=name)
        elif state["state"] != "ready":
            says = f"{name} is not connected{since}{why}"
            yield ill(GATEWAY, troubles.CHANNEL_DOWN, says, channel=name)


def _notes(body: Mapping[str, Any]) -> Iterator[CheckResult]:
    for name, state in body.get("channels", {}).items():
        for note in state.get("notes", ()):
            yield noted(GATEWAY, f"{name}: {note}", channel=name)
    for note in body.get("notes", ()):
        yield noted(GATEWAY, str(note))


async def check_port(subject: Subject) -> list[CheckResult]:
    http = subject.settings.http
    found = [_token(subject) or await _port(subject, http.host, http.port, "")]
    if http.metrics_port:
        found.append(await _port(subject, http.metrics_host, http.metrics_port, "/metrics on "))
    return found


def _token(subject: Subject) -> CheckResult | None:
    """Return what keeps the start from listening where other machines reach it, or None."""
    http = subject.settings.http
    token = http.token.get_secret_value()
    where = f"{http.host}:{http.port}"
    if not token and http.token_file:
        file = subject.home / http.token_file.expanduser()
        if not file.is_file():
            return None  # the start creates it
        with suppress(OSError):
            token = file.read_text("ascii", "replace").strip()
    if _is_loopback(http.host) or len(token) >= MIN_TOKEN_CHARACTERS:
        return None
    if token:
        says = f"{where} needs a longer token: {len(token)} of {MIN_TOKEN_CHARACTERS} characters"
        return ill(PORT, troubles.PORT_TOKEN_SHORT, says)
    return ill(PORT, troubles.PORT_OPEN, f"{where} can be reached from other machines")


async def _port(subject: Subject, host: str, port: int, about: str) -> CheckResult:
    """Check one port; of that of the metrics, `about` says so."""
    where = f"{about}{host}:{port}"
    if not port:
        return well(PORT, "any free one")
    if subject.running is not None and urlsplit(subject.running.url).port == port:
        return well(PORT, f"{where} is this gateway's")
    why = _bound(host, port)
    if why is None:
        later = ": the running gateway began without it" if about and subject.running else ""
        return well(PORT, f"{where} is free{later}")
    says = f"{where}: {why.strerror or why}"
    if why.errno != errno.EADDRINUSE:
        return ill(PORT, troubles.PORT_UNUSABLE, says)
    asked = ("/metrics", METRICS) if about else ("/health/live", LIVE)
    if not await _answers(host, port, *asked):
        return ill(PORT, troubles.PORT_IN_USE, says)
    if about and subject.running is not None:
        return well(PORT, f"{where} is this gateway's, without a login")
    return ill(PORT, troubles.PORT_OTHER_GATEWAY, says)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bound(host: str, port: int) -> OSError | None:
    """Return why an address cannot be used; a gateway may start on it at the same time."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        # Nothing listens here: with this option, such a socket is in nobody's way.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, port))
        except OSError as cause:
            return cause
    return None


async def _answers(host: str, port: int, path: str, words: str) -> bool:
    """Return whether something answers there as a gateway does."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - only compared
    shown = f"[{host}]" if ":" in host else host
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS / 2) as client:
            return words in (await client.get(f"http://{shown}:{port}{path}")).text
    except httpx2.HTTPError:
        return False
