"""What can go wrong between us and a model.

AgentError
+-- ModelError          the model gave no answer; `sentence` is fit for a chat
|   +-- ContextOverflow     the provider says that the prompt is too long
|   +-- KeyRefused          401 or 403
|   +-- UnknownModel        404
|   +-- ModelBusy           429; `retry_after` in seconds where the provider says so
|   +-- ModelUnreachable    no connection, or no answer in time
|   +-- ModelDown           5xx
|   +-- RequestRejected     any other 4xx
|   +-- AnswerBroken        a cut, empty or malformed stream, or an error inside it
+-- KeyMissing          a model is named and no key: nothing is started
+-- StepLimit           the model went on calling tools past the limit
+-- ToolRefused         a tool call that is not made; its text is for the model
+-- ToolboxError        tools that cannot be offered together
"""

from __future__ import annotations

from typing import ClassVar


class AgentError(Exception):
    """The root of every error of this package; `sentence` is what a person in a chat may read."""

    sentence: ClassVar[str] = "something went wrong while I was working on it"


class ModelError(AgentError):
    """The model gave no answer; the message is the provider's, for the log."""

    sentence = "the model service failed"


class ContextOverflow(ModelError):
    """The provider says that the prompt is longer than the model's context."""

    sentence = "this conversation has become too long for the model; `,reset` starts afresh"


class KeyRefused(ModelError):
    """The provider refused the key."""

    sentence = "the model service refused our key (the operator sets TAPEWAY_AGENT__API_KEY)"


class UnknownModel(ModelError):
    """The provider has no model of that name."""

    sentence = "the model service does not know the model (the operator sets TAPEWAY_AGENT__MODEL)"


class ModelBusy(ModelError):
    """The provider asks to come back later; `retry_after` is in seconds, None if it did not say."""

    sentence = "the model service is busy; please try again in a moment"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelUnreachable(ModelError):
    """No connection, or no answer in time."""

    sentence = "the model service cannot be reached; please try again later"


class ModelDown(ModelError):
    """The provider failed on its side."""

    sentence = "the model service is having trouble; please try again later"


class RequestRejected(ModelError):
    """The provider did not accept the request."""

    sentence = "the model service did not accept the request"


class AnswerBroken(ModelError):
    """A stream that was cut, empty or malformed, or that carried an error."""

    sentence = "the model's answer broke off; please ask again"


class KeyMissing(AgentError):
    """A model is named that needs a key, and there is none; the message names the remedy."""


class StepLimit(AgentError):
    """The model went on calling tools past the limit."""

    sentence = "I took too many steps without coming to an answer; please ask in smaller pieces"


class ToolRefused(AgentError):
    """A call that is not made; the message tells the model why and what to do instead."""


class ToolboxError(AgentError):
    """Tools that cannot be offered together."""
