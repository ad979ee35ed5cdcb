"""How a message of a person reads to a model."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from channels.message import Sender
from gateway.frame import frame
from tests.gateway.test_access import MESSAGE

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def test_a_group_s_message_has_chat_author_id_and_its_own_time_and_is_quoted() -> None:
    message = replace(
        MESSAGE, chat_title="Ops", thread_id="5", sender=Sender("7", "Ada"), text="one\ntwo"
    )
    assert frame(message) == "[Ops | thread 5 | Ada (id 7) | 2026-01-01 00:00 UTC]\n> one\n> two"


def test_a_private_message_is_not_quoted() -> None:
    message = replace(MESSAGE, chat_kind="private", sender=Sender("7", "Ada"), text="one")
    assert frame(message) == "[private chat | Ada (id 7) | 2026-01-01 00:00 UTC]\none"


@given(text=TEXT, name=TEXT, title=TEXT)
@settings(deadline=None)
def test_g2_nothing_that_a_person_writes_or_is_called_looks_like_a_header(
    text: str, name: str, title: str
) -> None:
    message = replace(MESSAGE, text=text, sender=Sender("7", name), chat_title=title)
    header, *lines = frame(message).split("\n")
    assert header.count("[") == header.count("]") == 1
    assert lines
    assert all(line.startswith(">") for line in lines)


@given(text=TEXT)
@settings(deadline=None)
def test_g3_the_frame_of_a_message_is_the_same_each_time(text: str) -> None:
    message = replace(MESSAGE, text=text)
    assert frame(message) == frame(message)
