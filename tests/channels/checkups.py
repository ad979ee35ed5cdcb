"""Reads what a check of a platform found."""

from __future__ import annotations

from channels.checkup import CheckResult, Checkup


def troubles(checkup: Checkup) -> list[CheckResult]:
    """Return the results that name a trouble, in their order."""
    return [result for result in checkup.results if result.trouble is not None]
