"""What servers refuse, in their own words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent.errors import (
    AccountEmpty,
    AnswerFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    OutputLimit,
    PlanLimit,
)
from agent.models.overflow import by_wording

KINDS = (ContextOverflow, AccountEmpty, OutputLimit, PlanLimit, ModelBusy, AnswerFiltered)
WORDINGS = tomllib.loads((Path(__file__).parent / "wordings.toml").read_text())
CASES = [
    pytest.param(one.get("status"), one["message"], kind, id=f"{kind.__name__}: {one['server']}")
    for kind in KINDS
    for one in WORDINGS[kind.__name__]
]


@pytest.mark.parametrize(("status", "message", "kind"), CASES)
def test_a_refusal_is_known_by_its_server_s_wording(
    status: int | None, message: str, kind: type[ModelError]
) -> None:
    assert type(by_wording(status, "", message)) is kind


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error", "1261"])
def test_an_overflow_is_known_by_its_code(code: str) -> None:
    assert type(by_wording(400, code, "no")) is ContextOverflow


@pytest.mark.parametrize(
    "message",
    [
        "invalid value",
        "the image is too long",
        "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        "Input validation error: image too large",
        "the token has exceeded its lifetime",
        "Unknown parameter: 'stream_options'.",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "tools[0].function.description: string too long",
        "",
    ],
)
def test_other_refusals_are_none_of_these(message: str) -> None:
    assert by_wording(400, "invalid_request_error", message) is None


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_and_an_unknown_model_stay_what_they_are(status: int) -> None:
    assert by_wording(status, "", "the context window of this model isn't yours to use") is None


@pytest.mark.parametrize("kind", [AccountEmpty, OutputLimit, PlanLimit])
def test_each_says_what_the_operator_can_do(kind: type[ModelError]) -> None:
    assert "operator can" in kind.sentence
