"""Figures of a benchmark: what was measured, the bar for it, a table for people and JSON."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import eq, gt, lt
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import apsw
import orjson

Sign = Literal["<", "=", ">"]

_HOLDS: Final = MappingProxyType({"<": lt, "=": eq, ">": gt})


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure must be: below, exactly, or above a limit in the figure's own unit."""

    sign: Sign
    limit: float

    def __str__(self) -> str:
        """Return the bar as the table shows it."""
        return f"{self.sign} {self.limit:g}"

    def met(self, value: float) -> bool:
        """Tell whether a value meets the bar."""
        return bool(_HOLDS[self.sign](value, self.limit))


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `bar` is None where nothing is demanded."""

    name: str
    value: float
    unit: str
    bar: Bar | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None where there is none."""
        return self.bar.met(self.value) if self.bar else None

    def as_json(self) -> dict[str, Any]:
        """Return the figure's JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "value": round(self.value, 4),
            "bar": str(self.bar) if self.bar else None,
            "met": self.met,
        }


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of values that need not be sorted."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def latencies(
    name: str,
    seconds: Sequence[float],
    percents: Sequence[int] = (50, 99),
    bars: Mapping[int, Bar] = MappingProxyType({}),
) -> list[Figure]:
    """Make figures in ms of percentiles of durations in seconds; `bars` is by percentile."""
    return [
        Figure(f"{name}, p{percent}", percentile(seconds, percent) * 1000, "ms", bars.get(percent))
        for percent in percents
    ]


def machine() -> dict[str, str | int]:
    """Return what the figures depend on besides the program."""
    return {
        "cpus": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
    }


def table(figures: Sequence[Figure]) -> str:
    """Return figures as a table, one a line."""
    head = ("what", "value", "unit", "bar", "met")
    rows = [head, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    rule = "  ".join("-" * width for width in widths)
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]])


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    met = {None: "", True: "yes", False: "NO"}[figure.met]
    bar = str(figure.bar) if figure.bar else ""
    return figure.name, _number(figure.value), figure.unit, bar, met


def _number(value: float) -> str:
    if value == int(value) or value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3f}" if value < 100 else f"{value:.1f}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, value, *rest = (
        cell.rjust(width) if column == 1 else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([name, value, *rest]).rstrip()


def report(figures: Sequence[Figure], file: Path | None) -> None:
    """Print the machine and the table; write both as JSON where a file is named."""
    facts = machine()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    print(table(figures))
    if file is not None:
        told = {"machine": facts, "figures": [figure.as_json() for figure in figures]}
        file.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2))


def progress(text: str) -> None:
    """Tell on standard error what is being done."""
    print(text, file=sys.stderr, flush=True)
