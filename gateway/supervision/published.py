"""What a process publishes of itself, so that any process serves the health and metrics of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from gateway.logs import get_log
from gateway.metrics.merging import from_rows, summed, to_rows
from gateway.metrics.meters import Reading
from gateway.services import Services
from gateway.supervision.gauges import tallies
from gateway.supervision.status import ChannelState, StatusBoard
from tape.entry import load
from tape.errors import TapeError
from tape.unit_of_work import Row

SHOWN: Final = ("state", "why", "notes", "since")
STALLED: Final = {"state": "waiting", "why": "its connection shows no sign of life"}


@dataclass(slots=True)
class Published:
    """The state of this process for the others, and theirs for this one.

    A process goes on counting where the last one of its home ended, and what the last one of
    another home has counted is added also while that is down: a sum that falls would look like a
    restart of them all.
    """

    _services: Services
    _status: StatusBoard
    _before: list[Reading] = field(default_factory=list)

    def own(self) -> dict[str, Any]:
        """Return the state of this process, for the column `worker.state`."""
        counted = [*self._services.meters.readings(), *tallies(self._services.router.channels)]
        status, stalled = self._status, self._status.stalled()
        channels = {
            name: {**_about(state), **(STALLED if name in stalled else {})}
            for name, state in status.states.items()
            if not status.waits(name)
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
            for name, about in state.get("channels", {}).items() if row["alive"] else ():
                if name not in elsewhere or about["state"] == "ready":
                    elsewhere[name] = ChannelState(**{key: about[key] for key in SHOWN})
        self._status.elsewhere = elsewhere
        self._services.meters.elsewhere = self._before + counted


async def exchanged(services: Services, status: StatusBoard) -> None:
    """Publish the state of this process, and read those of the others, until cancelled."""
    published, shared = Published(services, status), services.shared
    if shared is None:
        return
    values = {"owner": shared.held.owner, "since": -services.intervals.silent_process}
    while True:
        try:
            published.take(await services.store.select("sharing.published_states", values))
            shared.workers.publish(published.own)  # only now: it goes on counting from there
        except TapeError as lost:
            get_log().warning("states.not_read", why=lost)
        await services.clock.sleep(services.intervals.workers)


def _about(state: ChannelState) -> dict[str, Any]:
    return {name: value for name, value in asdict(state).items() if name in SHOWN}
