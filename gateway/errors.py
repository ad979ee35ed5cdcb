"""What keeps the gateway from starting, or a turn from ending well.

GatewayError        `exit_code` is what a command ends with
+-- SettingsError     a setting is wrong: 2
+-- HomeInUse         another gateway runs on this home: 3
+-- PortInUse         the address is taken: 3
+-- CommandRefused    a `,` command that is not done; the sentence is for its author
+-- DeskRefused       a row of the ledger that is not changed; the sentence is for the operator
"""

from __future__ import annotations

from pathlib import Path


class GatewayError(Exception):
    """The root of every error of this package; the message says what to do next."""

    exit_code = 1


class SettingsError(GatewayError):
    """One or more settings are wrong; nothing was started."""

    exit_code = 2


class HomeInUse(GatewayError):
    """Another gateway runs on the same home."""

    exit_code = 3

    def __init__(self, home: Path, pid: int | None) -> None:
        self.pid = pid
        who = f"the process {pid}" if pid else "another process"
        super().__init__(
            f"{who} already runs a gateway on {home}: stop it first, or give this one a home of its"
            " own with TAPEWAY_HOME"
        )


class PortInUse(GatewayError):
    """The address of the HTTP server is taken."""

    exit_code = 3

    def __init__(self, host: str, port: int, cause: OSError) -> None:
        super().__init__(
            f"cannot listen on {host}:{port} ({cause.strerror}): end what listens there, or choose"
            f" another port with TAPEWAY_HTTP__PORT, for example TAPEWAY_HTTP__PORT={port + 1}"
        )


class CommandRefused(GatewayError):
    """A `,` command that is not done; the message is for the person who gave it."""


class AdminError(GatewayError):
    """A row of the ledger that is not there, or cannot be changed so."""
