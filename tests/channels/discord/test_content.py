"""What a message says, read from raw events: words, files, and what others wrote."""

from __future__ import annotations

from typing import Any, Final

import pytest

from channels.content import UNREADABLE
from channels.discord.content import digest_of, read_content
from channels.discord.inbound import parse
from channels.message import Excerpt
from tests.channels.discord.raw import ADA, BOB, BOT, GENERAL, ME, Json, guild_cache, message

ROBOT: Final = {"id": "9", "username": "ci", "bot": True}
PICTURE: Final[Json] = {
    "filename": "hall.png",
    "url": "https://cdn.discordapp.com/attachments/1/2/hall.png?ex=1&hm=2",
    "size": 12,
    "content_type": "image/png",
}


def read(raw: Json) -> Any:
    return read_content(raw, ME, guild_cache())


def excerpt(raw: Json) -> Excerpt:
    (found,) = read(raw).excerpts
    assert isinstance(found, Excerpt)
    return found


def forward(*snapshots: Json, text: str = "") -> Json:
    reference = {"type": 1, "message_id": "9", "channel_id": "99"}
    found = [{"message": one} for one in snapshots]
    return message(text, message_reference=reference, message_snapshots=found)


def test_each_forwarded_message_is_an_excerpt_with_its_date_and_files() -> None:
    stamp = "2025-03-01T10:00:00+00:00"
    one = {"content": "<@1> costs 300", "mentions": [BOT], "timestamp": stamp}
    two = {"content": "", "attachments": [PICTURE], "timestamp": stamp}
    found = read(forward(one, two, text="look"))
    assert found.text == "look"
    assert [part.label for part in found.excerpts] == ["forwarded message"] * 2
    first, second = found.excerpts
    assert (first.text, first.author, first.date) == ("@Tapeway costs 300", "", stamp)
    assert [media.name for media in second.media] == ["hall.png"]


@pytest.mark.parametrize(("kind", "named"), [(0, []), (7, ["USER_JOIN"]), (99, ["type 99"])])
def test_the_type_of_a_forwarded_message_without_words_is_nobody_s_words(
    kind: int, named: list[str]
) -> None:
    found = excerpt(forward({"content": "", "type": kind}))
    assert (found.text, [one.detail for one in found.media]) == ("", named)


def test_a_forwarded_card_poll_and_preview_are_read_as_well() -> None:
    card = {"type": "rich", "title": "Build 812", "description": "failed"}
    poll = {"question": {"text": "tea?"}, "answers": [{"poll_media": {"text": "yes"}}]}
    preview = {"type": "article", "title": "Prices"}
    found = read(forward({"content": "", "embeds": [card, preview], "poll": poll}))
    forwarded, linked = found.excerpts
    assert forwarded.text == "Build 812\nfailed\ntea?\n- yes"
    assert (linked.label, linked.text, linked.source) == ("link preview", "Prices", "page")


def test_a_threads_first_message_is_an_excerpt_by_its_author() -> None:
    begun = message("exit 137 each night", author=BOB, id="4000", attachments=[PICTURE])
    found = excerpt(message("", type=21, referenced_message=begun))
    assert (found.label, found.text) == ("first message of the thread", "exit 137 each night")
    assert (found.author, found.author_id, found.ours) == ("bob", "8", False)
    assert (found.date, len(found.media)) == ("2026-01-01T00:00:00+00:00", 1)
    ours = message("as I said", author=BOT, id="4000")
    assert excerpt(message("", type=21, referenced_message=ours)).ours


@pytest.mark.parametrize("kind", ["link", "article", "video", "image", "gifv", "rich", "hologram"])
def test_a_preview_of_a_link_in_a_persons_message_is_a_pages_words(kind: str) -> None:
    card = {
        "type": kind,
        "url": "https://example.org/a",
        "title": "Plums",
        "description": "ripe in June",
        "provider": {"name": "The Orchard"},
        "thumbnail": {"url": "https://example.org/plum.jpg", "width": 3, "height": 4},
    }
    raw = message("see https://example.org/a", embeds=[card])
    found = excerpt(raw)
    assert (found.label, found.source) == ("link preview", "page")
    assert found.text == "The Orchard\n[Plums](https://example.org/a)\nripe in June"
    assert [(one.kind, one.file) for one in found.media] == [("image", "")]
    assert "plum.jpg" in found.media[0].detail
    assert read(raw).text == "see https://example.org/a"


def test_a_preview_without_words_or_pictures_is_none() -> None:
    assert read(message("https://example.org", embeds=[{"type": "link"}])).excerpts == ()


def test_an_apps_own_card_is_its_words_and_a_preview_in_its_message_is_not() -> None:
    own = {
        "author": {"name": "ci", "url": "https://ci.example.org"},
        "title": "Build",
        "url": "https://ci.example.org/812",
        "fields": [{"name": "at", "value": "3"}],
        "footer": {"text": "main"},
        "image": {"url": "https://cdn.discordapp.com/a.png"},
    }
    preview = {"type": "rich", "title": "A post", "url": "https://example.org/p"}
    said = "see https://example.org/p"
    found = read(message(said, author=ROBOT, embeds=[own, preview]))
    assert found.text == (
        f"{said}\n[ci](https://ci.example.org)\n[Build](https://ci.example.org/812)\nat: 3\nmain"
    )
    assert [one.file for one in found.media] == ["https://cdn.discordapp.com/a.png"]
    assert [one.source for one in found.excerpts] == ["page"]


def test_all_words_of_components_are_read_also_of_those_that_are_not_known() -> None:
    shown = {"media": {"url": "https://cdn.discordapp.com/b.png", "content_type": "image/png"}}
    option = {"label": "plums", "value": "p-1", "description": "ripe", "emoji": {"name": "+"}}
    thumb = {"type": 11, **shown, "description": "a tree"}
    inner = [
        {"type": 10, "content": "# Fruit"},
        {"type": 9, "components": [{"type": 10, "content": "in a section"}], "accessory": thumb},
        {"type": 12, "items": [{**shown, "description": "a plum"}]},
        {"type": 13, "file": {"url": "https://cdn.discordapp.com/c.txt"}, "name": "c.txt"},
        {"type": 14, "divider": True},
        {"type": 1, "components": [{"type": 3, "placeholder": "choose", "options": [option]}]},
        {"type": 18, "label": "How many?", "component": {"type": 23, "custom_id": "x"}},
        {"type": 77, "headline": "from the future", "rows": [{"cell": "deep", "id": 4}]},
    ]
    button = {"type": 2, "label": "Open", "url": "https://example.org", "custom_id": "c"}
    found = read(
        message(
            "", author=ROBOT, flags=1 << 15, components=[{"type": 17, "components": inner}, button]
        )
    )
    assert found.text.split("\n") == [
        *("# Fruit", "in a section", "a tree", "a plum", "c.txt", "choose", "+ plums", "ripe"),
        *("How many?", "from the future", "deep", "[Open](https://example.org)"),
    ]
    assert [one.label for one in found.media] == ["image", "image"]


def test_a_file_that_a_component_shows_is_listed_once() -> None:
    shown = {"type": 13, "file": {"url": PICTURE["url"]}, "name": "hall.png"}
    found = read(message("", author=ROBOT, attachments=[PICTURE], components=[shown]))
    assert [one.name for one in found.media] == ["hall.png"]


def test_a_polls_question_answers_and_votes_are_read() -> None:
    poll = {
        "question": {"text": "when?"},
        "answers": [
            {"answer_id": 1, "poll_media": {"text": "now", "emoji": {"name": "!"}}},
            {"answer_id": 2, "poll_media": {"emoji": {"id": "3", "name": "later"}}},
        ],
        "allow_multiselect": True,
        "expiry": "2026-01-02T00:00:00+00:00",
        "results": {"answer_counts": [{"id": 1, "count": 2}]},
    }
    found = read(message("", poll=poll))
    assert found.text == "when?\n- ! now (2 votes)\n- :later:"
    (media,) = found.media
    assert media.label == "poll"
    assert media.detail == "2 answers, several may be chosen, until 2026-01-02T00:00:00+00:00"


def test_the_result_of_a_poll_is_read() -> None:
    said = {
        "poll_question_text": "when?",
        "victor_answer_text": "now",
        "victor_answer_votes": "2",
        "total_votes": "3",
    }
    fields = [{"name": name, "value": value} for name, value in said.items()]
    found = read(message("", type=46, embeds=[{"type": "poll_result", "fields": fields}]))
    assert found.text == "The poll has ended: when?\n'now' won with 2 of 3 votes"
    none = [{"type": "poll_result", "fields": [fields[0]]}]
    assert "no winner" in read(message("", type=46, embeds=none)).text


@pytest.mark.parametrize(
    ("file", "kind", "mime"),
    [
        ({"filename": "a.PNG"}, "image", "image/png"),
        ({"filename": "a.webp", "content_type": None}, "image", "image/webp"),
        ({"filename": "a", "width": 3, "height": 4}, "image", ""),
        ({"filename": "a.jpg", "content_type": "application/octet-stream"}, "image", "image/jpeg"),
        ({"filename": "a.mp4"}, "video", "video/mp4"),
        ({"filename": "a.ogg"}, "audio", "audio/ogg"),
        ({"filename": "a.pdf"}, "file", "application/pdf"),
        ({"filename": "a.heic", "content_type": "image/heic"}, "file", "image/heic"),
        ({"filename": "a.strange"}, "file", ""),
        ({}, "file", ""),
    ],
)
def test_e8_a_file_without_a_type_has_that_of_its_name(file: Json, kind: str, mime: str) -> None:
    (found,) = read(message("", attachments=[{"url": "https://x/a", **file}])).media
    assert (found.kind, found.mime) == (kind, mime)


def test_what_a_file_is_called_and_how_it_is_described_is_kept() -> None:
    file = {"filename": "_.png", "title": "сад.png", "description": "plum trees"}
    old: Any = {"stickers": [{"name": "otter", "description": "it waves"}]}
    image, sticker = read(message("", attachments=[file], **old)).media
    assert (image.name, image.detail) == ("сад.png", "plum trees")
    assert sticker.detail == "otter: it waves"


def test_an_invitation_to_an_activity_is_named() -> None:
    raw = message("", activity={"type": 3, "party_id": "s"}, application={"name": "Spotify"})
    (found,) = read(raw).media
    assert (found.label, found.detail) == ("invitation to an activity", "listen: Spotify")
    (new,) = read(message("", activity={"type": 88})).media
    assert new.detail == "take part"


def test_channels_of_another_server_have_the_names_that_its_message_lists() -> None:
    listed = [{"id": "909", "name": "news", "type": 5, "guild_id": "9"}]
    assert read(message("see <#909>", mention_channels=listed)).text == "see #news"


def test_a_label_with_an_address_behind_it_stays_as_it_was_written() -> None:
    text = "[the plan](<https://example.org/plan>)"
    assert read(message(text)).text == text


@pytest.mark.parametrize(
    ("kind", "name"),
    [(0, "DEFAULT"), (7, "USER_JOIN"), (18, "THREAD_CREATED"), (13, "type 13"), (99, "type 99")],
)
def test_what_says_nothing_has_the_name_of_its_type(kind: int, name: str) -> None:
    assert read(message("", type=kind)).kind == name


def test_words_of_a_type_that_is_not_known_are_kept_under_its_name() -> None:
    found = read(message("from the future", type=99))
    assert (found.text, found.kind) == ("from the future", "type 99")


def test_a_long_message_says_where_it_was_cut() -> None:
    snapshots = [{"content": "x"}] * 12
    found = read(forward(*snapshots))
    assert len(found.excerpts) == 10
    assert found.omitted == ("2 more messages",)


def test_a_digest_stays_when_discord_signs_an_address_again() -> None:
    signed = {**PICTURE, "url": PICTURE["url"].partition("?")[0] + "?ex=9&hm=8"}
    one, again = (read(message("a", attachments=[file])) for file in (PICTURE, signed))
    assert one.media != again.media
    assert digest_of(one) == digest_of(again)
    assert digest_of(read(message("a"))) != digest_of(one)


def test_mentions_are_listed_by_id() -> None:
    assert read(message("<@7>", mentions=[ADA], channel=GENERAL)).mentions == ("@7",)


@pytest.mark.parametrize(
    "beside",
    [
        {"embeds": [{"type": "rich", "provider": "e.org"}]},
        {"embeds": [{"type": "link", "image": "https://e.org/a.png"}]},
        {"poll": {"question": {"text": 5}, "answers": [{"answer_id": []}]}},
        {"components": [{"type": 2, "label": "a", "emoji": 5}]},
        {"message_snapshots": [{"message": {"content": "a", "timestamp": "never"}}]},
        {"attachments": [None], "flags": "none"},
    ],
)
@pytest.mark.parametrize("name", ["MESSAGE_CREATE", "MESSAGE_UPDATE"])
def test_a_malformed_part_takes_no_question_with_it(name: str, beside: Json) -> None:
    stamp = "2026-01-01T00:01:00+00:00" if name == "MESSAGE_UPDATE" else None
    raw = message("<@1> when?", mentions=[BOT], edited_timestamp=stamp, **beside)
    found = parse(name, raw, ME, guild_cache())
    assert found is not None
    assert (found.kind, found.addressed) == ("edit" if stamp else "message", True)
    assert (found.text, found.omitted) == ("@Tapeway when?", (UNREADABLE,))


def test_a_picture_of_a_page_may_have_any_address() -> None:
    page = {"type": "link", "description": "a page", "image": {"url": "http://["}}
    found = excerpt(message("https://e.org", embeds=[page]))
    assert (found.text, found.media[0].file) == ("a page", "")


def test_the_address_of_a_link_button_that_shows_only_an_emoji_is_read() -> None:
    button = {"type": 2, "style": 5, "emoji": {"id": None, "name": "🧾"}, "url": "https://e.org/7"}
    found = read(message("", components=[{"type": 1, "components": [button]}]))
    assert found.text == "🧾 https://e.org/7"
