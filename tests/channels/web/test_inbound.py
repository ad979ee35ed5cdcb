"""Who is asked by a post of the page (the behaviours B2 and B3)."""

from __future__ import annotations

from uuid import UUID

import pytest

from channels.message import InboundMessage
from channels.room.routes import Post, RoomPerson
from channels.room.session import PageSession
from channels.web.inbound import addressed, parse

AGENT = "Tapeway"
OTHERS = ("Anna", "Ben Müller")
POST_ID = UUID("11111111-2222-4333-8444-555555555555")


def asks(text: str, *, to_agent: bool = False, to_ours: bool = False, agent: str = AGENT) -> bool:
    return addressed(text, agent, OTHERS, to_agent=to_agent, to_ours=to_ours)[0]


@pytest.mark.parametrize(
    "text",
    ["@Tapeway", "@tapeway what is tea?", "so, @TAPEWAY: tea?", "(@Tapeway)", "tea?\n@Tapeway!"],
)
def test_b2_a_mention_asks_wherever_it_stands_and_however_it_is_written(text: str) -> None:
    assert addressed(text, AGENT, OTHERS, to_agent=False, to_ours=False) == (True, "mention")


@pytest.mark.parametrize(("agent", "text"), [("小助手", "你好@小助手帮我"), ("Bot!", "@Bot! tea?")])
def test_b2_a_mention_is_known_in_every_script(agent: str, text: str) -> None:
    assert asks(text, agent=agent)


def test_b2_a_reply_to_the_agent_asks() -> None:
    assert addressed("and now?", AGENT, OTHERS, to_agent=False, to_ours=True) == (True, "reply")


def test_b2_the_pages_switch_decides_over_plain_text() -> None:
    said = addressed("tea?", AGENT, OTHERS, to_agent=True, to_ours=False)
    assert said == (True, "asked on the page")
    said = addressed("tea?", AGENT, OTHERS, to_agent=False, to_ours=False)
    assert said == (False, "said to the room")


@pytest.mark.parametrize("text", ["@Anna tea?", "  @anna, tea?", "@Ben Müller tea?"])
def test_b3_a_mention_of_somebody_else_only_does_not_ask(text: str) -> None:
    assert not asks(text, to_agent=True)


def test_b3_a_mention_of_somebody_else_and_of_the_agent_asks() -> None:
    assert asks("@Anna and @Tapeway: tea?")


@pytest.mark.parametrize("text", ["@everyone tea?", "@here, tea?", "@Everyone"])
def test_b3_a_mention_of_everyone_does_not_ask(text: str) -> None:
    assert not asks(text, to_agent=True)


@pytest.mark.parametrize(
    "text",
    [
        "`@Tapeway`",
        "``@Tapeway``",
        "``use ` @Tapeway here``",
        "`one\n@Tapeway two`",
        "```\n@Tapeway\n```",
        "```py\n@Tapeway",
        "~~~\n@Tapeway\n~~~",
        "    @Tapeway()\n    def tea(): ...",
        "see https://example.org/@Tapeway",
        "see <http://example.org/@Tapeway/tea>",
        "see medium.com/@Tapeway",
        "write to tea@Tapeway",
        "write to tea@tapeway.example.org",
    ],
)
def test_b3_the_agents_name_in_code_or_an_address_does_not_ask(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "`code` @Tapeway `code`",
        "a ` alone @Tapeway",
        "```\ncode\n```\n@Tapeway tea?",
        "https://example.org/ @Tapeway",
    ],
)
def test_b3_a_mention_beside_code_or_an_address_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["@Tapeways", "@Tape", "Tapeway", "tea@Tapeway"])
def test_b3_a_longer_or_shorter_name_is_another_name(text: str) -> None:
    assert not asks(text)


def parsed(text: str, reply_to: str | None = None, *, owner: bool = True) -> InboundMessage:
    person = RoomPerson(name="Ben Müller")
    post = Post(id=POST_ID, person=person, text=text, to_agent=True, reply_to=reply_to)
    session = PageSession("p7", owner=owner, rooms=("lobby",))
    return parse("lobby", post, session, "2026-01-02T00:00:00+00:00", AGENT, [*OTHERS, AGENT])


def test_a_second_try_of_a_post_is_the_same_event() -> None:
    one, two = parsed("tea?"), parsed("tea?")
    assert one.ext_id == two.ext_id == f"lobby/{POST_ID}"
    assert one.message_id == str(POST_ID)


def test_a_post_is_a_group_message_of_its_author() -> None:
    message = parsed("tea?", reply_to="turn:1")
    assert (message.channel, message.chat_id, message.chat_kind) == ("web", "lobby", "group")
    assert (message.sender.id, message.sender.name) == ("p7", "Ben Müller")
    assert (message.text, message.reply_to, message.owner) == ("tea?", "turn:1", True)
    assert not message.invited


def test_a_member_s_post_is_no_owner_s() -> None:
    message = parsed("tea?", owner=False)
    assert (message.owner, message.invited) == (False, True)


def test_who_mentions_themselves_asks_all_the_same() -> None:
    assert parsed("@Ben Müller is me, what is tea?").addressed


def test_a_reply_to_a_persons_message_is_not_one_to_the_agent() -> None:
    assert parsed("tea?", reply_to="turn:1").why == "reply"
    assert parsed("tea?", reply_to=str(POST_ID)).why == "asked on the page"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/Reset", ",reset"),
        (",reset", ",reset"),
        ("/tape.search query=tea", ",tape.search query=tea"),
        ("/start\nnow", ",start\nnow"),
        ("@Tapeway /stop", ",stop"),
        ("@tapeway: ,stop all", ",stop all"),
        ("@Tapeway,help me", ""),
        ("@Anna /stop", ""),
        ("/etc/hosts is broken", ""),
        ("/tmp is full", ",tmp is full"),
        ("/ reset", ""),
        ("/", ""),
        ("a /reset", ""),
    ],
)
def test_what_has_the_form_of_a_command_stays_as_it_was_written(text: str, line: str) -> None:
    message = parsed(text)
    assert (message.text, message.command) == (text, line)
