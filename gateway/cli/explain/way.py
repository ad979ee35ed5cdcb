"""Draw a report as the way of its message: stations from top to bottom, each with its time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.cli.screen import BOLD, hanging, local_time, one_line, padded, painted, safe

MAX_OPTIONS: Final = 50
_TIME: Final = 12  # columns of 03:04:05.000
_NAME: Final = 9  # columns of a station's name


def way_of(report: Mapping[str, Any]) -> str:
    """Return a report (`Report.to_json`) as text; what people wrote is escaped."""
    return "\n".join(_lines(report))


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    if report["missing"]:
        yield from hanging("", one_line(report["missing"]), 0)
    if report["options"]:
        yield f"{one_line(report['asked'])} may be several messages. Write instead:"
        width = max(len(option["write"]) for option in report["options"])
        for option in report["options"]:
            head = f"  {padded(safe(option['write']), width)}  "
            yield from hanging(head, _escaped(option["says"]), width + 4)
        if len(report["options"]) >= MAX_OPTIONS:
            yield "  and perhaps more: name the chat as well, CHAT/MESSAGE"
    if report["head"]:
        yield from hanging("", _escaped(report["head"]), 0)
    yield from _stations(report["lines"])


def _stations(lines: list[Mapping[str, Any]]) -> Iterator[str]:
    stop, rail = _marks()
    day = about = ""
    for number, line in enumerate(lines):
        today = local_time(line["at"], "%A, %Y-%m-%d") or day
        if today != day or not number:
            day, about = today, ""
            yield ""
            if day:
                yield painted(day, BOLD)
        time = local_time(line["at"], "%H:%M:%S.%f")[:_TIME]
        name = one_line(line["about"])
        mark = rail if name == about else stop
        shown = painted(padded("" if name == about else name, _NAME), BOLD)
        about = name
        last = number == len(lines) - 1
        says = _escaped(_in_local_time(line))
        wrapped = hanging(" " * (_TIME + _NAME + 6), says, _TIME + _NAME + 6)
        for at, text in enumerate(wrapped):
            rest = text[_TIME + _NAME + 6 :]
            if at == 0:
                yield f"{padded(time, _TIME)}  {mark} {shown}  {rest}".rstrip()
            else:
                yield f"{' ' * _TIME}  {' ' if last else rail} {' ' * _NAME}  {rest}".rstrip()


def _in_local_time(line: Mapping[str, Any]) -> str:
    """Return what a line says with its moments in local time, without a day that is its own."""
    says = str(line["says"])
    for moment in line["data"].get("conversation", {}).get("moments", ()):
        own = local_time(moment, "%Y-%m-%d") == local_time(line["at"], "%Y-%m-%d")
        says = says.replace(moment, local_time(moment, "%H:%M" if own else "%Y-%m-%d %H:%M"))
    return says


def _escaped(text: object) -> str:
    """Return a safe text on one line, with its line breaks shown as `\\n`."""
    return safe(text).replace("\n", "\\n").replace("\t", "\\t")


def _marks() -> tuple[str, str]:
    """Return the marks of a station and of the way, in ASCII if the terminal has no others."""
    try:
        "●│".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "o", "|"
    return "●", "│"
