"""The troubles: the gateway's by what they are about, and each platform's for its guide."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from channels.checkup import Trouble
from gateway.doctor.database_troubles import DATABASE_TROUBLES
from gateway.doctor.server_troubles import SERVER_TROUBLES
from gateway.doctor.troubles import TROUBLES
from tests.reference.table import table

_SETTING = re.compile(r"(?<![`\w])(TAPEWAY_\w+)(?![`\w])")


def lines() -> Iterator[str]:
    troubles = [*TROUBLES, *DATABASE_TROUBLES, *SERVER_TROUBLES]
    topics = list(dict.fromkeys(map(_topic, troubles)))
    ordered = sorted(troubles, key=lambda one: topics.index(_topic(one)))
    for topic, found in groupby(ordered, key=_topic):
        yield f"## {topic}"
        yield ""
        rows = ((one.sign, one.cause, one.remedy, f"`{one.id}`") for one in found)
        yield from table(("What you notice", "Why", "What to do", "In JSON"), rows)
        yield ""


def _topic(trouble: Trouble) -> str:
    return trouble.id.partition(".")[0]


def lines_for(platform: Sequence[Trouble]) -> Callable[[], Iterator[str]]:
    """Return what yields the table of a platform's guide."""

    def platform_lines() -> Iterator[str]:
        rows = ((one.sign, f"{one.cause} {one.remedy}") for one in platform)
        marked = ([_SETTING.sub(r"`\1`", cell) for cell in row] for row in rows)
        yield from table(("What you see", "What it means, and what to do"), marked)

    return platform_lines
