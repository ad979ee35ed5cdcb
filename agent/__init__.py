"""The agent asks a model, runs the tools that the model calls, and repeats until it answers.

model  models/  settings                             the model and its providers
tool  tool_decorator  toolbox  tool_runner  tools/   the tools
powers                                               who may do what
subagents  process_pool                              tools that work on a fork or in a process
loop  hooks  turn_log  events  errors                one turn
system_prompt  token_meter  handoffs  anchors        what a prompt contains
simple  testing                                      one answer without a gateway; a model for tests
"""

from agent.errors import (
    AccountEmpty,
    AgentError,
    AnswerBroken,
    AnswerEmpty,
    AnswerFiltered,
    AnswerRefused,
    ContextOverflow,
    KeyMissing,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelUnreachable,
    OutputLimit,
    OutputUsedUp,
    PlanLimit,
    ReasoningOnly,
    RequestRejected,
    StepLimit,
    ToolboxError,
    ToolRefused,
    UnknownModel,
)
from agent.events import AgentEvent
from agent.hooks import LoopHooks, NoHooks
from agent.loop import Task, run_turn
from agent.model import (
    ChatModel,
    ModelReply,
    ModelRequest,
    Piece,
    ReasoningPiece,
    ResetPiece,
    TextPiece,
    ToolCall,
)
from agent.model_settings import ModelSettings
from agent.models.registry import make_model
from agent.settings import AgentSettings
from agent.simple import answer
from agent.tool import Arguments, Chats, NoArguments, Role, Tool, ToolContext

# This hides the module agent.tool as an attribute; `from agent.tool import ...` still works.
from agent.tool_decorator import tool
from agent.turn_log import TurnLog

__all__ = [
    "AccountEmpty",
    "AgentError",
    "AgentEvent",
    "AgentSettings",
    "AnswerBroken",
    "AnswerEmpty",
    "AnswerFiltered",
    "AnswerRefused",
    "Arguments",
    "ChatModel",
    "Chats",
    "ContextOverflow",
    "KeyMissing",
    "KeyRefused",
    "LoopHooks",
    "ModelBusy",
    "ModelDown",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "ModelSettings",
    "ModelUnreachable",
    "NoArguments",
    "NoHooks",
    "OutputLimit",
    "OutputUsedUp",
    "Piece",
    "PlanLimit",
    "ReasoningOnly",
    "ReasoningPiece",
    "RequestRejected",
    "ResetPiece",
    "Role",
    "StepLimit",
    "Task",
    "TextPiece",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolRefused",
    "ToolboxError",
    "TurnLog",
    "UnknownModel",
    "answer",
    "make_model",
    "run_turn",
    "tool",
]
