"""The pages with a generated part, and where that part stands in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from channels.discord.troubles import TROUBLES as DISCORD
from channels.slack.troubles import TROUBLES as SLACK
from channels.telegram.troubles import TROUBLES as TELEGRAM
from tests.reference import (
    command_line,
    hook_table,
    kit_tables,
    log_events,
    metric_table,
    route_table,
    setting_tables,
    trouble_table,
)

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "cli.md": command_line.lines,
    "events.md": log_events.lines,
    "hooks.md": hook_table.lines,
    "http.md": route_table.lines,
    "metrics.md": metric_table.lines,
    "settings.md": setting_tables.lines,
    "testing.md": kit_tables.lines,
    "troubles.md": trouble_table.lines,
    "../how-to/discord.md": trouble_table.lines_for(DISCORD),
    "../how-to/slack.md": trouble_table.lines_for(SLACK),
    "../how-to/telegram.md": trouble_table.lines_for(TELEGRAM),
}
"""Each page, and what yields the lines of its generated part."""

_PART: Final = re.compile(
    r"(?P<begin><!-- generated: make reference -->\n).*(?P<end><!-- end of the generated part -->)",
    re.DOTALL,
)


def regenerated(name: str) -> str:
    """Return a page with its part as it should be."""
    page = (FOLDER / name).read_text()
    part = _PART.search(page)
    assert part, f"{name} has no generated part"
    lines = "\n".join(PAGES[name]())
    return f"{page[: part.start()]}{part['begin']}\n{lines}\n\n{part['end']}{page[part.end() :]}"
