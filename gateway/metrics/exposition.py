"""`/metrics` as Prometheus and OpenMetrics read it: rendered in a thread, once a second at most.

Who asks within the same second gets the same bytes, so a second scraper costs nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

import anyio.to_thread
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.metrics.catalog import OWN, Metric
from gateway.metrics.merging import summed
from gateway.metrics.meters import Meters, Reading, Spread

FRESH_SECONDS: Final = 1.0
Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
States = Callable[[], Awaitable[list[Reading]]]  # reads what is not counted but looked up


class _Readings(Collector):
    """What the registry shows beside the process: the readings of one moment."""

    def __init__(self) -> None:
        self.now: Sequence[Reading] = ()

    def collect(self) -> Iterable[Family]:
        families = {metric.name: _family(metric) for metric in OWN}
        for reading in self.now:
            _add(families[reading.metric.name], reading)
        return families.values()


class Exposition:
    """Answers requests for the metrics of one gateway."""

    def __init__(self, meters: Meters, states: States) -> None:
        self._meters = meters
        self._states = states
        self._clock = meters.clock
        self._lock = anyio.Lock()
        self._readings = _Readings()
        self._registry = CollectorRegistry()
        self._registry.register(self._readings)
        ProcessCollector(registry=self._registry)
        self._rendered: dict[bool, tuple[float, bytes]] = {}

    def route(self) -> Route:
        return Route("/metrics", self._respond)

    async def _respond(self, request: Request) -> Response:
        """Answer in the format that the request accepts."""
        _encoder, wanted = choose_encoder(request.headers.get("accept", ""))
        is_open = wanted.startswith("application/openmetrics-text")
        media = openmetrics.CONTENT_TYPE_LATEST if is_open else CONTENT_TYPE_PLAIN_0_0_4
        return Response(await self.render(is_open=is_open), media_type=media)

    async def render(self, *, is_open: bool = False) -> bytes:
        """Return the metrics as text, or in the format of OpenMetrics."""
        async with self._lock:
            at, body = self._rendered.get(is_open, (float("-inf"), b""))
            if self._clock.monotonic() - at >= FRESH_SECONDS:
                own = [*self._meters.readings(), *await self._states()]
                self._readings.now = summed(own, self._meters.elsewhere)
                encode = openmetrics.generate_latest if is_open else generate_latest
                body = await anyio.to_thread.run_sync(encode, self._registry)
                self._rendered[is_open] = (self._clock.monotonic(), body)
            return body


def _family(metric: Metric) -> Family:
    if metric.kind == "counter":
        return CounterMetricFamily(metric.name, metric.text, labels=metric.labels)
    if metric.kind == "gauge":
        return GaugeMetricFamily(metric.name, metric.text, labels=metric.labels)
    return HistogramMetricFamily(metric.name, metric.text, labels=metric.labels)


def _add(family: Family, reading: Reading) -> None:
    value = reading.value
    if isinstance(family, HistogramMetricFamily):
        assert isinstance(value, Spread)
        names = [*(str(float(bound)) for bound in reading.metric.buckets), "+Inf"]
        sums = list(zip(names, accumulate(value.counts), strict=True))
        family.add_metric(reading.labels, sums, value.total)
    else:
        assert not isinstance(value, Spread)
        family.add_metric(reading.labels, value)
