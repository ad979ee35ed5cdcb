"""Results of checks: what is well, what is worth knowing, and what is one of the troubles."""

from __future__ import annotations

from typing import Any, Final

from channels.checkup import CheckResult, State, Trouble

SECONDS_AHEAD: Final = "seconds_ahead"
"""The fact of any result that says by how much this machine's clock is ahead of a server's."""


def well(check: str, says: str, **facts: Any) -> CheckResult:
    return CheckResult(check, "ok", says, None, facts)


def noted(check: str, says: str, **facts: Any) -> CheckResult:
    return CheckResult(check, "note", says, None, facts)


def ill(
    check: str, trouble: Trouble, says: str, state: State = "failure", **facts: Any
) -> CheckResult:
    return CheckResult(check, state, says, trouble, facts)
