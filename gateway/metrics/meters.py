"""Counts of what happens, as plain numbers: no lock and no library on a message's way.

They begin at 0 with the process. Everything is counted on the event loop, and what counts once in
the database (turns, their usage, sends) is counted after its commit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from gateway.clock import Clock
from gateway.metrics.catalog import CHANNEL, COST, FIRST_TEXT, MODEL, OUTCOME, OWN, TURNS, Metric
from tape.entry import parse_date

OTHER: Final = "other"
"""The label of a channel that does not run, and of a model that the settings don't name."""

MAX_UNSENT: Final = 4096
"""Maximum answers on their way whose question's time is remembered; the inbox has the others'."""

Labels = tuple[str, ...]


@dataclass(slots=True)
class Spread:
    """The observations of a histogram: how many in each bucket, then above all, and their sum."""

    counts: list[int]
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric shows for one combination of labels."""

    metric: Metric
    labels: Labels
    value: float | Spread


@dataclass(slots=True)
class Meters:
    """The counters and histograms of one gateway."""

    clock: Clock
    elsewhere: list[Reading] = field(default_factory=list)  # what other processes have counted
    _names: set[str] = field(default_factory=set)
    _counts: dict[str, dict[Labels, float]] = field(default_factory=dict)
    _spreads: dict[str, dict[Labels, Spread]] = field(default_factory=dict)
    _unsent: OrderedDict[str, str] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        counted = [metric for metric in OWN if not metric.looked_up]
        self._counts = {metric.name: {} for metric in counted if metric.kind == "counter"}
        self._spreads = {metric.name: {} for metric in counted if metric.kind == "histogram"}
        self._names.update(outcome for metric in OWN for outcome in metric.outcomes)
        self.know()

    def know(
        self,
        channels: Iterable[str] = (),
        models: Iterable[str] = (),
        unpriced: Collection[str] = (),
    ) -> None:
        """Begin the counts of channels and models at 0; others are counted as OTHER.

        What `unpriced` models cost is not known, which is not 0: they have no such count.
        """
        values = {CHANNEL: tuple(channels), MODEL: tuple(models)}
        self._names.update(*values.values())
        for metric in OWN:
            if metric.looked_up:
                continue
            known = {**values, OUTCOME: metric.outcomes}
            for labels in product(*(known[label] for label in metric.labels)):
                if metric is COST and labels[0] in unpriced:
                    continue
                if metric.kind == "counter":
                    self._counts[metric.name].setdefault(labels, 0)
                else:
                    self._spread(metric, labels)

    def add(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        counts = self._counts[metric.name]
        if labels not in counts:
            labels = self._bounded(labels)
        counts[labels] = counts.get(labels, 0) + by

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Add an observation to a histogram."""
        spread = self._spread(metric, self._bounded(labels))
        spread.counts[bisect_left(metric.buckets, value)] += 1
        spread.total += value

    def observe_since(self, metric: Metric, moment: str, channel: str) -> None:
        """Observe the seconds since an ISO 8601 time, if there is one."""
        if moment:
            passed = (self.clock.now() - parse_date(moment)).total_seconds()
            self.observe(metric, max(0.0, passed), channel)

    def first_text(self, moment: str, channel: str) -> None:
        """Observe the first text of an answer to a question that was accepted then."""
        self.observe_since(FIRST_TEXT, moment, channel)

    def turn_ended(self, channel: str, status: str, turn_id: str, moment: str) -> None:
        """Count a turn whose end is committed; its answer may be sent from now on."""
        self.add(TURNS, channel, status)
        if status == "done":
            self._unsent[turn_id] = moment
            if len(self._unsent) > MAX_UNSENT:
                self._unsent.popitem(last=False)

    def asked_at(self, turn_id: str) -> str:
        """Return once when a turn's question was accepted, or "" if it is not known here."""
        return self._unsent.pop(turn_id, "")

    def readings(self) -> list[Reading]:
        """Return everything counted so far, as values of their own."""
        found = [
            Reading(metric, labels, value)
            for metric in OWN
            for labels, value in self._counts.get(metric.name, {}).items()
        ]
        found += [
            Reading(metric, labels, Spread([*spread.counts], spread.total))
            for metric in OWN
            for labels, spread in self._spreads.get(metric.name, {}).items()
        ]
        return found

    def _spread(self, metric: Metric, labels: Labels) -> Spread:
        spreads = self._spreads[metric.name]
        if labels not in spreads:
            spreads[labels] = Spread([0] * (len(metric.buckets) + 1))
        return spreads[labels]

    def _bounded(self, labels: Labels) -> Labels:
        return tuple(label if label in self._names else OTHER for label in labels)
