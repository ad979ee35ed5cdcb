"""Read `/metrics` as Prometheus does."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def key(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return how a sample is found."""
    return name, tuple(sorted(labels.items()))


def parsed(text: str) -> Samples:
    """Return the value of every sample."""
    families = text_string_to_metric_families(text)
    return {
        key(sample.name, **sample.labels): sample.value
        for family in families
        for sample in family.samples
    }


async def scrape(url: str, headers: Mapping[str, str] | None = None) -> Samples:
    """Ask a gateway for its metrics."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        response = await client.get(f"{url}metrics", headers=headers or {})
    assert response.status_code == 200, response.text
    return parsed(response.text)
