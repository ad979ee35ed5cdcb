"""Tokens, reading, limits and faults of the fake Slack, asked by the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.base.faults import Hang, LostAnswer, Reset, ServerError, Slow
from tests.fakes.slack.client import Web, error_of, refusal
from tests.fakes.slack.console import act, shown
from tests.fakes.slack.faults import RateLimited, Refuse
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User
from tests.kit.clock import ManualClock, rest

# -- tokens and scopes


async def test_a_call_needs_a_token_of_the_right_kind(slack: FakeSlack) -> None:
    bare = AsyncWebClient(base_url=slack.base_url)
    assert await error_of(bare.auth_test()) == "not_authed"
    assert await error_of(Web(slack, "xoxb-wrong").auth_test()) == "invalid_auth"
    assert await error_of(Web(slack, slack.app_token).auth_test()) == "not_allowed_token_type"
    assert (await bare.auth_test(token=slack.bot_token))["ok"]


async def test_a_call_needs_its_scope(slack: FakeSlack, web: Web, room: Channel) -> None:
    slack.events.scopes.discard("channels:history")
    answer = await refusal(web.conversations_history(channel=room.id))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "channels:history")
    assert "chat:write" in answer["provided"]


async def test_listing_needs_the_scope_of_each_kind(slack: FakeSlack, web: Web) -> None:
    slack.events.scopes.discard("mpim:read")
    await web.users_conversations(types="public_channel,im")
    answer = await refusal(web.users_conversations(types="public_channel,mpim"))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "mpim:read")


async def test_a_method_that_nobody_knows_is_refused(web: Web) -> None:
    assert await error_of(web.api_call("chat.sing")) == "unknown_method"


async def test_arguments_of_the_wrong_form_are_refused(slack: FakeSlack, room: Channel) -> None:
    web = Web(slack)
    call = web.api_call("chat.postMessage", json={"channel": room.id, "text": 1})
    assert await error_of(call) == "invalid_arguments"
    call = web.api_call("conversations.history", params={"channel": room.id, "limit": "x"})
    assert await error_of(call) == "invalid_arguments"
    assert await error_of(web.api_call("conversations.history")) == "invalid_arguments"


async def test_a_revoked_token_and_a_removed_app_say_so(web: Web) -> None:
    web.slack.token_revoked = True
    assert await error_of(web.auth_test()) == "token_revoked"
    web.slack.token_revoked = False
    web.slack.uninstall()
    assert await error_of(web.auth_test()) == "account_inactive"
    kinds = [it.event["type"] for it in web.slack.deliveries.all]
    assert kinds == ["tokens_revoked", "app_uninstalled"]


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # the SDK still uses it
async def test_workspaces_are_kept_apart_and_installed_with_a_code(web: Web, room: Channel) -> None:
    other = web.slack.add_workspace("Other Works", "xoxb-other", installed=False)
    second = Web(web.slack, "xoxb-other")
    assert await error_of(second.auth_test()) == "invalid_auth"
    web.slack.tokens.oauth_codes["code-1"] = other

    async def install(secret: str) -> Any:
        return await web.oauth_v2_access(
            client_id=web.slack.tokens.client_id, client_secret=secret, code="code-1"
        )

    assert await error_of(install("wrong")) == "bad_client_secret"
    installed = await install(web.slack.tokens.client_secret)
    assert installed["access_token"] == "xoxb-other"
    assert await error_of(install(web.slack.tokens.client_secret)) == "invalid_code"
    assert (await second.auth_test())["team_id"] == other.team_id == installed["team"]["id"]
    call = second.chat_postMessage(channel=room.id, text="x")
    assert await error_of(call) == "channel_not_found"


# -- reading


async def test_who_the_bot_is_and_who_the_others_are(web: Web, ada: User) -> None:
    own = await web.auth_test()
    assert own["user_id"] == web.slack.workspace.bot.id
    assert (await web.bots_info(bot=own["bot_id"]))["bot"]["user_id"] == own["user_id"]
    found = (await web.users_info(user=ada.id))["user"]
    assert (found["profile"]["display_name"], found["is_bot"]) == ("ada", False)
    assert await error_of(web.users_info(user="U1")) == "user_not_found"


async def test_conversations_are_told_as_far_as_the_bot_may_know(
    slack: FakeSlack, web: Web, room: Channel, ada: User
) -> None:
    secret = slack.channel("secret", "group", member=False)
    assert await error_of(web.conversations_info(channel=secret.id)) == "channel_not_found"
    assert (await web.conversations_info(channel=room.id))["channel"]["is_member"]
    opened = (await web.conversations_open(users=[ada.id]))["channel"]["id"]
    assert opened == slack.im(ada).id
    listed = await web.conversations_list(types="public_channel,private_channel")
    assert [it["id"] for it in listed["channels"]] == [room.id]
    members = await web.conversations_members(channel=room.id)
    assert set(members["members"]) == {ada.id, slack.workspace.bot.id}


@pytest.mark.parametrize(
    ("limit", "ends", "texts"),
    [
        (100, {}, "4 3 2 1 0"),
        (2, {}, "4 3 2 1 0"),
        (2, {"oldest": 1}, "3 2 4"),
        (2, {"oldest": 1, "latest": 4}, "3 2"),
        (100, {"oldest": 1, "latest": 3, "inclusive": True}, "3 2 1"),
    ],
)
async def test_history_is_read_page_by_page(
    slack: FakeSlack,
    web: Web,
    room: Channel,
    ada: User,
    limit: int,
    ends: dict[str, Any],
    texts: str,
) -> None:
    said = [slack.say(room, ada, str(number)) for number in range(5)]
    slack.say(room, ada, "in a thread", thread=said[0])
    given: dict[str, Any] = {name: it if it is True else said[it].ts for name, it in ends.items()}
    found = []
    async for page in await web.conversations_history(channel=room.id, limit=limit, **given):
        assert len(page["messages"]) <= limit
        found += [message["text"] for message in page["messages"]]
    assert " ".join(found) == texts


async def test_a_thread_is_read_with_its_parent(web: Web, room: Channel, ada: User) -> None:
    said = web.slack.say(room, ada, "parent")
    answers = [web.slack.say(room, ada, str(number), thread=said) for number in range(3)]
    page = await web.conversations_replies(channel=room.id, ts=said.ts, oldest=answers[0].ts)
    assert [it["text"] for it in page["messages"]] == ["parent", "1", "2"]
    page = await web.conversations_replies(channel=room.id, ts=said.ts, limit=2)
    assert page["has_more"]
    assert await error_of(web.conversations_replies(channel=room.id, ts="1.1")) == (
        "thread_not_found"
    )


async def test_a_file_is_given_to_the_token_and_a_page_to_others(
    slack: FakeSlack, web: Web, room: Channel, ada: User
) -> None:
    file = slack.file("notes.txt", b"hello", "text/plain", ada, stub=True)
    said = slack.say(room, ada, "look", files=[file])
    assert said.json["files"] == [
        {"id": file.id, "file_access": "check_file_info", "mode": "file_access"}
    ]
    whole = (await web.files_info(file=file.id))["file"]
    assert whole["size"] == 5
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with aiohttp.ClientSession() as session:
        async with session.get(whole["url_private"], headers=headers) as answer:
            assert (answer.status, await answer.read()) == (200, b"hello")
        async with session.get(whole["url_private_download"]) as answer:
            assert (answer.status, answer.content_type) == (200, "text/html")
            assert b"Sign in" in await answer.read()
    assert await error_of(web.files_info(file="F1")) == "file_not_found"


# -- limits and faults


async def test_posts_are_limited_by_channel_and_methods_by_tier() -> None:
    clock = ManualClock()
    async with FakeSlack(limits=True, clock=clock.monotonic, sleep=clock.sleep) as slack:
        web, one, two = Web(slack), slack.channel("one"), slack.channel("two")
        for _ in range(4):
            await web.chat_postMessage(channel=one.id, text="x")
        answer = await refusal(web.chat_postMessage(channel=one.id, text="x"))
        assert (answer.status_code, answer["error"]) == (429, "ratelimited")
        assert answer.headers["Retry-After"] == "1"
        await web.chat_postMessage(channel=two.id, text="x")
        await clock.advance(1)
        ts = (await web.chat_postMessage(channel=one.id, text="x"))["ts"]
        for number in range(50):
            await web.chat_update(channel=one.id, ts=ts, text=str(number))
        answer = await refusal(web.chat_update(channel=one.id, ts=ts, text="x"))
        assert answer.headers["Retry-After"] == "2"
        assert slack.too_many == 2


async def test_faults_come_once_each_and_for_their_channel(web: Web, room: Channel) -> None:
    other = web.slack.channel("other")
    web.slack.fail("chat.postMessage", RateLimited(40), Refuse("fatal_error"), channel=room.id)
    web.slack.fail("*", ServerError(503))
    assert (await refusal(web.auth_test())).status_code == 503
    await web.chat_postMessage(channel=other.id, text="x")
    answer = await refusal(web.chat_postMessage(channel=room.id, text="x"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "40")
    assert len(web.slack.faults_left) == 1
    assert await error_of(web.chat_postMessage(channel=room.id, text="x")) == "fatal_error"
    assert web.slack.faults_left == []
    assert web.slack.messages(room.id) == []


async def test_a_fault_can_be_for_whichever_of_several_methods_comes_first(
    slack: FakeSlack, web: Web, room: Channel
) -> None:
    slack.fail("chat.startStream|chat.postMessage", Refuse("fatal_error"))
    assert await error_of(web.chat_postMessage(channel=room.id, text="x")) == "fatal_error"
    await web.chat_postMessage(channel=room.id, text="x")


async def test_an_answer_can_be_lost_before_or_after_the_deed(web: Web, room: Channel) -> None:
    web.slack.fail("chat.postMessage", Reset(), LostAnswer(), Slow(0.001))
    for _ in range(2):
        with pytest.raises(aiohttp.ClientConnectionError):
            await web.chat_postMessage(channel=room.id, text="x")
    assert [call.ok for call in web.slack.calls] == [False, True]
    await web.chat_postMessage(channel=room.id, text="y")
    assert web.slack.text_of(room.id) == "x\ny"


@pytest.mark.parametrize("done_first", [True, False])
async def test_a_call_can_hang(web: Web, room: Channel, done_first: bool) -> None:
    hang = Hang(done_first)
    web.slack.fail("chat.postMessage", hang)
    call = asyncio.create_task(web.chat_postMessage(channel=room.id, text="x"))
    await web.slack.wait_for_call(0)
    await rest()
    assert len(web.slack.messages(room.id)) == int(done_first)
    hang.release()
    await call
    assert len(web.slack.messages(room.id)) == 1


async def test_the_half_open_and_the_cut_off_answer_nothing(web: Web) -> None:
    async with aiohttp.ClientSession() as session:
        own = AsyncWebClient(web.slack.bot_token, base_url=web.slack.base_url, session=session)
        own.retry_handlers = []
        await own.auth_test()
        web.slack.half_open()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(own.auth_test(), 0.02)
        assert web.slack.open_connections >= 0
    await web.auth_test()
    web.slack.cut_off = True
    with pytest.raises(aiohttp.ClientConnectionError):
        await web.auth_test()


async def test_no_token_is_among_what_was_called(slack: FakeSlack, web: Web) -> None:
    await web.auth_test(token=slack.bot_token)
    assert slack.bot_token not in repr(slack.calls)


# -- by hand


async def test_typed_lines_become_messages(slack: FakeSlack, web: Web) -> None:
    assert act(slack, "#general Ada: @tapeway hello")
    assert act(slack, "#general Bob: hi Ada")
    assert act(slack, "@ Ada: in private")
    assert not act(slack, "nonsense")
    room = next(it for it in slack.world.channels.values() if it.name == "general")
    texts = [message.text for message in room.messages.values()]
    assert texts == [f"<@{slack.workspace.bot.id}> hello", "hi Ada"]
    await web.chat_postMessage(channel=room.id, text="well")
    assert shown(slack, slack.calls[-1]).startswith("chat.postMessage #general")
