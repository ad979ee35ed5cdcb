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
        "<think> in one chunk",
        "<think> split over chunks",
        "<think> byte by byte",
        "<thinking>",
        "<think> after an empty line",
        "An empty <think> of Qwen 3",
        "<think> in a completion without a stream",
        "<think>, a tool call, <think> again",
        "<think> that never ends, cut by the length",
        "<think> that never ends, and a plain stop",
        "A closing tag without an opening one, twice",
        "Magistral's [THINK], by setting",
        "A closing tag without an opening one, by setting",
        "Arguments as an object",
        "tool_calls as a dict",
        "Parallel calls that all have index 0",
        "Equal ids within a step",
        "JSON as text/plain",
        "JSON without a content type",
        "A stream called application/json",
        "A byte order mark before JSON",
        "Lines that end with CR",
        "Several data lines in an event",
        "Choices as strings, then an answer",
        "Choices as strings, always",
        "Two choices",
        "Content as a list of parts",
        "Usage with numbers for its details",
        "Choices, deltas and messages that are null",
        "Cut by the length, without text",
        "Cut by a filter, without text",
        "Azure: the prompt is filtered",
        "A refusal in its own field",
        "Reasoning only",
        "Reasoning only, cut by the length",
        "Nothing, always",
        "An empty last step after tools",
        "Silence after the last chunk",
        "The base URL lacks /v1",
    }
)
"""Names of scenarios that do not hold yet: the bench plays them, the gate does not."""
