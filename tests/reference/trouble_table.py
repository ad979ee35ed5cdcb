"""The gateway's own troubles, by what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gateway.doctor.troubles import TROUBLES
from tests.reference.table import table


def lines() -> Iterator[str]:
    for topic, found in groupby(TROUBLES, key=lambda one: one.id.partition(".")[0]):
        yield f"## {topic}"
        yield ""
        rows = ((one.sign, one.cause, one.remedy, f"`{one.id}`") for one in found)
        yield from table(("What you notice", "Why", "What to do", "In JSON"), rows)
        yield ""
