"""The gateway's errors.

GatewayError        the root; a command exits with its `exit_code`, 1 by default
+-- SettingsError     a setting is wrong, so nothing was started (exit code 2)
+-- HomeInUse         another gateway runs in this home folder (exit code 3)
+-- PortInUse         another program uses the address (exit code 3)
+-- CommandRefused    a comma command was refused; its author reads the message
+-- AdminError        an admin action was refused; the operator reads the message
"""

from __future__ import annotations

from pathlib import Path


class GatewayError(Exception):
    """The root of this package's errors; the message says how to fix the problem."""

    exit_code = 1


class SettingsError(GatewayError):
    exit_code = 2


class HomeInUse(GatewayError):
    exit_code = 3

    def __init__(self, home: Path, pid: int | None) -> None:
        self.pid = pid
        who = f"the process {pid}" if pid else "another process"
        super().__init__(
            f"{who} already runs a gateway in {home}: if it is starting or stopping, try again in a"
            " moment; otherwise stop it first, or set TAPEWAY_HOME to another folder"
        )


class PortInUse(GatewayError):
    exit_code = 3

    def __init__(self, host: str, port: int, cause: OSError, setting: str) -> None:
        super().__init__(
            f"cannot listen on {host}:{port} ({cause.strerror}): stop the program that uses it,"
            f" or choose another port, for example {setting}={port + 1}"
        )


class CommandRefused(GatewayError):
    """Raised when a comma command is refused; its author reads the message."""


class AdminError(GatewayError):
    """Raised when an admin action is refused; the operator reads the message."""
