"""What a process publishes of itself, so that any process serves the health and metrics of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gateway.logs import get_log
from gateway.metrics.merging import from_rows, summed, to_rows
from gateway.metrics.meters import Reading
from gateway.services import Services
from gateway.sharing.rooms import SILENT_SECONDS
from gateway.sharing.workers import SEEN_SECONDS
from gateway.supervision.gauges import tallies
from gateway.supervision.status import ChannelState, StatusBoard
from tape.entry import load
from tape.errors import TapeError
from tape.unit_of_work import Row


@dataclass(slots=True)
class Published:
    """Exchanges the state of this process for that of the others, each few seconds.

    A process goes on counting where the last one of its home ended, and what the last one of
    another home has counted is added also while that is down: a sum that falls would look like a
    restart of them all.
    """

    _services: Services
    _status: StatusBoard
    _before: list[Reading] = field(default_factory=list)

    async def run(self) -> None:
        """Read what the others publish until cancelled."""
        while (shared := self._services.shared) is not None:
            values = {"owner": shared.held.owner, "since": -SILENT_SECONDS}
            try:
                self.take(await self._services.store.select("sharing.published_states", values))
            except TapeError as lost:
                get_log().warning("states.not_read", why=str(lost))
            await self._services.clock.sleep(SEEN_SECONDS)

    def own(self) -> dict[str, Any]:
        """Return the state of this process, for the column `worker.state`."""
        counted = [*self._services.meters.readings(), *tallies(self._services.router.channels)]
        stalled = self._status.stalled()
        channels = {
            name: {"state": "stalled" if name in stalled else state.state, **_about(state)}
            for name, state in self._status.states.items()
        }
        return {"channels": channels, "counts": to_rows(summed(counted, self._before))}

    def take(self, rows: Iterable[Row]) -> None:
        """Take the newest rows of all homes: the `state`, and if it is `alive`, or of our home."""
        elsewhere: dict[str, ChannelState] = {}
        counted: list[Reading] = []
        for row in rows:
            state = load(row["state"])
            if row["is_own_home"]:
                self._before = self._before or from_rows(state.get("counts", ()))
                continue
            counted += from_rows(state.get("counts", ()))
            found = state.get("channels", {}).items() if row["alive"] else ()
            elsewhere |= {name: _state(one) for name, one in found if one["state"] == "ready"}
        self._status.ready_elsewhere = elsewhere
        self._services.meters.elsewhere = self._before + counted


def _about(state: ChannelState) -> dict[str, Any]:
    return {name: value for name, value in asdict(state).items() if name in ("since", "notes")}


def _state(about: Mapping[str, Any]) -> ChannelState:
    return ChannelState("ready", notes=list(about["notes"]), since=about["since"])
