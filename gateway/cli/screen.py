"""Text for a terminal: safe, as wide as its columns, in local time, and coloured if wanted.

Other people's text is data: `safe` escapes whatever would move the cursor, change colours or
reorder letters. Colours are of the 16 basic ones that can be read on light and on dark.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from zlib import crc32

import wcwidth

from gateway.printing import print_err
from gateway.wording import as_called
from gateway.wording import safe as safe

HIT: Final = "1;7"
BOLD: Final = "1"
LANES: Final = ("36", "35", "32", "31")
"""The colours of lanes: cyan, magenta, green, red; yellow and blue vanish on some backgrounds."""

LANE_LETTERS: Final = 8  # maximum characters of a lane's label

PIPE_COLUMNS: Final = 100_000
"""Columns where no terminal is: what goes to a file or a pipe is not wrapped."""


def one_line(text: object) -> str:
    """Return a safe text on one line."""
    return " ".join(safe(text).split())


def finish_output() -> None:
    """Flush the output; raises no error if the program that reads it has ended, as `head` does."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()


def discard_output() -> int:
    """Discard the rest of the output, which Python would report at its end; returns 0."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def columns() -> int:
    """Return the terminal's width, or COLUMNS."""
    return shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns


def on_terminal() -> bool:
    return sys.stdout.isatty()


def has_colour() -> bool:
    """Return whether to colour: on a terminal that is not `dumb`, unless NO_COLOR is set."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and on_terminal()


def painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text and has_colour() else text


def lane_label(lane: str) -> str:
    """Return a lane's short label, in the colour that it always has.

    The label is the end of the lane's name: `said:-100123/42` begins with the chat.
    """
    short = one_line(lane).rpartition("/")[2] or one_line(lane)
    short = short if len(short) <= LANE_LETTERS else f"…{short[-LANE_LETTERS:]}"
    return painted(f"[{short}]", LANES[crc32(lane.encode(errors="replace")) % len(LANES)])


def clipped(text: str, most: int) -> str:
    """Return a text cut to a width, with an ellipsis if something is missing."""
    return text if wcwidth.width(text) <= most else wcwidth.clip(text, 0, most - 1) + "…"


def padded(text: str, width: int) -> str:
    return text + " " * max(0, width - wcwidth.width(text))


def hanging(head: str, text: str, indent: int) -> list[str]:
    """Return a text wrapped behind its head, with its further lines indented."""
    first, *rest = text.split("\n")
    space = " " * indent
    lines = _wrapped(f"{head}{first}", "", space)
    for line in rest:
        lines += _wrapped(line, space, space) or [""]
    return lines


def print_note(text: str) -> None:
    """Print a sentence to standard error, wrapped at words."""
    print_err("\n".join(hanging("", as_called(safe(text)), 0)))


def local_time(iso: str, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a moment of the tape (ISO 8601, UTC) in local time; "" stays ""."""
    try:
        return datetime.fromisoformat(iso).astimezone().strftime(form)
    except (ValueError, OverflowError):
        return one_line(iso)[:16]


def short_time(iso: str) -> str:
    """Return a moment in local time without the year if that is this one; "" stays ""."""
    day, year = local_time(iso, "%Y-%m-%d"), f"{datetime.now().astimezone():%Y}-"
    return local_time(iso, "%m-%d %H:%M") if day.startswith(year) else day


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    width = max(columns(), 40)
    wide: Sequence[str] = wcwidth.wrap(
        text,
        width,
        # The terminal itself wraps a long path or link: cut in two, it could not be copied.
        break_long_words=not any("/" in word for word in text.split() if len(word) > width),
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return list(wide)
