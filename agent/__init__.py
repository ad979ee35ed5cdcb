"""The agent: a model, its tools, and the loop of a turn.

model openai_model offline_model fallback retry models   whom we ask
tool toolbox calls tools/ subagents                what it may do
loop log prompt events                             one turn
meter anchors handoffs                             how long a view may be, and where it begins
"""

from agent.errors import AgentError, ModelError
from agent.events import AgentEvent
from agent.tool import Arguments, Role, Tool, ToolContext

__all__ = ["AgentError", "AgentEvent", "Arguments", "ModelError", "Role", "Tool", "ToolContext"]
