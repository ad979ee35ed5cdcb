"""All scenarios, and those that do not hold yet."""

from __future__ import annotations

from tests.model_servers.endings import ENDINGS
from tests.model_servers.limits import LIMITS
from tests.model_servers.reasoning import REASONING
from tests.model_servers.refusals import REFUSALS
from tests.model_servers.round_trips import ROUND_TRIPS
from tests.model_servers.scenario import Scenario
from tests.model_servers.shapes import SHAPES

SCENARIOS: tuple[Scenario, ...] = (*ROUND_TRIPS, *REASONING, *SHAPES, *ENDINGS, *REFUSALS, *LIMITS)

NOT_YET: frozenset[str] = frozenset(
    {
        "Azure: the prompt is filtered",
        "Silence after the last chunk",
        "Cut after [DONE]",
        "The base URL lacks /v1",
    }
)
"""Names of scenarios that do not hold yet: the bench plays them, the gate does not."""
