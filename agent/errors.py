"""The errors of the agent.

AgentError
+-- ModelError          the model gave no answer
|   +-- ContextOverflow     the prompt is too long for the model
|   +-- KeyRefused          401 or 403
|   +-- UnknownModel        404
|   +-- ModelBusy           429
|   +-- ModelUnreachable    no connection, or no answer in time
|   +-- ModelDown           5xx
|   +-- RequestRejected     any other 4xx
|   +-- AnswerBroken        a stream that is cut, empty or malformed, or carries an error
+-- KeyMissing          the configured model needs a key, and there is none
+-- StepLimit           the model still called tools in its last step
+-- ToolRefused         a tool call that is not made
+-- ToolboxError        tools that can't be offered together
"""

from __future__ import annotations

from typing import ClassVar


class AgentError(Exception):
    """The root of this package's errors; `sentence` is a clause that the chat may show."""

    sentence: ClassVar[str] = "something went wrong while I was working on it"


class ModelError(AgentError):
    """The model gave no answer; the message is the provider's and meant for the log."""

    sentence = "the model service failed"


class ContextOverflow(ModelError):
    sentence = "this conversation has become too long for the model; `,reset` starts a new one"


class KeyRefused(ModelError):
    sentence = (
        "the model service rejected the API key (the operator can set TAPEWAY_AGENT__API_KEY)"
    )


class UnknownModel(ModelError):
    sentence = (
        "the model service doesn't know the model (the operator can set TAPEWAY_AGENT__MODEL)"
    )


class ModelBusy(ModelError):
    """The provider is over its limits; `retry_after` is in seconds, None if unknown."""

    sentence = "the model service is busy; please try again in a moment"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelUnreachable(ModelError):
    sentence = "I can't reach the model service; please try again later"


class ModelDown(ModelError):
    sentence = "the model service is having trouble; please try again later"


class RequestRejected(ModelError):
    sentence = "the model service rejected the request"


class AnswerBroken(ModelError):
    sentence = "the model's answer broke off; please ask again"


class KeyMissing(AgentError):
    """The configured model needs a key, and there is none; the message says what to set."""


class StepLimit(AgentError):
    sentence = "I took too many steps without reaching an answer; please ask for less at once"


class ToolRefused(AgentError):
    """A tool call that is not made; the message gives the model the reason and a way out."""


class ToolboxError(AgentError):
    """Tools that can't be offered together."""
