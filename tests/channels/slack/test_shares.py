"""What a shared message says, and whose words are in it."""

from __future__ import annotations

import pytest

from tests.channels.slack.contents import content, message, rich, section, share, words


def test_every_shared_message_is_whole_and_keeps_its_author_date_and_files() -> None:
    plan = {"id": "F1", "name": "plan.png", "mimetype": "image/png", "size": 9}
    long = "It begins. " + "word " * 400 + "It ends."
    found = message("which?", attachments=[share(long, files=[plan]), share("R&amp;D", "Eve")])
    assert (found.text, found.forwarded, found.quote) == ("which?", None, None)
    first, second = found.excerpts
    assert (first.label, first.author, first.author_id) == ("shared message", "Bob", "U2")
    assert (first.text, first.date) == (long, "2023-07-22T04:26:40.000100+00:00")
    assert [one.file for one in first.media] == ["/F1"]
    assert (second.author, second.text, second.source) == ("Eve", "R&D", "person")
    assert found.media == ()


def test_a_shared_message_alone_is_a_question_and_only_in_blocks_it_is_read_too() -> None:
    inner = {"message": {"blocks": [rich(section(words("the plum")))]}}
    shared = share("", message_blocks=[inner], channel_name="ideas")
    found = message("", channel="D1", channel_type="im", attachments=[shared])
    assert (found.kind, found.addressed, found.text) == ("message", True, "")
    assert found.excerpts[0].text == "the plum"


@pytest.mark.parametrize("mark", ["is_share", "is_msg_unfurl", "is_reply_unfurl"])
def test_a_footer_is_read_unless_slack_wrote_it_below_a_shared_message(mark: str) -> None:
    card = {"title": "Build 7", "footer": "Watch & Co"}
    shared = {mark: True, "author_name": "Zed", "text": "look", "attachments": [card]}
    for footer in ("Slack Conversation", "Posted in #ideas | today", "Aus einem Thread"):
        (excerpt,) = content("", attachments=[{**shared, "footer": footer}]).excerpts
        assert excerpt.text == "look\nBuild 7\nWatch & Co"
        bare = {mark: True, "author_name": "Zed", "footer": footer, "fallback": "[1] Zed: hm"}
        assert content("", attachments=[bare]).excerpts[0].text == "[1] Zed: hm"
    page = {"from_url": "https://e.org/7", "title": "Page", "footer": "Example"}
    assert content("see", attachments=[page]).excerpts[0].text.endswith("\nExample")


def test_a_shared_message_of_the_app_is_its_own() -> None:
    assert content("", attachments=[share("mine", author_id="UBOT")]).excerpts[0].ours
    assert not content("", attachments=[share("yours")]).excerpts[0].ours


def test_what_a_shared_message_contains_of_others_is_read_with_it() -> None:
    inner = {"title": "Alert", "text": "disk full"}
    found = content("", attachments=[share("see", attachments=[inner])])
    assert found.excerpts[0].text == "see\nAlert\ndisk full"


def test_more_shared_messages_than_the_limit_are_counted() -> None:
    found = content("", attachments=[share(f"number {number}") for number in range(12)])
    assert len(found.excerpts) == 10
    assert found.omitted == ("2 more messages",)


def test_the_text_of_a_shared_message_without_blocks_is_read() -> None:
    inside = {"message": {"text": "*two* at noon", "ts": "1690000000.000100"}}
    (found,) = content(attachments=[share("", message_blocks=[inside])]).excerpts
    assert found.text == "*two* at noon"


def test_a_card_inside_of_a_shared_message_keeps_its_author() -> None:
    card = {"author_name": "CI", "title": "Build 812", "text": "failed"}
    (found,) = content(attachments=[share("look", attachments=[card])]).excerpts
    assert found.text == "look\nCI\nBuild 812\nfailed"
