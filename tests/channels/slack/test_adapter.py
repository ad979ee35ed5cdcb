"""The Slack channel over sockets: messages are on disk before they are acknowledged."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from channels.errors import ChannelDown, ChannelUnfit, MediaRefused, SendRefused
from channels.message import Media, OutboundMessage
from tests.channels.slack.events import signed
from tests.channels.slack.hosts import Running, all_delivered, running, slack
from tests.fakes.base.faults import ServerError
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock, rest


async def test_it_connects_catches_up_and_is_then_ready(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    assert len(fake.sockets.live) == 1
    assert app.host.warnings == []
    assert "/invite @tapeway" in app.channel.invitation


@pytest.mark.parametrize("first", ["message", "app_mention"])
@pytest.mark.parametrize("delay", [0.0, 0.05])
async def test_a2_the_two_events_of_a_mention_are_one_addressed_message(
    first: str, delay: float, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    fake.events.first_twin = first  # type: ignore[assignment]
    fake.events.twin_delay = delay
    sent = fake.say(fake.channel(), fake.user("Ada"), "@tapeway hello")
    await app.heard(1)
    await all_delivered(fake)
    (message,) = app.host.accepted
    assert (message.message_id, message.addressed, message.why) == (sent.ts, True, "mention")
    assert message.text == "@tapeway hello"


async def test_a2_a_mention_is_accepted_even_if_the_app_may_not_read_the_channel(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    fake.events.scopes -= {"channels:history"}
    fake.say(fake.channel(), fake.user("Ada"), "@tapeway hello")
    await app.heard(1)
    await all_delivered(fake)
    assert [one.why for one in app.host.accepted] == ["mention"]


async def test_events_that_arrive_out_of_order_are_accepted_in_order() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock, reorder_seconds=0.2) as app:
        await app.ready()
        room, ada = fake.channel(), fake.user("Ada")
        fake.deliveries.hold()
        for number in range(8):
            fake.say(room, ada, f"{number}")
        fake.deliveries.release(lambda waiting: list(reversed(waiting)))
        while len(app.host.accepted) < 8:
            await clock.advance(0.05)
            await rest()
        assert app.host.texts() == [str(number) for number in range(8)]
        assert {it.attempt for it in fake.deliveries.all} == {0}


@pytest.mark.parametrize("http", [False, True])
async def test_d7_nothing_is_acknowledged_before_it_is_on_disk(http: bool) -> None:
    clock, refuses = ManualClock(datetime.now(UTC)), [ChannelDown("the disk is full")]
    async with slack(clock) as fake:
        channel = running(fake, clock=clock, http=http, refusals=refuses)
        async with channel as app, app.web() as web:
            await app.ready()
            if not http:
                sent = fake.say(fake.channel(), fake.user("Ada"), "one")
                await fake.wait_for(lambda _: not app.host.refusals)
                assert len(fake.deliveries.pending) == 1
                while fake.deliveries.pending:
                    await clock.advance(1)
                    await rest()
                assert [one.message_id for one in app.host.accepted] == [sent.ts]
                return
            fake.deliveries.hold()
            fake.say(fake.channel(), fake.user("Ada"), "one")
            body = json.dumps(fake.deliveries.all[-1].payload)
            first = await web.post("/slack/events", content=body, headers=signed(fake, body))
            again = await web.post("/slack/events", content=body, headers=signed(fake, body))
            assert (first.status_code, again.status_code) == (503, 200)
            assert app.host.texts() == ["one"]


async def test_over_http_only_requests_that_slack_just_signed_are_accepted() -> None:
    async with slack() as fake, running(fake, http=True) as app, app.web() as web:
        await app.ready()
        fake.deliveries.hold()
        fake.say(fake.channel(), fake.user("Ada"), "one")
        body = json.dumps(fake.deliveries.all[-1].payload)
        right = signed(fake, body)
        wrong = [
            {},
            signed(fake, body + " "),
            signed(fake, body, age=301),
            {**right, "x-slack-request-timestamp": "soon"},
            {**right, "x-slack-request-timestamp": "9" * 400},
        ]
        for headers in wrong:
            answer = await web.post("/slack/events", content=body, headers=headers)
            assert answer.status_code == 401
        assert app.host.accepted == []
        assert any("TAPEWAY_SLACK__SIGNING_SECRET" in note for note in app.host.warnings)
        assert (await web.post("/slack/events", content=body, headers=right)).status_code == 200
        assert app.host.texts() == ["one"]
        challenge = json.dumps({"type": "url_verification", "challenge": "abc", "token": "x"})
        proof = await web.post("/slack/events", content=challenge, headers=signed(fake, challenge))
        assert (proof.status_code, proof.json()) == (200, {"challenge": "abc"})
        assert fake.sockets.opened == 0


async def test_without_a_signing_secret_http_requests_are_refused() -> None:
    async with slack() as fake, running(fake, signing_secret="") as app, app.web() as web:
        await app.ready()
        body = json.dumps({"type": "event_callback"})
        answer = await web.post("/slack/events", content=body, headers=signed(fake, body))
        assert answer.status_code == 404


async def test_auth_test_is_called_once_and_no_event_waits_for_it(app: Running) -> None:
    await app.ready()
    app.fake.fail("auth.test", ServerError(500), Refuse("ratelimited"), Refuse("internal_error"))
    app.fake.say(app.fake.channel(), app.fake.user("Ada"), "one")
    await app.heard(1)
    await all_delivered(app.fake)
    assert len(app.fake.calls_of("auth.test")) == 1
    app.fake.forget_faults()


async def test_an_unreadable_event_is_stored_once_and_later_events_arrive(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    room, ada = fake.channel(), fake.user("Ada")
    fake.events.emit(room.workspace, {"type": "message", "channel": None, "ts": 7}, "app_mention")
    fake.say(room, ada, "next")
    await app.heard(2)
    await all_delivered(fake)
    kept = [one for one in app.host.accepted if one.kind == "unreadable"]
    assert len(kept) == len(app.host.errors) >= 1
    assert "next" in app.host.texts()


async def test_people_and_channels_have_names_once_these_were_looked_up(app: Running) -> None:
    await app.ready()
    room, ada = app.fake.channel("garden"), app.fake.user("Ada Lovelace")
    app.fake.say(room, ada, "one")
    await app.heard(1)
    await app.fake.wait_for_calls("users.info", 1)
    await app.fake.wait_for_calls("conversations.info", 1)
    await rest()
    app.fake.say(room, ada, "two")
    await app.heard(2)
    last = app.host.accepted[-1]
    assert (last.sender.name, last.chat_title) == ("ada.lovelace", "garden")
    assert last.sender.id == ada.id


async def test_a_name_that_is_looked_up_during_the_hold_is_in_the_first_message() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock, reorder_seconds=0.2) as app:
        await app.ready()
        fake.say(fake.channel("garden"), fake.user("Ada Lovelace"), "hello")
        await fake.wait_for_calls("users.info", 1)
        await fake.wait_for_calls("conversations.info", 1)
        await rest()
        await clock.advance(0.2)
        await app.heard(1)
        (message,) = app.host.accepted
        assert (message.sender.name, message.chat_title) == ("ada.lovelace", "garden")


@pytest.mark.parametrize(
    ("values", "sent"),
    [
        ({"bot_token": "xoxb-other"}, "TAPEWAY_SLACK__BOT_TOKEN"),
        ({"app_token": "xapp-other"}, "TAPEWAY_SLACK__APP_TOKEN"),
        ({"app_token": "", "signing_secret": ""}, "TAPEWAY_SLACK__SIGNING_SECRET"),
        ({"bot_token": ""}, "TAPEWAY_SLACK__BOT_TOKEN"),
    ],
)
async def test_f4_a_bad_setting_is_reported_with_its_remedy(
    values: dict[str, object], sent: str
) -> None:
    async with slack() as fake, running(fake, **values) as app:  # type: ignore[arg-type]
        error = await app.error()
        assert isinstance(error, ChannelUnfit)
        assert sent in str(error)
        assert "xoxb-other" not in str(error)


async def test_f4_a_token_that_is_revoked_later_ends_the_channel() -> None:
    async with slack() as fake, running(fake, http=True) as app:
        await app.ready()
        fake.workspace.refused = "token_revoked"
        with pytest.raises(ChannelUnfit):
            await app.channel.deliver(OutboundMessage("slack", "C1", "hi", idem="a"))
        assert "TAPEWAY_SLACK__BOT_TOKEN" in str(await app.error())


@pytest.mark.parametrize("code", ["not_allowed_token_type", "invalid_auth", "token_expired"])
async def test_f4_a_token_is_valid_as_long_as_auth_test_accepts_it(code: str, app: Running) -> None:
    await app.ready()
    room = app.fake.channel()
    app.fake.fail("chat.postMessage|assistant.threads.setStatus", Refuse(code))
    with pytest.raises((ChannelDown, SendRefused)):
        await app.channel.deliver(OutboundMessage("slack", room.id, "hi", idem="a"))
    await app.channel.deliver(OutboundMessage("slack", room.id, "hi", idem="a"))
    assert app.fake.text_of(room.id) == "hi"


async def test_a_missing_scope_is_reported_by_name(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    fake.events.scopes -= {"chat:write"}
    room = fake.channel()
    with pytest.raises(SendRefused, match="chat:write"):
        await app.channel.deliver(OutboundMessage("slack", room.id, "hi", idem="a"))
    (note,) = app.host.warnings
    assert "chat:write" in note
    assert "reinstall" in note


async def test_files_are_fetched_only_from_the_workspace_s_host(app: Running) -> None:
    await app.ready()
    ada = app.fake.user("Ada")
    file = app.fake.file("plan.pdf", b"x" * 5000, "application/pdf", ada)
    app.fake.say(app.fake.im(ada), ada, "see", files=[file])
    await app.heard(1)
    (media,) = app.host.accepted[0].media
    assert (media.kind, media.name, media.size) == ("file", "plan.pdf", 5000)
    assert await app.channel.fetch(media, 10_000) == b"x" * 5000
    with pytest.raises(MediaRefused, match="larger"):
        await app.channel.fetch(media, 4_000)
    file.json["size"] = 0
    with pytest.raises(MediaRefused, match="larger"):
        await app.channel.fetch(media, 4_000)
    for origin in ("https://example.org", app.fake.base.replace("127.0.0.1", "localhost")):
        file.json["url_private_download"] = f"{origin}/files-pri/x"
        with pytest.raises(MediaRefused, match="outside Slack"):
            await app.channel.fetch(media, 10_000)
    del file.json["url_private_download"]
    app.fake.events.scopes -= {"files:read"}
    with pytest.raises(MediaRefused):
        await app.channel.fetch(Media("file", "file", file=f"/{file.id}"), 10_000)


async def test_a_login_page_in_place_of_a_file_is_refused(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    workspace = app.channel.workspaces.of("")
    with pytest.raises(MediaRefused, match="login page"):
        await workspace.api.download(f"{fake.base}/elsewhere", 10_000, "image/png")


async def test_each_workspace_in_the_file_of_installations_is_an_account(
    tmp_path: object, fake: FakeSlack
) -> None:
    path = f"{tmp_path}/installations.json"
    other = fake.world.workspace("Other Works", "xoxb-2-test")
    with open(path, "w") as file:  # noqa: ASYNC230, PTH123 - a small one, for the test
        json.dump({other.team_id: {"bot_token": "xoxb-2-test", "name": "Other"}}, file)
    async with running(fake, installations=path) as app:
        await app.ready()
        ada, bob = fake.user("Ada"), fake.user("Bob", workspace=other)
        fake.say(fake.im(ada), ada, "here")
        fake.say(fake.im(bob), bob, "there")
        await app.heard(2)
        accounts = {one.text: one.account for one in app.host.accepted}
        assert accounts == {"here": "", "there": other.team_id}
        sent = OutboundMessage("slack", fake.im(bob).id, "hi", idem="a", account=other.team_id)
        await app.channel.deliver(sent)
        assert fake.text_of(fake.im(bob).id) == "hi"
        fake.uninstall(other)
        await app.host.until(lambda: bool(app.host.warnings))
        assert "installed" in app.host.warnings[0]
        fake.say(fake.im(ada), ada, "still here")
        await app.heard(3)


async def test_a_slash_command_is_a_question_or_a_command_of_the_gateway(app: Running) -> None:
    await app.ready()
    room, ada = app.fake.channel(), app.fake.user("Ada")
    for text in ("stop", "ask what is it?", "how are you", "", "status", "reset now"):
        app.fake.slash(room, ada, text)
    await app.heard(6)
    await all_delivered(app.fake)
    assert sorted(app.host.texts()) == sorted(
        [",stop", "what is it?", "how are you", ",help", ",tape.info", ",reset now"]
    )
    assert all(one.addressed and one.chat_kind == "group" for one in app.host.accepted)
    commands = [it for it in app.fake.deliveries.all if it.kind == "slash_commands"]
    answers = {it.payload["text"]: it.answer for it in commands}
    assert answers["ask what is it?"] == {"response_type": "in_channel"}
    assert answers["stop"] is None


ODD: list[Any] = [
    {"type": "event_callback", "authorizations": [None], "event": {}},
    {"type": "event_callback", "event": {"type": "message", "message": [1]}},
    {"type": "event_callback", "team": "T", "enterprise": "y", "user": 5, "event": [1]},
    {"type": "block_actions", "actions": "x", "user": None},
    {"type": "block_actions", "actions": [{"action_id": "tapeway.0"}], "channel": {"id": 5}},
    {"response_urls": [5]},
]


@pytest.mark.parametrize("payload", [*ODD, [1], 5, None])
async def test_an_odd_envelope_is_stored_once_and_ends_nothing(payload: Any) -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake, running(fake, clock=clock) as app:
        await app.ready()
        refuses = not isinstance(payload, dict) or "authorizations" in payload
        if refuses:
            app.host.refusals = [ChannelDown("the disk is full")]
        fake.deliveries.add("interactive" if payload is ODD[-1] else "events_api", payload)
        fake.say(fake.im(ada := fake.user("Ada")), ada, "next")
        while "next" not in app.host.texts() or len(fake.deliveries.pending) > refuses:
            await clock.advance(1)
            await rest()


async def test_an_envelope_that_bolt_cannot_read_is_stored_and_acknowledged(app: Running) -> None:
    await app.ready()
    secret = {"token": "legacy", "response_url": "https://hooks.example/x", "a": 1}
    app.fake.deliveries.add("events_api", {**ODD[0], **secret})
    await app.heard(1)
    await all_delivered(app.fake)
    (kept,) = app.host.accepted
    assert kept.kind == "unreadable"
    assert json.loads(kept.raw["json"]) == {**ODD[0], "a": 1}
    assert len(app.host.errors) == 1


@pytest.mark.parametrize("body", ["[1]", "5", '"x"', "{bad", "[" * 100_000, "payload=5"])
async def test_over_http_an_unreadable_body_is_refused(body: str) -> None:
    async with slack() as fake, running(fake, http=True) as app, app.web() as web:
        await app.ready()
        headers = signed(fake, body)
        if body.startswith("payload"):
            headers["content-type"] = "application/x-www-form-urlencoded"
        wrong = {**headers, "x-slack-signature": "v0=a"}
        for given, status in ((wrong, 401), (headers, 400)):
            answer = await web.post("/slack/events", content=body, headers=given)
            assert answer.status_code == status
        assert app.host.errors == []


async def test_over_http_a_body_that_bolt_cannot_read_is_stored() -> None:
    async with slack() as fake, running(fake, http=True) as app, app.web() as web:
        await app.ready()
        body = json.dumps(ODD[0])
        unsigned = {**signed(fake, body), "x-slack-signature": "v0=a"}
        assert (await web.post("/slack/events", content=body, headers=unsigned)).status_code == 401
        assert app.host.accepted == []
        app.host.refusals = [ChannelDown("the disk is full")]
        for status in (503, 200):
            answer = await web.post("/slack/events", content=body, headers=signed(fake, body))
            assert answer.status_code == status
        assert [one.kind for one in app.host.accepted] == ["unreadable"]
        raw = b"\xff\xfe"
        answer = await web.post("/slack/events", content=raw, headers=signed(fake, "x"))
        assert answer.status_code == 401
