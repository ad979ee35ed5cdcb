"""Counting a prompt before it is sent."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agent.testing import new_tape
from agent.token_meter import (
    MAX_RATIO,
    MIN_RATIO,
    MIN_SAMPLE_TOKENS,
    Meter,
    can_count_exactly,
    estimate_request,
    exact_counter,
)
from tape.entry import event
from tape.tokens import TOKENS_PER_MESSAGE, estimate

PROMPT = [{"role": "user", "content": "x" * 4000}]

TIKTOKEN = """
class Encoding:
    def encode_ordinary(self, text):
        return text.split()

def encoding_for_model(name):
    if name == "away":
        raise ConnectionError("no network")
    if name != "known":
        raise KeyError(name)
    return Encoding()
"""


@pytest.fixture
def tiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package in place that counts words; the real one fetches its vocabularies."""
    (tmp_path / "tiktoken.py").write_text(TIKTOKEN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "tiktoken", raising=False)


def step(used: object, estimated: object = 1000, model: str = "m") -> dict[str, Any]:
    return {"model": model, "usage": {"prompt_tokens": used}, "estimate": estimated}


async def test_at_first_the_estimate_is_taken_as_it_is() -> None:
    assert await Meter().count("m", PROMPT) == estimate(PROMPT)


async def test_it_comes_nearer_to_the_provider_s_usage_with_each_call() -> None:
    meter = Meter()
    ratios = []
    for _call in range(12):
        meter.learn("m", step(1500))
        ratios.append(meter.ratio("m"))
    assert ratios == sorted(ratios)
    assert ratios[0] == pytest.approx(1.15)
    assert ratios[-1] == pytest.approx(1.5, abs=0.01)
    assert await meter.count("m", PROMPT) == round(estimate(PROMPT) * ratios[-1])
    assert meter.as_estimate("m", 1500) == int(1500 / ratios[-1])


@pytest.mark.parametrize(("used", "bound"), [(10, MIN_RATIO), (90_000, MAX_RATIO)])
def test_the_provider_s_usage_moves_it_within_bounds_only(used: int, bound: float) -> None:
    meter = Meter()
    for _call in range(50):
        meter.learn("m", step(used))
    assert meter.ratio("m") == pytest.approx(bound, abs=0.001)


@pytest.mark.parametrize(
    "used",
    [
        step(0),
        step(None),
        step("many"),
        step(True),
        step(5000, None),
        step(5000, MIN_SAMPLE_TOKENS - 1),
        {"usage": None},
        {},
    ],
)
def test_a_missing_or_too_small_usage_teaches_nothing(used: dict[str, Any]) -> None:
    meter = Meter()
    meter.learn("m", used)
    assert meter.ratio("m") == 1.0


def test_each_model_has_its_own_ratio_under_the_name_by_which_it_answers() -> None:
    meter = Meter()
    meter.learn("m", step(2000, model="m-2026-01-01"))
    assert meter.ratio("m") == meter.ratio("m-2026-01-01") == pytest.approx(1.3)
    assert meter.ratio("other") == 1.0


async def test_after_a_restart_it_learns_from_the_tape_once() -> None:
    tape = new_tape()
    await tape.append(*[event("loop.step", step(2000))] * 3)
    meter = Meter()
    await meter.recall("m", tape)
    learnt = meter.ratio("m")
    assert learnt > 1.5
    await tape.append(*[event("loop.step", step(500))] * 3)
    await meter.recall("m", tape)
    assert meter.ratio("m") == learnt


def test_the_tools_are_estimated_too_and_images_are_not() -> None:
    tools = [{"type": "function", "function": {"name": "x" * 400}}]
    assert (estimate_request(PROMPT, tools) or 0) > estimate(PROMPT) + 100
    assert estimate_request([{"role": "user", "content": [{"type": "image_url"}]}], ()) is None


# With a vocabulary


@pytest.mark.skipif(find_spec("tiktoken") is not None, reason="the package is installed")
async def test_without_the_package_the_estimate_is_used() -> None:
    assert not can_count_exactly()
    assert await Meter("exact").count("known", PROMPT) == estimate(PROMPT)


@pytest.mark.usefixtures("tiktoken")
async def test_with_the_package_words_of_the_model_s_own_are_counted() -> None:
    prompt: list[dict[str, Any]] = [
        {"role": "user", "content": "one two three"},
        {"role": "user", "content": [{"type": "text", "text": "four five"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]},
    ]
    meter = Meter("exact")
    assert can_count_exactly()
    for _again in range(2):
        assert await meter.count("known", prompt) == 3 + 2 + 1 + 3 * TOKENS_PER_MESSAGE
    assert await meter.count("vendor/known", prompt) == 3 + 2 + 1 + 3 * TOKENS_PER_MESSAGE


@pytest.mark.usefixtures("tiktoken")
async def test_a_long_prompt_is_counted_beside_the_event_loop() -> None:
    prompt = [{"role": "user", "content": "word " * 20_000}]
    assert await Meter("exact").count("known", prompt) == 20_000 + TOKENS_PER_MESSAGE


@pytest.mark.usefixtures("tiktoken")
@pytest.mark.parametrize("model", ["unheard-of", "away"])
async def test_a_model_without_a_vocabulary_is_estimated(model: str) -> None:
    assert exact_counter(model) is None
    assert await Meter("exact").count(model, PROMPT) == estimate(PROMPT)
