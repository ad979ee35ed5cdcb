"""A URL stands in a person's message, or it does not."""

from __future__ import annotations

import time

import pytest

from agent.web.verbatim import stands_in

URL = "https://a.example/x?y=1"


@pytest.mark.parametrize(
    "text",
    [URL, f"read {URL}", f"({URL})", f"<{URL}>", f"{URL}.", f"see {URL}, please", f"[x]({URL})",
     f"{URL}2 but {URL}"],
)  # fmt: skip
def test_a_url_that_the_person_wrote_stands_there(text: str) -> None:
    assert stands_in(URL, text)


@pytest.mark.parametrize(
    "text", ["", URL[:-1], f"{URL}2", f"{URL}/more", f"{URL}.b", f"http://e.example/?{URL}"]
)
def test_the_beginning_or_the_end_of_another_does_not(text: str) -> None:
    assert not stands_in(URL, text)


def test_what_is_no_url_does_not() -> None:
    assert not stands_in("a", "a")
    assert not stands_in("", "")


def test_a_text_full_of_one_url_takes_little_time() -> None:
    began = time.process_time()
    assert not stands_in("http://a", "http://a," * 22_000 + "x")
    assert time.process_time() - began < 1.0
