"""People see what the model wrote: some hundreds of the texts that `make shown` looks at."""

from __future__ import annotations

import pytest

from tests.kit.examples import number
from tests.shown.compare import missing
from tests.shown.growing import faults
from tests.shown.installed import sections
from tests.shown.run import fault_on
from tests.shown.targets import TARGETS, in_plain_text
from tests.shown.texts import Written, written

TEXTS = number(600)
SECTIONS = number(150)
GROWING = number(60)


@pytest.mark.parametrize("target", TARGETS)
def test_each_run_of_a_generated_text_is_shown(target: str) -> None:
    found = {seed: fault_on(target, written(seed)) for seed in range(TEXTS)}
    assert {seed: fault for seed, fault in found.items() if fault} == {}


def test_each_run_is_shown_in_plain_text() -> None:
    for text in [written(seed).text for seed in range(TEXTS)]:
        assert missing(text, in_plain_text(text)) is None


@pytest.mark.parametrize("target", TARGETS)
def test_each_run_of_a_text_by_others_is_shown(target: str) -> None:
    found = [fault_on(target, Written(text)) for text in sections(SECTIONS)]
    assert [fault for fault in found if fault] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_text_that_grows_shows_nothing_that_the_whole_does_not(target: str) -> None:
    found = {seed: faults(target, written(seed).text) for seed in range(GROWING)}
    assert {seed: fault for seed, fault in found.items() if fault} == {}


def test_equal_seeds_give_equal_texts_and_others_give_others() -> None:
    assert written(7) == written(7)
    assert len({written(seed).text for seed in range(50)}) == 50


def test_some_texts_are_many_messages() -> None:
    assert len(TARGETS["discord"](written(39).text).messages) > 2


def test_a_target_that_loses_a_word_is_found() -> None:
    text = "one two three"
    for target, show in TARGETS.items():
        assert missing(text, show(text)) is None, target
        assert missing(text, show("one three")) == "'two' in 'one two three'", target
