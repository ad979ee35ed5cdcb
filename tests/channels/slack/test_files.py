"""Files that are words: mails, snippets and text files; and stubs, of which Slack tells no more."""

from __future__ import annotations

from typing import Any

import pytest

from channels.slack.content import pending_files, read_content
from channels.slack.files import decoded
from tests.channels.slack.events import event, me

TEXT: dict[str, Any] = {"id": "F1", "name": "x.log", "mimetype": "text/plain", "size": 40}
MAIL: dict[str, Any] = {
    "id": "F2",
    "mode": "email",
    "filetype": "email",
    "mimetype": "text/html",
    "subject": "Hall on Friday",
    "plain_text": "Bring the <blue> folder.",
    "from": [{"address": "jo@mail.invalid", "name": "Jo", "original": "Jo <jo@mail.invalid>"}],
    "cc": [{"address": "kim@mail.invalid", "name": "", "original": ""}],
    "headers": {"date": "Fri, 27 Nov 2026 09:30:00 +0100"},
    "attachments": [{"filename": "plan.pdf", "mimetype": "application/pdf", "size": 9}],
}


def test_a_mail_is_its_author_s_words_with_subject_people_date_and_attachments() -> None:
    found = read_content(event("", files=[MAIL], subtype="file_share"), me())
    assert (found.text, found.media, found.incomplete) == ("", (), False)
    (mail,) = found.excerpts
    assert (mail.label, mail.author, mail.date) == ("mail", "Jo", "2026-11-27T08:30:00+00:00")
    assert mail.text == (
        "Subject: Hall on Friday\nFrom: Jo <jo@mail.invalid>\nCc: kim@mail.invalid\n\n"
        "Bring the <blue> folder."
    )
    assert [(one.label, one.name) for one in mail.media] == [("attachment", "plan.pdf")]


def test_of_a_mail_without_its_text_the_beginning_is_read_and_the_rest_looked_up() -> None:
    raw = {**MAIL, "plain_text": "", "simplified_html": "<p>Bring &amp; take</p>"}
    found = read_content(event("", files=[raw]), me())
    assert found.incomplete
    assert found.excerpts[0].text.endswith("\n\nBring & take")
    assert pending_files(event("", files=[raw]), me()) == ["F2"]


@pytest.mark.parametrize(
    ("more", "text", "incomplete"),
    [
        ({"preview": "all of it"}, "all of it", False),
        ({"preview": "begins", "preview_is_truncated": True}, "begins", True),
        ({"preview": "begins", "lines_more": "3"}, "begins", True),
        ({"mode": "snippet", "mimetype": "", "preview": "k: 'v'"}, "k: 'v'", False),
        ({"mimetype": "application/json", "preview": "{}"}, "{}", False),
        ({"mimetype": "image/svg+xml", "preview": "<svg/>"}, "<svg/>", False),
    ],
)
def test_a_text_file_is_read_as_far_as_the_event_has_it(
    more: dict[str, Any], text: str, incomplete: bool
) -> None:
    found = read_content(event("why?", files=[{**TEXT, "user": "U1", **more}]), me())
    (excerpt,) = found.excerpts
    assert (excerpt.label, excerpt.text, excerpt.author) == ("text file", text, "Ada")
    assert [one.name for one in excerpt.media] == ["x.log"]
    assert (found.media, found.incomplete, found.omitted) == ((), incomplete, ())


def test_a_text_file_of_which_nothing_is_told_is_a_file_until_it_is_looked_up() -> None:
    found = read_content(event("why?", files=[TEXT]), me())
    assert ([one.file for one in found.media], found.excerpts) == (["/F1"], ())
    assert found.incomplete


def test_of_a_text_file_above_the_limit_the_beginning_is_read_and_that_is_said() -> None:
    raw = {**TEXT, "size": 65_537, "preview": "begins", "preview_is_truncated": True}
    found = read_content(event("why?", files=[raw]), me())
    assert (found.excerpts[0].text, found.incomplete) == ("begins", False)
    assert found.omitted == ("the rest of x.log",)
    assert not read_content(event("", files=[{**TEXT, "size": 65_537}]), me()).incomplete


@pytest.mark.parametrize(
    ("raw", "label", "name"),
    [
        ({"mode": "canvas", "filetype": "quip", "title": "Plan"}, "canvas", "Plan"),
        ({"mode": "space", "filetype": "space", "title": "Minutes"}, "post", "Minutes"),
        ({"mode": "list", "filetype": "list", "title": "Chores", "name": "x"}, "list", "Chores"),
        ({"mode": "unheard_of", "mimetype": "x/y", "name": "a.b"}, "file", "a.b"),
        ({"mode": "tombstone"}, "file that Slack no longer provides", ""),
    ],
)
def test_other_files_are_named(raw: dict[str, Any], label: str, name: str) -> None:
    (media,) = read_content(event("", files=[{"id": "F1", **raw}]), me()).media
    assert (media.label, media.name) == (label, name)


def test_the_title_and_the_description_of_an_image_are_told_with_it() -> None:
    raw = {"id": "F1", "name": "image.png", "mimetype": "image/png", "title": "Budget"}
    (media,) = read_content(event("", files=[{**raw, "alt_txt": "a pie"}]), me()).media
    assert (media.kind, media.detail) == ("image", "Budget, a pie")
    (plain,) = read_content(event("", files=[{**raw, "title": "image"}]), me()).media
    assert plain.detail == ""


def test_what_a_recording_says_is_told_as_far_as_slack_shows_it() -> None:
    said = {"status": "complete", "preview": {"content": "call me", "has_more": True}}
    raw = {"id": "F1", "subtype": "slack_audio", "mimetype": "audio/mp4", "transcription": said}
    (media,) = read_content(event("", files=[raw]), me()).media
    assert (media.label, media.detail) == ("voice message", 'transcript: "call me ..."')


@pytest.mark.parametrize("where", ["files", "attachments", "blocks"])
def test_a_stub_is_named_and_looked_up_wherever_it_stands(where: str) -> None:
    stub = {"id": "F9", "mode": "file_access", "file_access": "check_file_info"}
    parts: dict[str, Any] = {
        "files": [stub],
        "attachments": [{"is_share": True, "text": "see", "files": [stub]}],
        "blocks": [{"type": "file", "source": "remote", "file": stub}],
    }
    said = event("", **{where: parts[where]})
    found = read_content(said, me())
    shown = [*found.media, *(one for excerpt in found.excerpts for one in excerpt.media)]
    assert ([one.file for one in shown], found.incomplete) == (["/F9"], True)
    assert pending_files(said, me()) == ["F9"]


def test_an_image_of_slack_in_a_block_is_a_picture_of_the_message() -> None:
    image = {"type": "image", "alt_text": "a pie", "slack_file": {"id": "F3"}}
    found = read_content(event("", blocks=[image]), me())
    assert (found.text, [one.file for one in found.media]) == ("a pie", ["/F3"])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("ä\n".encode(), "ä\n"),
        ("\ufeffä".encode(), "ä"),
        ("ä".encode("utf-16"), "ä"),
        ("ä€".encode("cp1252"), "ä€"),
        (b"\x81\x8d", "\x81\x8d"),
        (b"a\0b", None),
    ],
)
def test_the_text_of_a_file_is_decoded_as_it_was_written(data: bytes, text: str | None) -> None:
    assert decoded(data) == text
