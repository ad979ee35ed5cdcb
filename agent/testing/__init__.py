"""Test kits for authors of tools and models; they work with any test framework.

scripted  ScriptedModel answers from a script, to run the agent without a network
tools     TOOL_CHECKS check a tool: run each with the tool and arguments for a call of it
models    MODEL_CHECKS check a model: run each with a new model, which its check closes

A check that fails raises AssertionError.

    for check in TOOL_CHECKS:
        await check(roll, {"dice": 2})
"""

from agent.testing.models import MODEL_CHECKS, ModelCheck
from agent.testing.scripted import ScriptedModel, Step, asks, call, says
from agent.testing.tools import TOOL_CHECKS, ToolCheck, new_tape, run_tool

__all__ = [
    "MODEL_CHECKS",
    "TOOL_CHECKS",
    "ModelCheck",
    "ScriptedModel",
    "Step",
    "ToolCheck",
    "asks",
    "call",
    "new_tape",
    "run_tool",
    "says",
]
