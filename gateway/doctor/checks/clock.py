"""Compare this machine's clock with those of the servers that other checks have asked."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Final

from channels.checkup import CheckResult
from gateway.doctor import troubles
from gateway.doctor.results import SECONDS_AHEAD, ill, noted, well

CHECK: Final = "clock"
MAX_SECONDS_OFF: Final = 60.0


def check_clock(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Judge by the median of what the results say; one server's clock may itself be wrong."""
    found = [float(one.facts[SECONDS_AHEAD]) for one in results if SECONDS_AHEAD in one.facts]
    if not found:
        return [noted(CHECK, "not compared, because no server said the time")]
    off = statistics.median(found)
    way = "ahead of" if off > 0 else "behind"
    says = f"{abs(off):.0f} s {way} the servers' clocks"
    if abs(off) > MAX_SECONDS_OFF:
        return [ill(CHECK, troubles.CLOCK_WRONG, says, "warning", **{SECONDS_AHEAD: off})]
    return [well(CHECK, "agrees with the servers' clocks", **{SECONDS_AHEAD: off})]
