"""Whose words a quote has, if who sent the message did not write them."""

from __future__ import annotations

from typing import Any

import pytest

from channels.message import Media, Quote
from tests.channels.telegram.raw import BOB, BOT, GROUP, Json, entity, read, said

ZED = {"id": 9, "is_bot": False, "first_name": "Zed"}
WIKI = {"id": 30, "is_bot": True, "first_name": "Wiki", "username": "wiki"}
NEWS = {"id": -300, "type": "channel", "title": "News"}


def origin(**of: Any) -> Json:
    return {"forward_origin": {"date": 1, **of}}


def quote(message: Json, **more: Any) -> Quote:
    """Return the quote of a reply to a message of Bob's."""
    found = read(said("so?", reply_to_message={"message_id": 3, "from": BOB, **message}, **more))
    assert found.quote is not None
    return found.quote


@pytest.mark.parametrize(
    ("of", "whose"),
    [
        ({"type": "user", "sender_user": ZED}, "Zed"),
        ({"type": "user", "sender_user": BOT}, "you"),
        ({"type": "hidden_user", "sender_user_name": "Mr X"}, "Mr X"),
        ({"type": "channel", "chat": NEWS, "author_signature": "Ann"}, "News (Ann)"),
        ({"type": "unheard_of"}, "somebody"),
    ],
)
def test_a_reply_to_a_forward_says_who_wrote_it(of: Json, whose: str) -> None:
    text = "See the hall."
    linked = [entity(text, "hall", "text_link", url="https://x.org")]
    found = quote({"text": text, "entities": linked, **origin(**of)})
    assert (found.author, found.author_id, found.ours) == ("Bob", "8", False)
    assert found.text == f"forwarded message of {whose}: See the [hall](https://x.org)."


def test_a_reply_to_a_forwarded_dice_says_who_threw_it() -> None:
    dice = {"dice": {"emoji": "🎲", "value": 6}}
    found = quote({**dice, **origin(type="user", sender_user=ZED)})
    assert found.text == "forwarded message of Zed"
    assert found.media == (Media("other", "dice", detail="🎲 6"),)


def test_a_channel_s_own_post_in_its_group_is_the_channel_s() -> None:
    post = {"from": BOT, "sender_chat": NEWS, "text": "hi", **origin(type="channel", chat=NEWS)}
    found = quote(post)
    assert (found.author, found.text) == ("News", "hi")
    assert quote({"text": "hi", **origin(type="user", sender_user=BOB)}).text == "hi"


def test_words_chosen_of_a_forward_are_those_of_who_wrote_it() -> None:
    chosen = {"text": "300", "is_manual": True}
    found = quote({"text": "It costs 300.", **origin(type="user", sender_user=ZED)}, quote=chosen)
    assert (found.text, found.chosen) == ("forwarded message of Zed: 300", True)


def test_a_reply_to_what_was_made_with_a_bot_says_so() -> None:
    made = {"text": "Rome is the capital.", "via_bot": WIKI}
    assert quote(made).text == "message made with a bot of Wiki: Rome is the capital."
    part = quote(made, quote={"text": "Rome", "is_manual": True})
    assert (part.text, part.chosen) == ("message made with a bot of Wiki: Rome", True)


def test_a_channel_with_a_handle_is_called_by_its_title_wherever_it_stands() -> None:
    news = {**NEWS, "username": "daily"}
    sent = read(said("hi", sender_chat=news))
    passed_on = read(said("hi", **origin(type="channel", chat=news))).forwarded
    story = read(said(None, story={"chat": news, "id": 3}))
    assert passed_on is not None
    assert (sent.sender.name, passed_on.author) == ("News", "News")
    assert story.media[0].detail == "of News"


def test_what_was_forwarded_of_our_own_words_is_ours() -> None:
    found = read(said("it is 5", GROUP, **origin(type="user", sender_user=BOT))).forwarded
    assert found == Quote("Tapeway", "1", ours=True)
