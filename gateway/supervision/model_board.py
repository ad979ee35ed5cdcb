"""What is known about the model in use: what a probe saw, and what was learned since the start."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta
from typing import Any, Final

import anyio
import orjson

from agent.models.learned import Learned
from agent.models.offline import OFFLINE
from agent.models.probe import Probe, Probed, ProbedModel
from agent.models.registry import make_probed
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.settings import Settings

ASKED_EVERY: Final = timedelta(hours=1)
MEMORY: Final = "model-probe.json"
"""The file in the home folder that remembers, across restarts, which models were asked and when."""


class ModelBoard:
    """Probes the model in use, and keeps what operators should know about the models."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._path = settings.home_path / MEMORY
        self.learned = Learned(clock.now)
        self.finding: Probed | None = None

    def begin(self, settings: Settings, learned: Learned, finding: Probed) -> None:
        """Go on with another model, which has been asked already."""
        self._settings, self.learned, self.finding = settings, learned, finding

    async def probe(self) -> Probed | None:
        """Look at the server, and ask the model unless it was asked within the last hour."""
        settings = self._settings
        if not settings.agent.probe or settings.agent.model == OFFLINE:
            return None
        model = make_probed(settings.agent, settings.model(), self.learned)
        try:
            probe = Probe(model, self._clock.monotonic)
            finding = await probe.look() or await self._ask(probe, model)
        finally:
            with anyio.CancelScope(shield=True):
                await model.aclose()
        if settings is not self._settings:  # another model has begun meanwhile
            return self.finding
        self.finding = finding
        log = get_log().info if finding.well else get_log().warning
        log("model.probed", what=finding.sentence)
        return finding

    def notes(self) -> list[str]:
        """Return what operators should know about the models, one line each."""
        found = [self.finding.sentence] if self.finding else []
        return [*found, *map(str, self.learned.lessons())]

    async def _ask(self, probe: Probe, model: ProbedModel) -> Probed:
        asked = self._remembered()
        if model.identity in asked:
            at, sentence, well = asked[model.identity]
            return Probed(f"{sentence} (asked at {at:%H:%M} UTC)", well)
        finding = await probe.ask()
        if not finding.free:
            asked[model.identity] = (self._clock.now(), finding.sentence, finding.well)
            self._remember(asked)
        return finding

    def _remembered(self) -> dict[str, tuple[datetime, str, bool]]:
        """Return what was asked within the last hour; an unreadable file remembers nothing."""
        since = self._clock.now() - ASKED_EVERY
        found: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            found = orjson.loads(self._path.read_bytes())
        with contextlib.suppress(AttributeError, TypeError, ValueError):
            rows = {
                key: (datetime.fromisoformat(at), str(sentence), bool(well))
                for key, (at, sentence, well) in found.items()
            }
            return {key: row for key, row in rows.items() if since < row[0] <= self._clock.now()}
        return {}

    def _remember(self, asked: dict[str, tuple[datetime, str, bool]]) -> None:
        with contextlib.suppress(OSError):
            self._path.write_bytes(orjson.dumps(asked))
            self._path.chmod(0o600)
