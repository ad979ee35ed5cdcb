"""Check the gateway that runs on the home with its channels, and the port for one that starts."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Mapping
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

GATEWAY: Final = "gateway"
PORT: Final = "port"


async def check_gateway(subject: Subject) -> list[CheckResult]:
    running = subject.running
    if running is None:
        return [_unclear(subject) if subject.held else noted(GATEWAY, "none runs on this home")]
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
    where = f"{http.host}:{http.port}"
    if not (_is_loopback(http.host) or http.token_file or http.token.get_secret_value()):
        return [ill(PORT, troubles.PORT_OPEN, f"{where} can be reached from other machines")]
    if not http.port:
        return [well(PORT, "any free one")]
    if subject.running is not None and urlsplit(subject.running.url).port == http.port:
        return [well(PORT, f"{where} is this gateway's")]
    why = _bound(http.host, http.port)
    if why is None:
        return [well(PORT, f"{where} is free")]
    says = f"{where}: {why.strerror or why}"
    if why.errno != errno.EADDRINUSE:
        return [ill(PORT, troubles.PORT_UNUSABLE, says)]
    other = await _is_gateway(http.host, http.port)
    trouble = troubles.PORT_OTHER_GATEWAY if other else troubles.PORT_IN_USE
    return [ill(PORT, trouble, says)]


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


async def _is_gateway(host: str, port: int) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - only compared
    shown = f"[{host}]" if ":" in host else host
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS / 2) as client:
            response = await client.get(f"http://{shown}:{port}/health/live")
            return bool(response.json() == {"status": "live"})
    except (httpx2.HTTPError, ValueError):
        return False
