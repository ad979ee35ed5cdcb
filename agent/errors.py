"""The errors of the agent."""

from __future__ import annotations

from typing import ClassVar


class AgentError(Exception):
    """The base class of this package's errors; `sentence` is a clause to show in the chat."""

    sentence: ClassVar[str] = "something went wrong while I was working on it"


def describe(cause: BaseException) -> str:
    """Return an error's type and message, without the halves of surrogate pairs."""
    return f"{type(cause).__name__}: {cause}".encode("utf-8", "replace").decode()


class ModelError(AgentError):
    """The model gave no answer; the message is from the provider and meant for the log.

    retry_after  the seconds that the provider asks to wait before the next call, if it does
    """

    sentence = "the model service failed"
    retry_after: float | None = None


class ContextOverflow(ModelError):
    sentence = "this conversation has become too long for the model; `,reset` starts a new one"


class KeyRefused(ModelError):  # 401 or 403
    sentence = (
        "the model service rejected the API key (the operator can set TAPEWAY_AGENT__API_KEY)"
    )


class UnknownModel(ModelError):  # 404
    sentence = (
        "the model service doesn't know the model (the operator can set TAPEWAY_AGENT__MODEL)"
    )


class WrongAddress(UnknownModel):  # 404 without `/v1`
    sentence = (
        "the model service isn't at its address (the operator can set TAPEWAY_AGENT__BASE_URL,"
        " which mostly ends with /v1)"
    )


class ServerMoved(ModelError):
    """The server redirects, which is not followed; `args` are its address and the new one or ""."""

    sentence = (
        "the model service has another address now (the operator can set TAPEWAY_AGENT__BASE_URL)"
    )

    def __init__(self, server: str, address: str) -> None:
        super().__init__(server.rstrip("/"), address)

    def __str__(self) -> str:
        server, address = self.args
        return f"{server} redirects to {address or 'another address'}, which is not followed"


class ModelBusy(ModelError):
    """A 429: the provider is over its limits; `retry_after` is the seconds to wait, if known."""

    sentence = "the model service is busy; please try again in a moment"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PlanLimit(ModelBusy):  # a limit of the day or the month, which waiting a moment won't lift
    sentence = (
        "the account's token limit at the model service is used up for now; please try again later"
        " (the operator can raise the plan's limit)"
    )


class AccountEmpty(ModelError):  # 402, `insufficient_quota`, and what others call it
    sentence = (
        "the account at the model service is empty (the operator can add credit at the provider,"
        " or set another TAPEWAY_AGENT__API_KEY)"
    )


class ModelUnreachable(ModelError):  # no connection, or no answer in time
    sentence = "I can't reach the model service; please try again later"


class ModelSlow(ModelError):
    """No answer, or no more of it, came in time; another request would take as long."""

    sentence = (
        "the model took too long; please ask again, or for less at once (the operator can raise"
        " TAPEWAY_AGENT__READ_TIMEOUT)"
    )


class ProxyDown(ModelUnreachable):
    """The proxy in the environment is not there, or refuses; the message names its variable."""


class ModelDown(ModelError):  # 5xx
    sentence = "the model service is having trouble; please try again later"


class RequestRejected(ModelError):  # any other 4xx
    sentence = "the model service rejected the request"


class OutputLimit(RequestRejected):  # a too large `max_tokens`
    sentence = (
        "the model service allows fewer output tokens than are configured (the operator can lower"
        " the maximum of output tokens)"
    )


class AnswerBroken(ModelError):  # a stream that is cut off, malformed, or has an error
    sentence = "the model's answer broke off; please ask again"


class AnswerEmpty(AnswerBroken):
    sentence = "the model said nothing; please ask again"


class ReasoningOnly(AnswerBroken):
    sentence = "the model thought about it, but gave no answer; please ask again"


class OutputUsedUp(ModelError):  # finish_reason "length" without text
    sentence = (
        "the model reached its limit for one answer before it said anything (the operator can raise"
        " the maximum of output tokens, or lower the reasoning effort)"
    )


class AnswerFiltered(ModelError):  # a prompt, or all of an answer, was filtered
    sentence = "the model service's content filter withheld the answer; please ask differently"


class AnswerRefused(ModelError):
    sentence = "the model refused to answer that"


class KeyMissing(AgentError):
    """The model's key or server is missing or unusable; the message says what to set."""


class NetworkUnusable(KeyMissing):
    """A variable of the environment keeps the gateway from the model's server."""


class StepLimit(AgentError):
    sentence = "I took too many steps without reaching an answer; please ask for less at once"


class ToolRefused(AgentError):
    """A tool call was refused; the message gives the model the reason and an alternative."""


class ToolboxError(AgentError):
    """Tools that can't be offered together."""
