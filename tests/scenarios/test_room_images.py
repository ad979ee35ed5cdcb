"""Images of the page: kept for their room, and erased with their message."""

from __future__ import annotations

import base64
from pathlib import Path
from uuid import uuid4

import httpx2

from channels.message import InboundMessage
from gateway.app import Gateway
from gateway.plugin import hookimpl
from tests.contracts.pictures import images_of, picture
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import Visitor, visit


class Dropping:
    """A plugin that drops some messages."""

    @hookimpl
    def admit_message(self, message: InboundMessage) -> str | None:
        return "drop" if message.text.startswith("drop") else None


async def send(
    visitor: Visitor,
    data: bytes,
    mime: str = "image/png",
    text: str = "what is this?",
    message_id: str = "",
) -> tuple[str, int]:
    """Post an image; return the message's id, and the answer's status."""
    file = {"name": "kettle.png", "mime": mime, "data": base64.b64encode(data).decode()}
    message_id = message_id or str(uuid4())
    answer = await visitor.post(
        text, to_agent=True, reply_to=None, message_id=message_id, files=[file]
    )
    return message_id, answer.status_code


async def test_an_erased_person_s_images_are_gone_from_the_disk_and_the_page(
    model: FakeOpenAI, tmp_path: Path, gateway: Gateway
) -> None:
    async with (
        visit(gateway.url, "Ann") as (ann,),
        httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client,
    ):
        said, _status = await send(ann, picture())
        await ann.answer(said)
        await settled(gateway)
        path = f"/api/rooms/lobby/messages/{said}/images/0"
        shown = await client.get(path)
        assert (shown.status_code, shown.content) == (200, picture())
        assert shown.headers["content-type"] == "image/png"
        assert shown.headers["cache-control"] == "no-store"
        assert len(list((tmp_path / "media").iterdir())) == 2  # as it was sent, and as it is shown
        assert len(images_of(model.requests[-1])) == 1
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=ann.id, asked_by="operator"
        )
        await erased(gateway)
        assert (await client.get(path)).status_code == 404
        assert list((tmp_path / "media").iterdir()) == []


async def test_who_asks_again_sends_the_images_of_an_own_message_alone(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    media = tmp_path / "media"
    async with (
        gateway_of(tmp_path, model) as gateway,
        visit(gateway.url, "Ann", "Bob") as (ann, bob),
    ):
        said, _status = await send(ann, picture())
        await ann.answer(said)
        for visitor in (ann, bob):
            asked = str(uuid4())
            await visitor.post(
                "what is it?", to_agent=True, reply_to=None, message_id=asked, again=said
            )
            await visitor.answer(asked)
        entries = await settled(gateway)
        sent = [len(one.meta.get("media", ())) for one in entries if "inbox" in one.meta]
        assert sent == [1, 1, 0]
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=ann.id, asked_by="operator"
        )
        await erased(gateway)
        assert list(media.iterdir()) == []


async def test_images_of_a_refused_post_are_not_kept(tmp_path: Path) -> None:
    media = tmp_path / "media"
    async with (
        gateway_of(tmp_path, None, Dropping()) as gateway,
        visit(gateway.url, "Ann") as (ann,),
    ):
        ballast = gateway.services.guard.ballast
        ballast.given_up = True  # as on a full disk
        said, status = await send(ann, picture())
        assert (status, list(media.iterdir())) == (503, [])
        ballast.given_up = False
        _said, status = await send(ann, picture(), message_id=said)
        assert (status, len(list(media.iterdir()))) == (202, 1)
        ballast.given_up = True
        _said, status = await send(ann, picture(), message_id=said)
        assert (status, len(list(media.iterdir()))) == (503, 1)  # the first one was accepted
        ballast.given_up = False
        await settled(gateway)
        kept = set(media.iterdir())
        dropped = ""
        for _ in range(2):
            dropped, status = await send(ann, picture(), text="drop this", message_id=dropped)
            await settled(gateway)
            assert (status, set(media.iterdir())) == (202, kept)


async def test_a_known_post_s_id_leaves_no_image_and_refills_no_place(tmp_path: Path) -> None:
    media = tmp_path / "media"
    async with (
        gateway_of(tmp_path) as gateway,
        visit(gateway.url, "Ann", "Bob") as (ann, bob),
        httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client,
    ):
        said, _status = await send(ann, picture())
        await ann.answer(said)
        await settled(gateway)
        kept = set(media.iterdir())
        path = f"/api/rooms/lobby/messages/{said}/images/0"
        for visitor in (ann, bob):  # Ann's browser tries again, and Bob knows the id
            _said, status = await send(visitor, picture(20, 10), message_id=said)
            assert (status, set(media.iterdir())) == (202, kept)
            assert (await client.get(path)).content == picture()
        for file in kept:  # as the oldest are removed when there are too many
            file.unlink()
        _said, status = await send(bob, picture(20, 10), message_id=said)
        assert (status, list(media.iterdir())) == (202, [])
        assert (await client.get(path)).status_code == 404
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=ann.id, asked_by="operator"
        )
        await erased(gateway)
        for visitor in (ann, bob):
            _said, status = await send(visitor, picture(20, 10), message_id=said)
            assert (status, list(media.iterdir())) == (202, [])
            assert (await client.get(path)).status_code == 404


async def test_what_is_no_image_of_the_room_is_not_served(tmp_path: Path, gateway: Gateway) -> None:
    async with (
        visit(gateway.url, "Ann") as (ann,),
        httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client,
    ):
        page, _status = await send(ann, b"<script>alert(1)</script>", "text/html")
        await settled(gateway)
        for path in (f"{page}/images/0", f"{page}/images/1", "elsewhere/images/0"):
            assert (await client.get(f"/api/rooms/lobby/messages/{path}")).status_code == 404
        _id, status = await send(ann, b"", "text/html; charset=utf-8")
        assert status == 422
        assert not (tmp_path / "media").exists()
