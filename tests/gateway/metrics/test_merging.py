"""What several processes have counted is added up."""

from __future__ import annotations

from gateway.clock import SystemClock
from gateway.metrics import catalog
from gateway.metrics.merging import from_rows, summed, to_rows
from gateway.metrics.meters import Meters, Reading, Spread
from tape.entry import dump, load


def counted(messages: int, *seconds: float) -> list[Reading]:
    meters = Meters(SystemClock())
    meters.know(["web"])
    meters.add(catalog.MESSAGES, "web", "new", by=messages)
    for value in seconds:
        meters.observe(catalog.ANSWER, value, "web")
    return meters.readings()


def value_of(readings: list[Reading], metric: catalog.Metric, *labels: str) -> float | Spread:
    (found,) = [one.value for one in readings if one.metric == metric and one.labels == labels]
    return found


def test_counters_and_histograms_are_added_up_and_gauges_stay() -> None:
    store = Reading(catalog.STORE, (), 1)
    elsewhere = from_rows(load(dump(to_rows([*counted(3, 0.2, 7.0), store]))))
    found = summed([*counted(2, 0.3), store], elsewhere)
    assert value_of(found, catalog.MESSAGES, "web", "new") == 5
    spread = value_of(found, catalog.ANSWER, "web")
    assert isinstance(spread, Spread)
    assert (sum(spread.counts), spread.total) == (3, 7.5)
    assert value_of(found, catalog.STORE) == 1


def test_what_another_version_counts_otherwise_is_left_out() -> None:
    name = catalog.MESSAGES.name
    spread = [catalog.ANSWER.name, ["web"], [[1, 2], 3.0]]
    assert from_rows([["gone_total", [], 1], [name, ["web"], 1], spread]) == []
