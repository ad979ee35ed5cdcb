"""The metrics of `/metrics`, from their catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gateway.metrics.catalog import OWN, PROCESS, Metric
from tests.reference.table import table

HEADER = ("Metric", "Kind", "Labels", "Meaning")


def lines() -> Iterator[str]:
    yield from table(HEADER, _rows(OWN))
    yield from ("", "Of the process, on Linux only:", "")
    yield from table(HEADER, _rows(PROCESS))


def _rows(metrics: Iterable[Metric]) -> Iterator[tuple[str, ...]]:
    for metric in metrics:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        yield f"`{metric.name}`", metric.kind, labels, metric.text
