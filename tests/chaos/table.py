"""What came of a chaos run, as a table a channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.chaos.plan import Policy
from tests.chaos.stage import stage_of

POLICIES: Final[tuple[Policy, ...]] = ("resend", "hold")
COUNTS: Final = (
    "lost",
    "outside",
    "inside",
    "orphans",
    "disorder",
    "acted_twice",
    "held",
    "errors",
)
COLUMNS: Final = ("schedules", "asked", "kills", "fired", *COUNTS)

Row = Mapping[str, Any]


def points(channel: str, policy: Policy, rows: Sequence[Row]) -> dict[str, int]:
    """Return in how many schedules of each kill point it was reached: its trap fired."""
    found = dict.fromkeys(stage_of(channel).menu.points, 0)
    for row in rows:
        if (row["channel"], row["policy"]) == (channel, policy) and row["fired"].get(row["fault"]):
            found[row["fault"]] += 1
    return found


def table(channel: str, rows: Sequence[Row], seed: str) -> str:
    """Return a line a fault and the sums; `fired` has the traps that fired, of those set.

    Below stands in how many schedules each kill point was reached, under `resend` and `hold`.
    """
    own = [row for row in rows if row["channel"] == channel]
    lines = [f"{channel:18}" + "".join(f"{name:>12}" for name in COLUMNS)]
    lines += [
        _line(fault, [row for row in own if row["fault"] == fault])
        for fault in stage_of(channel).menu.faults
        if any(row["fault"] == fault for row in own)
    ]
    for policy in POLICIES:
        lines.append(_line(f"all, {policy}", [row for row in own if row["policy"] == policy]))
    lines.append(_line("all", own))
    resend, hold = (points(channel, policy, own) for policy in POLICIES)
    reached = ", ".join(f"{point} {resend[point]}+{hold[point]}" for point in resend)
    return "\n".join([*lines, f"reached: {reached}", f"seed {seed}"])


def _line(name: str, rows: Sequence[Row]) -> str:
    fired = sum(sum(row["fired"].values()) for row in rows)
    traps = sum(sum(row["traps"].values()) for row in rows)
    sums = {count: sum(row[count] for row in rows) for count in ("asked", "kills", *COUNTS)}
    cells = {"schedules": len(rows), "fired": f"{fired}/{traps}" if traps else "", **sums}
    return f"{name:18}" + "".join(f"{cells[column]:>12}" for column in COLUMNS)
