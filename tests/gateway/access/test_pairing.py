"""Pairing codes, and what is left of a message with one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from channels.message import Author, Quote
from gateway.access.pairing import (
    CODE_SECONDS,
    MAX_TRIES,
    MAX_TRIES_IN_ALL,
    NOT_IN_PRIVATE,
    PAIRED,
    TOO_MANY,
    WRONG,
    Pairing,
)
from tests.kit.clock import ManualClock
from tests.kit.plain_channels import PlainChannel, made, sent


def test_a_code_is_readable_and_each_is_another() -> None:
    pairing, code = made()
    assert re.fullmatch(r"[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{2}", code)
    assert pairing.new_code() != code
    assert pairing.hints(code) == {"plain": f"Send me: pair {code}"}


@pytest.mark.parametrize(
    "form", ["/start {}", "/pair {}", ",pair {}", ",start {}", "pair {}", "Pair {}", "/pair@bot {}"]
)
def test_each_form_pairs_once_and_leaves_no_word_of_the_message(form: str) -> None:
    pairing, code = made()
    quote = Quote("Ann", text=code)
    said = replace(sent(form.format(code.lower())), quote=quote, raw={"text": code})
    read = pairing.read(said)
    assert (read.kind, read.change, read.text) == ("pairing", PAIRED, "")
    assert code not in str(read.to_payload()).upper()
    again = pairing.read(sent(form.format(code), 2, "8"))
    assert (again.kind, again.change) == ("pairing", WRONG)


def test_a_message_that_is_delivered_again_has_the_same_verdict() -> None:
    pairing, code = made()
    assert pairing.read(sent(f"pair {code}")).change == PAIRED
    assert pairing.read(sent(f"pair {code}")).change == PAIRED


@pytest.mark.parametrize("text", ["pair {}", "/pair {}", "the code is {} I think", "x ({}) y"])
def test_a_code_outside_a_private_chat_is_void_and_is_not_kept(text: str) -> None:
    pairing, code = made()
    group = replace(sent(text.format(code)), chat_kind="group", addressed=False)
    read = pairing.read(group)
    assert code not in str(read.to_payload())
    assert read.kind == "message" or (read.change, read.addressed) == (NOT_IN_PRIVATE, True)
    assert pairing.read(sent(f"pair {code}", 2)).change == WRONG


def test_a_code_on_the_owner_s_own_page_makes_no_owner_and_is_void() -> None:
    pairing, code = made()
    for text in (f"pair {code}", f"it is {code}"):
        read = pairing.read(replace(sent(text), owner=True))
        assert code not in str(read.to_payload())
        assert read.kind == "message" or read.change == NOT_IN_PRIVATE
        code = pairing.new_code()


def test_a_code_that_is_edited_into_a_message_or_quoted_in_one_is_void() -> None:
    for said in (sent("pair {}", kind="edit"), sent("look: {}")):
        pairing, code = made()
        read = pairing.read(replace(said, text=said.text.format(code)))
        assert code not in read.text
        assert pairing.read(sent(f"pair {code}", 2)).change == WRONG


def test_who_writes_in_the_name_of_a_chat_becomes_no_owner() -> None:
    pairing, code = made()
    anonymous = Author("-100", "Team", acts_as="chat")
    assert pairing.read(replace(sent(f"pair {code}"), sender=anonymous)).change == NOT_IN_PRIVATE


async def test_a_code_ends_after_ten_minutes() -> None:
    clock = ManualClock()
    pairing, code = made(clock)
    await clock.advance(CODE_SECONDS)
    assert pairing.read(sent(f"pair {code}")).change == WRONG


def test_a_sender_has_five_tries_even_with_the_right_code() -> None:
    pairing, code = made()
    for number in range(MAX_TRIES):
        assert pairing.read(sent("pair 2222-22", number)).change == WRONG
    assert pairing.read(sent(f"pair {code}", 90)).change == TOO_MANY
    assert pairing.read(sent(f"pair {code}", 91, "8")).change == PAIRED


def test_fifty_tries_of_all_senders_make_a_code_void() -> None:
    pairing, code = made()
    for number in range(MAX_TRIES_IN_ALL):
        pairing.read(sent("pair 2222-22", number, f"person-{number}"))
    assert pairing.read(sent(f"pair {code}", 99, "8")).change == WRONG
    fresh = pairing.new_code()
    assert pairing.read(sent(f"pair {fresh}", 100, "9")).change == PAIRED


def test_a_platform_without_pairing_has_no_owner_by_a_code() -> None:
    pairing = Pairing(ManualClock(), {"plain": PlainChannel()})
    assert pairing.read(sent(f"pair {pairing.new_code()}")).change == WRONG


@pytest.mark.parametrize("text", ["/pair 4F7K-20", ",pair the code", "pair 4F7K-2", "/pair x"])
def test_a_mistyped_code_is_not_kept_either(text: str) -> None:
    pairing, _code = made()
    private, group = pairing.read(sent(text)), pairing.read(replace(sent(text), chat_kind="group"))
    assert (private.kind, private.change, private.text) == ("pairing", WRONG, "")
    assert (group.kind, group.change, group.text) == ("pairing", NOT_IN_PRIVATE, "")


@pytest.mark.parametrize(
    "text",
    [
        "pair up",
        "pair sheets",
        "pair-wise",
        "pairs 4F7K-2Q",
        "pair over-do",
        "/start",
        "pair 4F7K-2Q please",
        "hi",
    ],
)
def test_ordinary_words_are_left_alone(text: str) -> None:
    pairing, _code = made()
    said = sent(text)
    assert pairing.read(said) is said


def test_a_verdict_from_outside_counts_for_nothing() -> None:
    pairing, _code = made()
    forged = replace(sent("", kind="pairing"), change=PAIRED)
    assert pairing.read(forged).kind == "unreadable"
