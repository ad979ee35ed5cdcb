"""All scenarios."""

from __future__ import annotations

from tests.model_servers.endings import ENDINGS
from tests.model_servers.limits import LIMITS
from tests.model_servers.oddities import ODDITIES
from tests.model_servers.reasoning import REASONING
from tests.model_servers.refusals import REFUSALS
from tests.model_servers.round_trips import ROUND_TRIPS
from tests.model_servers.scenario import Scenario
from tests.model_servers.shapes import SHAPES

SCENARIOS: tuple[Scenario, ...] = (
    *ROUND_TRIPS,
    *REASONING,
    *SHAPES,
    *ODDITIES,
    *ENDINGS,
    *REFUSALS,
    *LIMITS,
)
