"""Reads the census, and the tables of docs/reference that say what becomes of each path."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
REFERENCE: Final = HERE.parents[1] / "docs/reference"
PAGES: Final = {
    "telegram": "content.md",
    "discord": "content-discord.md",
    "slack": "content-slack.md",
}
HOWS: Final = ("read", "named", "left out")
INSIDE: Final = ("external_reply.", "message_snapshots[].message.")
"""Where a message stands in another one: it is read as a message is."""

_SPAN: Final = re.compile(r"`([^`]+)`")
_KIND: Final = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Line:
    """A path of the census.

    steps  the path; `{bold}` behind a part says of which `type` the object there is
    owner  the type that has the field, and the field: "RichTextBold.text"; or "-"
    what   "" for a string; "file"; "any"; "object" for one without strings; "again" for one of a
           type that is on another path; "kind" for a kind of update, event or message
    """

    steps: str
    owner: str
    what: str = ""

    @property
    def path(self) -> str:
        return _KIND.sub("", self.steps)

    @property
    def inner(self) -> str:
        """The path in the innermost message, or "" if that is the whole one."""
        found = next((one for one in INSIDE if self.path.startswith(one)), "")
        inner = Line(self.path.removeprefix(found), "") if found else None
        return inner.inner or inner.path if inner else ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the paths that it covers, and what becomes of them."""

    patterns: tuple[str, ...]
    how: str
    where: str

    def covers(self, line: Line) -> bool:
        return any(_fits(one, line) for one in self.patterns)


def census_of(platform: str) -> list[Line]:
    """Return the paths of the package's types, of its kinds, and of what is newer."""
    found = json.loads((HERE / f"{platform}.json").read_text())
    newer = json.loads((HERE / "newer.json").read_text())[platform]
    return [_line(one) for one in (*found["paths"], *map(_of_kind, found["kinds"]), *newer)]


def rows_of(platform: str) -> list[Row]:
    """Return the rows of a page's tables; of two that cover a path, the first counts."""
    page = (REFERENCE / PAGES[platform]).read_text()
    return [_row(line) for line in page.splitlines() if line.startswith("| `")]


def row_of(line: Line, rows: list[Row]) -> Row | None:
    return next((row for row in rows if row.covers(line)), None)


def _line(text: str) -> Line:
    steps, owner, what = [*text.split(" "), "", ""][:3]
    return Line(steps, owner, "" if what.startswith("(") else what)


def _row(line: str) -> Row:
    first, how, where = (cell.strip() for cell in line.strip().strip("|").split(" | "))
    patterns: list[str] = []
    for span in _SPAN.findall(first):
        if span.startswith("."):  # another field of the type or object before
            span = patterns[-1].rpartition(".")[0] + span
        patterns.append(span)
    return Row(tuple(patterns), how, where)


def _fits(pattern: str, line: Line) -> bool:
    found = re.compile(re.escape(pattern).replace(r"\*", ".*"))
    return any(
        one and found.fullmatch(one) for one in (line.path, line.inner, line.owner, line.steps)
    )


def _of_kind(kind: str) -> str:
    """Return a kind as a path: `update.poll`, `event.MESSAGE_CREATE`, `type.46`, `subtype.x`."""
    title, name, *value = kind.split(" ")
    if title == "message":
        return f"{name} Message.{name} kind"
    return f"{title}.{(value or [name])[0]} - kind"
