"""The tables of docs/reference/metrics.md: `python -m gateway.metrics.reference` prints them."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.metrics.catalog import OWN, PROCESS, Metric


def tables() -> str:
    """Return every metric with its labels and what it says, as Markdown."""
    return f"{_table(OWN)}\n\nOf the process, on Linux only:\n\n{_table(PROCESS)}\n"


def _table(metrics: Iterable[Metric]) -> str:
    rows = (
        f"| `{metric.name}` | {metric.kind} | {_labels(metric)} | {metric.text} |"
        for metric in metrics
    )
    return "\n".join(["| Metric | Kind | Labels | Meaning |", "|---|---|---|---|", *rows])


def _labels(metric: Metric) -> str:
    return ", ".join(f"`{label}`" for label in metric.labels)


if __name__ == "__main__":
    print(tables(), end="")
