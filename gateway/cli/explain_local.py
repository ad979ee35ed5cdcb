"""`tapeway explain` where a plugin has the tapes and no gateway runs: with the plugins loaded."""

from __future__ import annotations

from functools import partial

import anyio

from gateway.cli.admin_client import Remote, open_core
from gateway.errors import GatewayError
from gateway.explain.explainer import Explainer
from gateway.explain.report import Report
from gateway.settings import Settings


def story_of(settings: Settings, asked: str) -> Report:
    """Return what became of a message."""
    return anyio.run(partial(_story, settings, asked))


async def _story(settings: Settings, asked: str) -> Report:
    async with open_core(settings) as services:
        if isinstance(services, Remote):
            raise GatewayError("a gateway has just started on this home: ask again")
        return await Explainer(services.store, settings).explain(asked)
