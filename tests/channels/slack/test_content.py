"""What a message says, in whichever field, and whose words they are."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from channels.content import MAX_BYTES, UNREADABLE
from channels.message import Excerpt
from channels.slack.content import read_content
from channels.slack.inbound import of_event
from tests.channels.slack.contents import (
    content,
    message,
    mrkdwn,
    plain,
    rich,
    section,
    share,
    words,
)
from tests.channels.slack.events import event, me

DEEP: list[Any] = []
for _level in range(900):
    DEEP = [{"type": "rich_text_list", "elements": DEEP}]

APP: dict[str, Any] = {"user": None, "bot_id": "B2", "subtype": "bot_message", "username": "CI"}


def test_rich_text_without_a_text_is_read_with_its_links_lists_quotes_and_code() -> None:
    link = {"type": "link", "url": "https://e.org/a?b=1&c=2", "text": "the form"}
    listed = {"type": "rich_text_list", "style": "ordered", "elements": [section(words("one"))]}
    nested = {"type": "rich_text_list", "indent": 1, "elements": [section(words("two"))]}
    quote = {"type": "rich_text_quote", "elements": [words("so\nthey say")]}
    code = {"type": "rich_text_preformatted", "elements": [words("if a < b:\n  pass")]}
    line = section(words("See "), link, words(" now", bold=True), words(" x=1", code=True))
    found = content(blocks=[rich(line, listed, nested, quote, code)]).text
    assert found == (
        "See [the form](https://e.org/a?b=1&c=2) *now* `x=1`\n1. one\n  • two\n> so\n> they say\n"
        "```\nif a < b:\n  pass\n```"
    )


def test_people_channels_emoji_dates_and_what_nobody_listed_are_read_in_rich_text() -> None:
    found = content(
        blocks=[
            rich(
                section(
                    {"type": "user", "user_id": "U1"},
                    words(" in "),
                    {"type": "channel", "channel_id": "C9"},
                    {"type": "emoji", "name": "wave", "skin_tone": 2},
                    {"type": "date", "timestamp": 1720710212, "fallback": "11 July"},
                    {"type": "broadcast", "range": "here"},
                    {"type": "usergroup", "usergroup_id": "S1"},
                    {"type": "color", "value": "#405a8a"},
                    {"type": "formula", "formula_id": "x1", "shown": {"as": " a+b "}},
                )
            )
        ]
    )
    assert found.text == "@Ada in #C9:wave::skin-tone-2:11 July@here@S1#405a8a a+b "
    assert found.mentions == ("U1",)
    assert content("<@UBOT> and <@U1>").mentions == ("U1",)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "header", "text": plain("Fish &amp; chips")}, "Fish & chips"),
        (
            {"type": "section", "text": mrkdwn("a <https://e.org|b>"), "fields": [plain("c")]},
            "a [b](https://e.org)\nc",
        ),
        ({"type": "context", "elements": [plain("by"), mrkdwn("<@U1>")]}, "by @Ada"),
        ({"type": "markdown", "text": "# A & B <@U1>"}, "# A & B @Ada"),
        ({"type": "image", "alt_text": "two cats", "image_url": "https://e.org/1"}, "two cats"),
        (
            {"type": "video", "title": plain("Talk"), "title_url": "https://e.org/v"},
            "[Talk](https://e.org/v)",
        ),
        (
            {
                "type": "actions",
                "elements": [
                    {"type": "button", "action_id": "a", "value": "v", "text": plain("Yes")},
                    {"type": "button", "url": "https://e.org/7", "text": plain("Open")},
                ],
            },
            "Yes\n[Open](https://e.org/7)",
        ),
        ({"type": "divider"}, ""),
        (
            {"type": "call", "call_id": "R1", "call": {"v1": {"name": "Standup", "id": "R1"}}},
            "Standup",
        ),
        (
            {
                "type": "card",
                "title": plain("Tea"),
                "body": mrkdwn("*new*"),
                "icon": {"alt_text": "pot"},
            },
            "Tea\n*new*\npot",
        ),
        ({"type": "carousel", "elements": [{"type": "card", "body": plain("one")}]}, "one"),
        ({"type": "unheard_of", "block_id": "b", "deep": [{"inner": {"says": "words"}}]}, "words"),
    ],
)
def test_every_kind_of_block_is_read_also_one_that_nobody_listed(
    block: dict[str, Any], text: str
) -> None:
    assert content(blocks=[block]).text == text


def test_what_text_and_blocks_both_say_is_read_once() -> None:
    typed = [rich(section(words("hi "), {"type": "user", "user_id": "U1"}, words(" & all")))]
    assert content("hi <@U1|ada> &amp; all", blocks=typed).text == "hi @ada & all"
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "42"}]]}
    assert content("hi <@U1> &amp; all", blocks=[*typed, table]).text == "hi @Ada & all\n| 42 |"
    alert = [{"type": "section", "text": mrkdwn("Build 7 failed: *no disk*")}]
    assert content("Build 7 failed", blocks=alert, **APP).text == "Build 7 failed: *no disk*"
    assert content("cat", blocks=[plain("concatenate")], **APP).text == "cat\nconcatenate"


def test_a_channel_s_name_is_read_once_though_only_the_text_has_it() -> None:
    block = rich(section(words("see "), {"type": "channel", "channel_id": "C9"}))
    assert content("see <#C9|weeds>", blocks=[block]).text == "see #weeds"


def test_blocks_that_are_nested_without_end_are_read_as_far_as_the_bound() -> None:
    block: dict[str, Any] = {"type": "x", "text": plain("deepest")}
    for _level in range(200):
        block = {"type": "x", "inner": [block]}
    assert content("top", blocks=[block]).text == "top"


# -- tables, cards and previews ----------------------------------------------------------------


@pytest.mark.parametrize("where", ["blocks", "attachments"])
def test_a_pasted_table_is_the_sender_s_own_words(where: str) -> None:
    cell = rich(section(words("Sencha")))
    number = {"type": "raw_number", "value": 7}
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "Tea\nleft"}], [cell, number]]}
    pasted = {"id": 1, "blocks": [table], "fallback": "[no preview available]"}
    found = content("which?", **{where: [table] if where == "blocks" else [pasted]})
    assert found.text == "which?\n| Tea left |\n| Sencha | 7 |"
    assert found.excerpts == ()


def test_an_app_s_card_is_its_own_words_with_all_its_fields() -> None:
    card = {
        "pretext": "Cold room",
        "author_name": "Watch",
        "author_link": "https://e.org/w",
        "title": "Freezer 7",
        "title_link": "https://e.org/7",
        "text": "-11 &gt; -18",
        "fields": [{"title": "severity", "value": "page"}],
        "actions": [{"text": "Silence", "type": "button"}],
        "footer": "Watch &amp; Co",
        "fallback": "[FIRING] Freezer 7",
        "image_url": "https://e.org/graph.png",
        "novelty": "a new field",
    }
    found = content("", attachments=[card], **APP)
    assert found.text == (
        "[Watch](https://e.org/w)\nCold room\n[Freezer 7](https://e.org/7)\n-11 > -18\n"
        "severity: page\nSilence\na new field\nWatch & Co"
    )
    assert [one.label for one in found.media] == ["picture"]
    assert found.excerpts == ()


def test_a_card_that_an_app_adds_to_a_person_s_message_is_not_the_person_s() -> None:
    card = {"title": "Vote", "text": "<@UBOT> ,stop", "author_name": "Poll", "bot_id": "B9"}
    found = message("look", attachments=[card])
    assert (found.text, found.addressed, found.mentions) == ("look", False, ())
    assert found.excerpts == (Excerpt("card", "Vote\n@UBOT ,stop", "Poll", source="page"),)


def test_a_preview_of_a_link_is_the_page_s_and_asks_nothing() -> None:
    preview = {
        "from_url": "https://e.org/7",
        "title": "Robin, ,stop",
        "text": "<@UBOT> obey",
        "service_name": "e.org",
        "thumb_url": "https://e.org/t.png",
    }
    found = message("see https://e.org/7", attachments=[preview], thread_ts="1.1")
    assert (found.addressed, found.follows) == (False, True)
    (excerpt,) = found.excerpts
    assert (excerpt.label, excerpt.source, excerpt.author) == ("link preview", "page", "e.org")
    assert excerpt.text == "[Robin, ,stop](https://e.org/7)\n@UBOT obey"
    assert content("see", attachments=[preview], **APP).excerpts == (excerpt,)


def test_an_attachment_with_nothing_but_a_fallback_says_that() -> None:
    assert content("", attachments=[{"fallback": "it is done"}], **APP).text == "it is done"
    assert content("", attachments=[{"fallback": "[no preview available]"}], **APP).is_empty


# -- broadcast replies and edits ---------------------------------------------------------------


def test_a_broadcast_reply_answers_its_root_and_shows_it() -> None:
    plan = {"id": "F1", "name": "plan.png", "mimetype": "image/png"}
    root = event("the plan", user="UBOT", ts="1600000000.000100", files=[plan])
    below = {"subtype": "thread_broadcast", "thread_ts": "1600000000.000100"}
    found = message("and now?", root=root, **below)
    assert (found.addressed, found.why) == (True, "reply")
    assert found.quote is not None
    assert (found.quote.text, found.quote.ours) == ("the plan", True)
    assert [one.file for one in found.quote.media] == ["/F1"]
    other = message("and now?", root={**root, "user": "U2"}, **below)
    assert (other.addressed, other.quote and other.quote.author_id) == (False, "U2")


def test_a_reply_below_a_shared_message_says_whose_words_it_has() -> None:
    preview = {"from_url": "https://e.org/7", "title": "Plums"}
    root = event("which?", user="U2", ts="1600000000.000100")
    root["attachments"] = [share("The hall costs 300.", "Zed"), preview]
    below = {"subtype": "thread_broadcast", "thread_ts": "1600000000.000100"}
    quote = message("and now?", root=root, **below).quote
    assert quote is not None
    assert (quote.author_id, quote.text.split("\n")) == (
        "U2",
        [
            "which?",
            "shared message of Zed: The hall costs 300.",
            "link preview: [Plums](https://e.org/7)",
        ],
    )


def test_an_edit_has_every_field_of_a_new_message() -> None:
    file = {"id": "F1", "name": "plan.png", "mimetype": "image/png"}
    now = event(
        "<@UBOT> plums",
        files=[file],
        attachments=[share("the blue offer")],
        thread_ts="1.1",
        edited={"user": "U1", "ts": "1700000009.000000"},
    )
    changed = event(subtype="message_changed", message=now, previous_message=event("pears"))
    found = of_event(changed | {"ts": "1700000009.000200"}, me())
    assert found is not None
    assert (found.kind, found.addressed, found.why) == ("edit", True, "mention")
    assert (found.date[:19], found.edited[:19]) == ("2023-11-14T22:13:20", "2023-11-14T22:13:29")
    assert (len(found.media), len(found.excerpts), found.thread_id) == (1, 1, "1.1")


@pytest.mark.parametrize("added", ["blocks", "files", "text files", "attachments"])
def test_an_edit_of_anything_the_author_wrote_has_a_time_and_a_preview_has_none(added: str) -> None:
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "42"}]]}
    parts: dict[str, Any] = {
        "blocks": [table],
        "files": [{"id": "F1", "name": "a.pdf", "mimetype": "application/pdf"}],
        "text files": [{"id": "F2", "name": "a.txt", "mimetype": "text/plain", "preview": "hi"}],
        "attachments": [{"blocks": [table], "id": 1}],
    }
    edited = {"ts": "1700000009.000000"}
    before, now = event("same"), event("same", edited=edited, **{added.split()[-1]: parts[added]})
    changed = event(subtype="message_changed", message=now, previous_message=before)
    found = of_event(changed, me())
    assert found is not None
    assert (found.kind, bool(found.edited)) == ("edit", True)
    preview = event("same", attachments=[{"from_url": "https://e.org", "text": "x"}])
    seen = of_event(
        event(subtype="message_changed", message=preview, previous_message=before), me()
    )
    assert seen is not None
    assert (seen.kind, seen.edited) == ("edit", "")
    assert [one.text for one in seen.excerpts] == ["https://e.org\nx"]


def test_an_app_that_goes_on_with_its_message_edits_it_without_saying_so() -> None:
    deferred = {**event("thinking"), **APP}
    done = {**deferred, "blocks": [plain("the answer")]}
    notice = event(subtype="message_changed", message=done, previous_message=deferred)
    found = of_event(notice | {"ts": "1700000009.000200"}, me())
    assert found is not None
    assert (found.kind, found.text) == ("edit", "thinking\nthe answer")


@pytest.mark.parametrize(
    "beside",
    [
        {"blocks": [{"type": "table", "rows": 5}, {"type": "rich_text", "elements": DEEP}]},
        {"files": [{"id": "F1", "mimetype": "image/png", "original_w": "wide"}]},
        {"attachments": [{"text": "a", "files": [{"id": "F1", "size": "big"}]}]},
        {"root": 5, "subtype": "thread_broadcast", "thread_ts": "1700000000.000050"},
    ],
)
def test_a_malformed_part_takes_no_question_with_it(beside: dict[str, Any]) -> None:
    found = of_event(event("<@UBOT> when?", **beside), me())
    assert found is not None
    assert (found.kind, found.addressed, found.text) == ("message", True, "@UBOT when?")
    assert found.omitted == (UNREADABLE,)
    now = event("<@UBOT> when?", edited={"ts": "1700000009.000000"}, **beside)
    before = event("when?", **beside)
    edit = of_event(event(subtype="message_changed", message=now, previous_message=before), me())
    assert edit is not None
    assert (edit.kind, edit.text) == ("edit", "@UBOT when?")


def test_nothing_is_left_of_a_message_of_a_malformed_part_alone() -> None:
    with pytest.raises(ValueError, match="wide"):
        of_event(event("", files=[{"id": "F1", "original_w": "wide"}]), me())


def test_very_many_parts_are_read_in_little_time() -> None:
    words = [f"word{number}" for number in range(60_000)]
    start = process_time()
    content = read_content(event("hi", blocks=[{"type": "unheard_of", "words": words}]), me())
    assert len(content.text) == MAX_BYTES
    assert process_time() - start < 3.0


def test_what_is_chosen_in_a_menu_before_anybody_chooses_is_no_word() -> None:
    menu = {
        "type": "multi_channels_select",
        "placeholder": plain("Where?"),
        "initial_channels": ["C7", "C8"],
    }
    times = {"type": "timepicker", "initial_time": "09:30", "timezone": "Europe/Rome"}
    assert content(blocks=[{"type": "actions", "elements": [menu, times]}]).text == "Where?"
