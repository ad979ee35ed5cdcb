"""Add up what several processes have counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from gateway.metrics.catalog import OWN
from gateway.metrics.meters import Labels, Reading, Spread

_METRICS: Final = {metric.name: metric for metric in OWN if metric.kind != "gauge"}


def to_rows(readings: Iterable[Reading]) -> list[list[Any]]:
    """Return the counters and histograms among readings as JSON, without those that are 0."""
    return [
        [reading.metric.name, reading.labels, _as_json(reading.value)]
        for reading in readings
        if reading.metric.name in _METRICS and _has_counted(reading.value)
    ]


def from_rows(rows: Iterable[Sequence[Any]]) -> list[Reading]:
    """Parse the result of `to_rows`, of which another version may know other metrics."""
    found = []
    for name, labels, value in rows:
        metric = _METRICS.get(name)
        if metric is None or len(labels) != len(metric.labels):
            continue
        if metric.kind == "counter" and isinstance(value, int | float):
            found.append(Reading(metric, tuple(labels), value))
        elif isinstance(value, list) and len(value[0]) == len(metric.buckets) + 1:
            found.append(Reading(metric, tuple(labels), Spread(*value)))
    return found


def summed(own: Iterable[Reading], elsewhere: Iterable[Reading]) -> list[Reading]:
    """Return readings with those of other processes added; gauges stay as they are."""
    found: dict[tuple[str, Labels], Reading] = {}
    for reading in (*own, *elsewhere):
        key = (reading.metric.name, reading.labels)
        known = found.get(key)
        value = reading.value if known is None else _sum(known.value, reading.value)
        found[key] = replace(reading, value=value)
    return list(found.values())


def _sum(one: float | Spread, other: float | Spread) -> float | Spread:
    if isinstance(one, Spread) and isinstance(other, Spread):
        counts = [a + b for a, b in zip(one.counts, other.counts, strict=True)]
        return Spread(counts, one.total + other.total)
    assert not isinstance(one, Spread)
    assert not isinstance(other, Spread)
    return one + other


def _as_json(value: float | Spread) -> Any:
    return [value.counts, value.total] if isinstance(value, Spread) else value


def _has_counted(value: float | Spread) -> bool:
    return any(value.counts) if isinstance(value, Spread) else value != 0
