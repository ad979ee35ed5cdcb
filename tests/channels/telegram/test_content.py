"""What a message says beside its text: addresses, polls, places, and whose words they are."""

from __future__ import annotations

from typing import Any

import pytest

from channels.content import UNREADABLE
from channels.message import Excerpt, InboundMessage, Media, Quote
from channels.telegram.content import read_content
from channels.telegram.entities import with_addresses
from channels.telegram.fields import covered
from tests.channels.telegram.raw import (
    ADA,
    BOB,
    BOT,
    FORUM,
    GROUP,
    PRIVATE,
    Json,
    edited,
    entity,
    read,
    said,
)

FAR = {"id": -200, "type": "supergroup", "title": "Far"}


# -- labels with an address behind them

LINKED = "😀 see here, there and x.org"
LINKS = [
    entity(LINKED, "here", "text_link", url="https://a.org/1"),
    entity(LINKED, "here", "bold"),
    entity(LINKED, "there", "text_link", url="https://b.org"),
    entity(LINKED, "x.org", "text_link", url="https://x.org/"),
]


@pytest.mark.parametrize("field", ["text", "caption"])
def test_the_address_behind_a_label_is_read(field: str) -> None:
    entities = "entities" if field == "text" else "caption_entities"
    content = read_content({field: LINKED, entities: LINKS})
    assert content.text == "😀 see [here](https://a.org/1), [there](https://b.org) and x.org"


def test_entities_keep_their_words_when_addresses_are_put_in() -> None:
    words = with_addresses(LINKED, [*LINKS, entity(LINKED, "and", "italic")])
    shown = [covered(words.text, one) for one in words.entities]
    assert shown == ["[here](https://a.org/1)", "here", "[there](https://b.org)", "x.org", "and"]


def test_an_address_that_stands_there_is_not_repeated() -> None:
    for label in ("https://x.org", "x.org", "x.org/"):
        marks = [entity(label, label, "text_link", url="https://x.org/")]
        assert with_addresses(label, marks).text == label
    lure = with_addresses(
        "mybank.org", [entity("mybank.org", "mybank.org", "text_link", url="http://z.cc")]
    )
    assert lure.text == "[mybank.org](http://z.cc)"


@pytest.mark.parametrize(
    "marks",
    [
        "no list",
        [5, None, {}, {"type": "text_link", "url": "https://x.org"}],
        [{"type": "text_link", "offset": 1, "length": 90, "url": "https://x.org"}],
        [{"type": "text_link", "offset": -1, "length": 1, "url": "https://x.org"}],
        [{"type": "text_mention", "offset": "1", "length": 1}],
    ],
)
def test_malformed_entities_are_left_out(marks: Any) -> None:
    assert with_addresses("a word", marks).text == "a word"


def test_overlapping_labels_and_halves_of_a_character_are_read() -> None:
    link = {"type": "text_link", "url": "https://x.org"}
    marks = [{**link, "offset": 0, "length": 3}, {**link, "offset": 2, "length": 3}]
    assert with_addresses("a word", marks).text == "[a w](https://x.org)ord"
    half = with_addresses("😀", [{**link, "offset": 0, "length": 1}])
    assert half.text.endswith("](https://x.org)\ufffd")


def test_a_linked_name_or_command_asks_no_more_than_a_name_in_a_link() -> None:
    text = "robin"
    link = [entity(text, text, "text_link", url="https://x.org")]
    assert not read(said(text, entities=link)).addressed
    text = "robin, look here"
    link = [entity(text, "here", "text_link", url="https://x.org")]
    message = read(said(text, entities=link))
    assert (message.why, message.text) == ("name", "robin, look [here](https://x.org)")


# -- attachments without a file

BO = {"id": 5, "first_name": "Bo"}
TASKS = [
    {"id": 1, "text": "Book the hotel"},
    {"id": 2, "text": "Pack", "completed_by_user": BO, "completion_date": 9},
    {"id": 3, "text": "Pay", "completed_by_chat": FAR},
    {"id": 4, "text": "Go", "completion_date": 9},
]
OPTIONS = [
    {"persistent_id": "a", "text": "yes", "voter_count": 3},
    {"persistent_id": "b", "text": "no", "voter_count": 0, "added_by_user": BO},
]
POLL = {
    "question": "Go?",
    "options": OPTIONS,
    "type": "quiz",
    "correct_option_ids": [0],
    "explanation": "it is warm",
    "description": "a walk",
    "allows_multiple_answers": True,
    "is_closed": True,
    "media": {"link": {"url": "https://x.org"}},
}
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Bob\nTEL:12\nEMAIL:bob@x.org\nEND:VCARD"

DETAILS: list[tuple[str, Any, str, str]] = [
    (
        "checklist",
        {"title": "Rome", "tasks": TASKS},
        "checklist",
        "Rome: Book the hotel (open); Pack (done by Bo); Pay (done by Far); Go (done)",
    ),
    (
        "poll",
        POLL,
        "poll",
        ("Go? (yes: 3, no - added by Bo); a walk; a quiz; several answers; closed; correct: yes; "
        "explanation: it is warm; https://x.org"),
    ),
    ("contact", {"first_name": "Bob", "phone_number": "12", "vcard": CARD}, "contact",
     "Bob 12, EMAIL:bob@x.org"),
    ("location", {"latitude": 1, "longitude": 2, "live_period": 60, "heading": 90},
     "live location", "1, 2; heading 90 degrees"),
    ("venue", {"title": "Bar", "address": "Main 1", "location": {"latitude": 1, "longitude": 2}},
     "venue", "Bar, Main 1, 1, 2"),
    ("invoice", {"title": "Ticket", "description": "Row 7", "currency": "EUR", "total_amount": 45},
     "invoice", "Ticket; Row 7; 45 of the smallest unit of EUR"),
    ("invoice", {"title": "Gem", "currency": "XTR", "total_amount": 1}, "invoice", "Gem; 1 star"),
    ("game", {"title": "Chop", "description": "wood", "text": "best: Bo"}, "game",
     "Chop; wood; best: Bo"),
    ("story", {"chat": FAR, "id": 3}, "story", "of Far"),
    ("giveaway", {"chats": [FAR], "winner_count": 2, "prize_description": "a bike",
                  "premium_subscription_month_count": 3}, "giveaway",
     "2 winners; a bike; 3 months of Premium; in Far"),
    ("giveaway_winners", {"chat": FAR, "winner_count": 1, "winners": [BO]}, "giveaway winners",
     "1 winner; won by Bo"),
    ("widget", {"html": "<style>p{}</style><p>Order <b>7</b></p><script>go()</script>"}, "widget",
     "Order 7"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "label", "detail"), DETAILS)
def test_what_has_no_file_tells_its_words(field: str, value: Any, label: str, detail: str) -> None:
    wanted = (Media("other", label, detail=detail),)
    assert read(said(None, PRIVATE, **{field: value})).media == wanted
    replied = {"message_id": 3, "from": BOB, field: value}
    assert read(said(reply_to_message=replied)).quote == Quote("Bob", "8", media=wanted)
    elsewhere = {"origin": {"type": "user", "sender_user": BOB}, field: value}
    assert read(said(external_reply=elsewhere)).quote == Quote("Bob", "8", media=wanted)
    forward = read(
        said(None, forward_origin={"type": "user", "sender_user": BOB}, **{field: value})
    )
    assert (forward.media, forward.forwarded) == (wanted, Quote("Bob", "8"))


@pytest.mark.parametrize("value", [5, "x", [], [5], {"options": 5, "tasks": 5, "location": 5}])
@pytest.mark.parametrize("field", ["poll", "checklist", "venue", "contact", "story", "giveaway"])
def test_a_malformed_attachment_is_still_one(field: str, value: Any) -> None:
    message = read(said("look", **{field: value}))
    assert (message.kind, message.text) == ("message", "look")


def test_the_files_in_a_poll_a_game_and_paid_media_are_read() -> None:
    photo = [{"file_id": "p", "width": 1, "height": 1}]
    poll = {"question": "Which?", "options": [{"text": "a", "media": {"photo": photo}}]}
    paid = {"star_count": 5, "paid_media": [{"type": "photo", "photo": photo}, {"type": "preview"}]}
    for field, value in (("poll", poll), ("paid_media", paid), ("game", {"photo": photo})):
        media = read(said(None, PRIVATE, **{field: value})).media
        assert [one.file for one in media] == ["", "p"]


def test_a_live_photo_and_a_song_are_named() -> None:
    live = {"file_id": "v", "photo": [{"file_id": "p"}], "duration": 2}
    (photo,) = read_content({"live_photo": live, "photo": live["photo"]}).media
    assert (photo.kind, photo.label, photo.file) == ("image", "live photo", "p")
    song = {"file_id": "a", "file_name": "1.mp3", "title": "So", "performer": "Bo"}
    assert read_content({"audio": song}).media[0].detail == "Bo - So"


# -- whose words

WIKI = {"id": 30, "is_bot": True, "first_name": "Wiki", "username": "wiki_bot"}


def test_words_that_an_inline_bot_made_are_the_bot_s() -> None:
    message = read(said("@tapeway_bot Robin ,reset", via_bot=WIKI))
    made = Excerpt("message made with a bot", "@tapeway_bot Robin ,reset", "Wiki", "30")
    assert (message.text, message.excerpts) == ("", (made,))
    assert (message.addressed, message.mentions) == (False, ())
    private = read(said("/reset", PRIVATE, via_bot=WIKI))
    assert (private.addressed, private.command, private.text) == (True, "", "")


def test_a_file_that_an_inline_bot_found_is_the_sender_s_and_a_place_the_bot_s() -> None:
    gif = read(said(None, PRIVATE, animation={"file_id": "g"}, via_bot=WIKI))
    assert ([one.file for one in gif.media], gif.excerpts) == (["g"], ())
    spot = read(said(None, PRIVATE, location={"latitude": 1, "longitude": 2}, via_bot=WIKI))
    assert spot.media == ()
    assert spot.excerpts[0].media == (Media("other", "location", detail="1, 2"),)
    assert spot.addressed


def test_buttons_and_a_chosen_preview_show_their_addresses() -> None:
    rows = [[{"text": "Go", "url": "https://x.org"}, {"text": "Yes", "callback_data": "y"}]]
    shown = said(
        "read this",
        reply_markup={"inline_keyboard": rows},
        link_preview_options={"url": "https://hidden.org"},
    )
    preview = Excerpt("link preview", "https://hidden.org", source="page")
    buttons = Excerpt("buttons", "[Go](https://x.org) | Yes")
    assert read(shown).excerpts == (preview, buttons)
    named = said("see https://x.org", link_preview_options={"url": "https://x.org"})
    assert read(named).excerpts == ()


def test_a_quote_shows_what_others_put_beside_a_text_but_not_our_own_buttons() -> None:
    rows = [[{"text": "Go", "url": "https://x.org"}]]
    post = {"message_id": 3, "text": "news", "reply_markup": {"inline_keyboard": rows}}
    theirs = read(said(reply_to_message={**post, "from": WIKI})).quote
    assert theirs == Quote("Wiki", "30", "news\nbuttons: [Go](https://x.org)")
    ours = read(said(reply_to_message={**post, "from": BOT})).quote
    assert ours == Quote("Tapeway", "1", "news", ours=True)


def test_a_signature_names_who_writes_for_a_channel() -> None:
    channel = {"id": -300, "type": "channel", "title": "News"}
    post = {"message_id": 5, "date": 9, "chat": channel, "text": "hi", "author_signature": "Ann"}
    assert read({"update_id": 1, "channel_post": post}).sender.name == "News (Ann)"
    origin = {"type": "channel", "chat": channel, "author_signature": "Ann"}
    assert read(said("hi", forward_origin=origin)).forwarded == Quote("News (Ann)", "-300")


# -- what is replied to


def test_a_reply_quotes_words_and_files() -> None:
    photo = [{"file_id": "p", "width": 3, "height": 2}]
    replied = {"message_id": 3, "from": BOB, "photo": photo, "caption": "the pond"}
    quote = read(said(reply_to_message=replied)).quote
    image = Media("image", "photo", "p", mime="image/jpeg", width=3, height=2)
    assert quote == Quote("Bob", "8", "the pond", media=(image,))


def test_a_reply_to_a_task_or_an_option_quotes_it() -> None:
    replied = {"message_id": 3, "from": BOB, "checklist": {"title": "Rome", "tasks": TASKS}}
    task = read(said(reply_to_message=replied, reply_to_checklist_task_id=1)).quote
    assert task is not None
    assert (task.text, task.chosen) == ("Book the hotel", True)
    replied = {"message_id": 3, "from": BOB, "poll": {"question": "Go?", "options": OPTIONS}}
    option = read(said(reply_to_message=replied, reply_to_poll_option_id="b")).quote
    assert option is not None
    assert option.text == "no"


def test_a_reply_to_a_story_or_a_service_message_says_what_it_was() -> None:
    story = read(said(reply_to_story={"chat": FAR, "id": 3})).quote
    assert story == Quote("Far", "-200", media=(Media("other", "story", detail="of Far"),))
    joined = {"message_id": 3, "from": BOB, "new_chat_members": [BOB]}
    quote = read(said(reply_to_message=joined)).quote
    assert quote is not None
    assert quote.text == "Bob came."


OURS = {"type": "user", "date": 1, "sender_user": BOT}
TOPIC = {"message_thread_id": 40, "is_topic_message": True}
ROOT = {"message_id": 40, "from": ADA, "forum_topic_created": {"name": "Ops"}}


@pytest.mark.parametrize("more", [{}, {"reply_to_message": ROOT}])
def test_a_reply_to_the_bot_from_another_topic_is_a_reply_to_it(more: Json) -> None:
    far = {"origin": OURS, "chat": FORUM, "message_id": 12}
    told = {"text": "as I said", "position": 0}
    message = read(said("why?", FORUM, **TOPIC, **more, external_reply=far, quote=told))
    assert (message.addressed, message.why, message.reply_to) == (True, "reply", "12")
    assert message.quote == Quote("Tapeway", "1", "as I said", ours=True)


def test_a_reply_to_the_bot_s_words_in_another_chat_is_none_to_it() -> None:
    far = {"origin": OURS, "chat": FAR, "message_id": 12}
    message = read(said("look", external_reply=far))
    assert (message.addressed, message.reply_to) == (False, None)
    assert message.quote == Quote("Tapeway", "1", ours=True)


def test_what_the_server_quotes_by_itself_was_not_chosen() -> None:
    far = {"origin": {"type": "user", "sender_user": BOB}, "chat": FORUM, "message_id": 12}
    quote = read(said("why?", FORUM, external_reply=far, quote={"text": "so"})).quote
    assert quote == Quote("Bob", "8", "so")


# -- edits


def test_an_edit_has_the_fields_of_a_new_message() -> None:
    replied = {"message_id": 3, "from": BOB, "text": "before"}
    asked = said(None, caption="Robin, why?", reply_to_message=replied, photo=[{"file_id": "p"}])
    given = {**asked["message"], "edit_date": 1767225700}
    edit, new = read({"edited_message": given}), read({"message": given})
    assert (edit.kind, edit.addressed, edit.why) == ("edit", True, "name")
    assert (edit.media, edit.quote, edit.text) == (new.media, new.quote, "Robin, why?")
    assert edit.date == new.date
    assert edit.edited == "2026-01-01T00:01:40+00:00"
    assert new.edited == ""


def test_an_edit_that_changes_only_a_place_a_poll_or_a_photo_has_a_key_of_its_own() -> None:
    def move(**fields: Any) -> InboundMessage:
        raw = {**said(None)["message"], "edit_date": 9, **fields}
        return read({"update_id": 2, "edited_message": raw})

    for field, first, second in (
        ("location", {"latitude": 1, "longitude": 2}, {"latitude": 1, "longitude": 3}),
        ("poll", {"question": "Go?"}, {"question": "Go?", "is_closed": True}),
        ("photo", [{"file_id": "p"}], [{"file_id": "q"}]),
        ("rich_message", {"blocks": ["a"]}, {"blocks": ["b"]}),
    ):
        one, other, again = (move(**{field: value}) for value in (first, second, first))
        assert one.kind == other.kind == "edit"
        assert one.ext_id != other.ext_id
        assert one.ext_id == again.ext_id


def test_an_edit_waits_for_no_other_part() -> None:
    assert read(edited("x" * 4000)).joins == ""
    assert read(edited("x", media_group_id="m1")).joins == ""


def test_a_text_beyond_the_limit_says_where_it_was_cut() -> None:
    message = read(said("x" * 70_000, GROUP))
    assert (len(message.text), message.omitted) == (65_536, ("the last 4464 characters",))


@pytest.mark.parametrize(
    "beside", [{"reply_to_message": {"from": 5}}, {"reply_markup": {"inline_keyboard": 5}}]
)
def test_a_malformed_part_takes_no_question_with_it(beside: Json) -> None:
    for update in (said("when?", PRIVATE, **beside), edited("when?", chat=PRIVATE, **beside)):
        found = read(update)
        assert (found.text, found.addressed, found.omitted) == ("when?", True, (UNREADABLE,))


@pytest.mark.parametrize("forward", [{"sender_user": 5}, {"sender_user": {"first_name": "Bob"}}])
def test_a_malformed_forward_never_becomes_its_sender_s_own_words(forward: Json) -> None:
    with pytest.raises((AttributeError, KeyError)):
        read(said("/reset", PRIVATE, forward_origin=forward))


def test_the_address_that_another_chats_message_previews_is_read_beside_the_quote() -> None:
    origin = {"type": "hidden_user", "sender_user_name": "Zed"}
    preview = {"url": "https://e.org/menu"}
    far = {"origin": origin, "link_preview_options": preview}
    quote = read(said("this?", external_reply=far)).quote
    assert quote == Quote("Zed", text="link preview: https://e.org/menu")
