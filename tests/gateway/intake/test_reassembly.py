"""What a platform tears apart is put together again, and everything keeps its order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Author, Excerpt, InboundMessage, Media
from gateway.intake.reassembly import MAX_PART_LENGTH, MAX_PARTS, Parts, Reassembler, merge_parts
from gateway.pipeline.router import OutboundChannelRouter
from gateway.storage.ledger.rows import InboxRow
from tests.kit.clock import ManualClock, settle
from tests.kit.examples import examples
from tests.kit.plain_channels import MESSAGE, PlainChannel

BOB = Author("8", "Bob")
PHOTO = Media("image", "photo")


class Joining:
    """A joiner that waits for a second, and what it released, as texts."""

    def __init__(self, group: TaskGroup, wait: float = 1.0) -> None:
        self.clock = ManualClock()
        self.released: list[list[str]] = []
        self._group = group
        self._number = 0
        channel = PlainChannel()
        channel.traits = replace(channel.traits, join_wait=wait)
        router = OutboundChannelRouter({channel.name: channel})
        self.joiner = Reassembler(self.clock, router, self._release, self._spawn)

    def _release(self, parts: Parts) -> None:
        self.released.append([row.message.text for row in parts])

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._group.start_soon(run)

    def put(self, text: str, joins: str = "", **change: object) -> None:
        self._number += 1
        said = replace(MESSAGE, text=text, joins=joins, **change)  # type: ignore[arg-type]
        row = InboxRow(self._number, "plain", None, None, None, None, "accepted", 0, said)
        self.joiner.put(row)


@pytest.fixture
async def joining() -> AsyncIterator[Joining]:
    async with anyio.create_task_group() as group:
        yield Joining(group)
        group.cancel_scope.cancel()


async def test_a_message_that_is_whole_is_released_at_once(joining: Joining) -> None:
    joining.put("a")
    joining.put("b")
    assert joining.released == [["a"], ["b"]]
    await joining.joiner.idle()


async def test_a3_an_album_is_released_whole_after_its_last_part(joining: Joining) -> None:
    for text in "abc":
        joining.put(text, "album:1")
        await joining.clock.advance(0.9)
    assert joining.released == []
    await joining.clock.advance(0.1)
    assert joining.released == [["a", "b", "c"]]


async def test_a3_a_short_part_of_a_paste_is_none_that_ends_it(joining: Joining) -> None:
    for text in ("a", "b"):
        joining.put(text, "rest")
    joining.put("c")
    joining.put("d")
    await joining.clock.advance(0.9)
    joining.put("e")
    assert joining.released == []
    await joining.clock.advance(0.1)
    assert joining.released == [["a", "b", "c", "d", "e"]]


async def test_a3_each_long_part_of_a_paste_has_the_whole_wait_for_the_next(
    joining: Joining,
) -> None:
    for text in ("a", "b", "c"):
        joining.put(text, "rest")
        await joining.clock.advance(0.9)
    assert joining.released == []
    joining.put("d")
    await joining.clock.advance(0.1)
    assert joining.released == [["a", "b", "c", "d"]]


async def test_a3_a_short_part_of_a_paste_makes_nobody_wait_longer(joining: Joining) -> None:
    joining.put("a", "rest")
    for text in ("b", "c"):
        await joining.clock.advance(0.45)
        joining.put(text)
    await joining.clock.advance(0.1)
    assert joining.released == [["a", "b", "c"]]


async def test_a3_a_paste_is_whole_also_when_others_speak_in_between(joining: Joining) -> None:
    joining.put("a", "rest")
    joining.put("x", sender=BOB)
    joining.put("b")
    joining.put("y", sender=BOB)
    await joining.clock.advance(1)
    assert joining.released == [["a", "b"], ["x"], ["y"]]


async def test_a_paste_ends_with_something_else_that_its_author_says(joining: Joining) -> None:
    joining.put("a", "rest")
    joining.put("a picture", media=(PHOTO,))
    joining.put("b")
    await joining.clock.advance(1)
    assert joining.released == [["a"], ["a picture"], ["b"]]


async def test_what_has_waited_on_the_platform_is_no_part_of_an_older_paste(
    joining: Joining,
) -> None:
    joining.put("a", "rest", date="2026-01-01T00:00:00+00:00")
    joining.put("b", date="2026-01-01T00:00:02+00:00")
    joining.put("c", date="2026-01-01T00:05:00+00:00")
    await joining.clock.advance(1)
    assert joining.released == [["a", "b"], ["c"]]


async def test_a_long_text_that_stays_alone_is_released_after_the_wait(joining: Joining) -> None:
    joining.put("a", "rest")
    await joining.clock.advance(1)
    joining.put("b")
    assert joining.released == [["a"], ["b"]]


async def test_what_is_said_meanwhile_waits_behind_it_in_order(joining: Joining) -> None:
    joining.put("a", "album:1")
    joining.put("x", sender=BOB)
    joining.put("y", "album:2", sender=BOB)
    joining.put("z", sender=BOB)
    assert joining.released == []
    await joining.clock.advance(1)
    assert joining.released == [["a"], ["x"], ["y"], ["z"]]


async def test_albums_that_wait_behind_one_another_have_waited_already(joining: Joining) -> None:
    for number in range(2000):
        joining.put(f"{number}", f"album:{number}")
        joining.put(f"{number}+", f"album:{number}")
    await joining.clock.advance(1)
    assert joining.released == [[f"{number}", f"{number}+"] for number in range(2000)]


async def test_a3_an_album_is_whole_also_when_others_speak_in_between(joining: Joining) -> None:
    joining.put("a", "album:1")
    joining.put("x", sender=BOB)
    joining.put("b", "album:1")
    await joining.clock.advance(2)
    assert joining.released == [["a", "b"], ["x"]]


async def test_another_chat_does_not_wait(joining: Joining) -> None:
    joining.put("a", "album:1")
    joining.put("x", chat_id="-200")
    assert joining.released == [["x"]]


@pytest.mark.parametrize(
    "change",
    [
        {"sender": BOB},
        {"thread_id": "5"},
        {"media": (PHOTO,)},
        {"reply_to": "3"},
        {"command": ",stop"},
        {"kind": "edit"},
        {"joins": "album:1", "media": (PHOTO,)},
    ],
    ids=str,
)
async def test_what_is_no_rest_of_a_paste_stays_by_itself(
    joining: Joining, change: dict[str, object]
) -> None:
    joining.put("a", "rest")
    joining.put(**{"text": "b", **change})  # type: ignore[arg-type]
    await joining.clock.advance(5)
    assert [len(parts) for parts in joining.released] == [1, 1]


async def test_only_so_many_parts_are_one_message(joining: Joining) -> None:
    for number in range(MAX_PARTS + 1):
        joining.put(str(number), "rest")
    await joining.clock.advance(5)
    assert [len(parts) for parts in joining.released] == [MAX_PARTS, 1]


async def test_a_channel_that_tears_nothing_apart_waits_for_nothing() -> None:
    async with anyio.create_task_group() as group:
        joining = Joining(group, wait=0)
        joining.put("a", "album:1")
        assert joining.released == [["a"]]


async def test_idle_waits_until_nothing_is_held_back(joining: Joining) -> None:
    joining.put("a", "album:1")
    idle = anyio.Event()

    async def wait() -> None:
        await joining.joiner.idle()
        idle.set()

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await settle()
        assert not idle.is_set()
        await joining.clock.advance(1)
        assert idle.is_set()


PART = st.tuples(st.sampled_from(["", "rest", "album:1", "album:2"]), st.sampled_from("78"))


@given(parts=st.lists(PART, max_size=12), pauses=st.lists(st.sampled_from([0.0, 0.6, 1.5])))
@examples(60)
async def test_d_nothing_is_lost_or_told_twice_and_each_person_s_words_keep_their_order(
    parts: list[tuple[str, str]], pauses: list[float]
) -> None:
    async with anyio.create_task_group() as group:
        joining = Joining(group)
        for number, (joins, sender) in enumerate(parts):
            joining.put(f"{sender}{number:02}", joins, sender=Author(sender, sender))
            await joining.clock.advance(pauses[number] if number < len(pauses) else 0.0)
        await joining.clock.advance(100)
    told = [text for texts in joining.released for text in texts]
    assert sorted(told) == sorted(f"{sender}{n:02}" for n, (_, sender) in enumerate(parts))
    for sender in "78":
        own = [text for text in told if text.startswith(sender)]
        albums = {joins for joins, author in parts if author == sender and joins[:1] == "a"}
        assert own == sorted(own) or len(albums) > 0
    for texts in joining.released:
        assert len({text[0] for text in texts}) == 1


def part(text: str, **change: object) -> InboundMessage:
    said = replace(MESSAGE, addressed=False, why="said to the group", text=text)
    return replace(said, **change)  # type: ignore[arg-type]


def test_a_joined_message_has_the_first_one_s_place_and_everybody_s_media_in_order() -> None:
    first, second = Media("image", "a"), Media("image", "b")
    joined = merge_parts([part("", message_id="1", media=(first,)), part("x", media=(second,))])
    assert (joined.message_id, joined.media, joined.text) == ("1", (first, second), "x")


def test_a_joined_message_asks_when_any_of_its_parts_does() -> None:
    asking = part("b", addressed=True, why="mention", mentions=("@bot", "@x"))
    joined = merge_parts([part("a", mentions=("@x",)), asking, part("c", follows=True)])
    assert (joined.addressed, joined.why, joined.follows) == (True, "mention", True)
    assert joined.mentions == ("@x", "@bot")
    assert not merge_parts([part("a"), part("b")]).addressed


@pytest.mark.parametrize("text", ["x" * MAX_PART_LENGTH, "😀" * (MAX_PART_LENGTH // 2)])
def test_a_text_that_was_cut_in_a_word_goes_on_in_it(text: str) -> None:
    assert merge_parts([part(text), part("y")]).text == f"{text}y"
    assert merge_parts([part(text[:-1]), part("y")]).text == f"{text[:-1]}\ny"
    assert merge_parts([part(text), part(""), part("y")]).text == f"{text}y"


def test_a_long_command_and_the_command_of_an_album_s_caption_stay_commands() -> None:
    long = part("@bot /handoff x", command=",handoff x", joins="rest")
    assert merge_parts([long, part("and y")]).command == ",handoff x\nand y"
    assert merge_parts([part("x", joins="rest"), part("/y", command=",y")]).command == ""
    caption = part("/help", command=",help", joins="album:1")
    photo = part("", joins="album:1")
    assert merge_parts([photo, caption]).command == ",help"
    assert merge_parts([caption, part("a photo", joins="album:1")]).command == ""


@pytest.mark.parametrize("length", [2048, 3000, MAX_PART_LENGTH - 1])
def test_a_text_that_was_cut_at_a_blank_goes_on_in_a_new_line(length: int) -> None:
    texts = ["# One" + "x" * (length - 5), "", "## Two", "the end"]
    assert merge_parts([part(text) for text in texts]).text.split("\n") == [
        texts[0],
        "## Two",
        "the end",
    ]


def test_a_joined_message_has_what_others_wrote_in_any_of_its_parts() -> None:
    card, mail = Excerpt("card", "one"), Excerpt("mail", "two")
    carded = part("a", excerpts=(card,), omitted=("1 more file",))
    joined = merge_parts([carded, part("b", excerpts=(mail,))])
    assert (joined.excerpts, joined.omitted) == ((card, mail), ("1 more file",))
