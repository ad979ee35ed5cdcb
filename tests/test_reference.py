"""The generated parts of docs/reference are those of this version."""

from __future__ import annotations

import re

import pytest

from tests.reference import event_sentences, route_sentences
from tests.reference.log_events import log_events
from tests.reference.pages import FOLDER, PAGES, regenerated
from tests.reference.route_table import routes


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_make_reference_writes_it(name: str) -> None:
    assert (FOLDER / name).read_text() == regenerated(name), "run `make reference`"


def test_every_event_of_the_log_has_a_sentence_and_a_dotted_name() -> None:
    found = set(log_events())
    assert found - set(event_sentences.SENTENCES) == set(), "add them to event_sentences.py"
    assert set(event_sentences.SENTENCES) - found == set(), "these are logged no more"
    assert [name for name in found if not re.fullmatch(r"[a-z]+(\.[a-z_]+)+", name)] == []


def test_every_http_route_has_a_sentence() -> None:
    found = set(routes())
    assert found - set(route_sentences.SENTENCES) == set(), "add them to route_sentences.py"
    assert set(route_sentences.SENTENCES) - found == set(), "these are served no more"
