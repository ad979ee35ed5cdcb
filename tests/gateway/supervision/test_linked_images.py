"""Images to which answers link: fetched when somebody asks, for that room's people only."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest

from channels.errors import MediaRefused
from gateway.app import Gateway
from gateway.supervision.linked_images import (
    KEPT_SECONDS,
    MAX_AT_ONCE,
    MAX_KEPT_BYTES,
    REFUSED_SECONDS,
    LinkedImages,
)
from tests.contracts.pictures import picture
from tests.fakes.internet import Internet, internet, page, redirect
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.clock import ManualClock
from tests.kit.gateways import settled
from tests.kit.visitor import visit

ANSWER = (
    "![a kettle](http://good.example/kettle) ![](http://10.0.0.1/) ![](http://good.example/page)"
    " ![](http://good.example/away) ![](data:image/png;base64,AAAA) ![](/api/rooms)"
    " ![](http://db.internal/) ![](http://nowhere.internal/)"
)


@pytest.fixture
async def net(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Internet]:
    async with internet(monkeypatch) as found:
        found.serve = serve
        found.names["db.internal"] = [["10.0.0.1"]]
        yield found


def serve(path: str) -> bytes:
    if path == "/away":
        return redirect("http://10.0.0.1/")
    if path == "/page":
        return page("<svg onload='alert(1)'/>", mime="image/svg+xml")
    return page(picture(), mime="image/x-unknown")


async def test_an_image_of_an_answer_is_fetched_once_somebody_asks_for_it(
    model: FakeOpenAI, gateway: Gateway, net: Internet
) -> None:
    async with (
        visit(gateway.url, "Ann") as (ann,),
        httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client,
    ):
        model.enqueue(Text((ANSWER,)))
        asked = await ann.say("![mine](http://good.example/kettle)")
        answer = (await ann.answer(asked))["id"]
        await settled(gateway)
        assert net.asked == []
        path = f"/api/rooms/lobby/answers/{answer}/images"
        for _ in range(2):
            shown = await client.get(f"{path}/0")
            assert (shown.status_code, shown.content) == (200, picture())
            assert shown.headers["content-type"] == "image/png"
            assert shown.headers["content-disposition"] == "attachment"
            assert shown.headers["x-content-type-options"] == "nosniff"
            assert shown.headers["cache-control"] == "no-store"
        assert len(net.asked) == 1
        assert "cookie" not in net.asked[0].lower()
        whys = []
        for number in range(1, 8):
            refused = await client.get(f"{path}/{number}")
            assert refused.status_code == 422
            whys.append(refused.json()["error"].removeprefix("The image can't be shown: "))
        not_reached = "it can't be fetched."  # a guest does not learn which names there are
        no_url = "only addresses that begin with http:// or https:// can be fetched."
        no_image = "it is no image that I can read."
        here = [not_reached, no_image, not_reached, no_url, no_url]
        assert whys == [*here, not_reached, not_reached]
        others = (f"lobby/answers/{answer}/images/8", f"lobby/answers/{asked}/images/0")
        for other in (*others, f"attic/answers/{answer}/images/0"):
            assert (await client.get(f"/api/rooms/{other}")).status_code == 404

        await gateway.parts.eraser.begin(
            what="person", channel="web", person=ann.id, asked_by="operator"
        )
        await erased(gateway)
        assert (await client.get(f"{path}/0")).status_code == 404


async def test_what_is_kept_is_bounded_in_time_size_and_number_at_once(net: Internet) -> None:
    clock = ManualClock()
    images = LinkedImages(clock, most_pixels=10_000)
    padded = picture() + bytes(MAX_KEPT_BYTES // 5)
    net.serve = lambda path: page("none" if path == "/none" else padded, mime="image/png")
    for number in range(6):
        assert (await images.get(f"http://good.example/{number}", "ann"))[1] == "image/png"
    await images.get("http://good.example/5", "bob")
    assert len(net.asked) == 6
    await images.get("http://good.example/0", "ann")
    assert len(net.asked) == 7
    for seconds in (0, REFUSED_SECONDS - 1, 1):
        await clock.advance(seconds)
        with pytest.raises(MediaRefused, match="no image that I can read"):
            await images.get("http://good.example/none", "ann")
    assert len(net.asked) == 9
    await clock.advance(KEPT_SECONDS)
    await images.get("http://good.example/0", "ann")
    assert len(net.asked) == 10


async def test_each_person_has_one_running_fetch_and_all_have_a_few(net: Internet) -> None:
    images, whys = LinkedImages(ManualClock(), most_pixels=10_000), list[str]()

    async def ask(number: int, person: str) -> None:
        try:
            await images.get(f"http://good.example/{number}", person)
        except MediaRefused as refused:
            whys.append(f"{person}: {refused}")

    async with anyio.create_task_group() as group:
        for number, person in enumerate(["ann", "ann", "ann", "bob"]):
            group.start_soon(ask, number, person)
    assert whys == ["ann: another one is being fetched for you just now: try again"] * 2
    assert len(net.asked) == 2
    await ask(1, "ann")
    assert len(net.asked) == 3
    whys.clear()
    async with anyio.create_task_group() as group:
        for number in range(MAX_AT_ONCE + 1):
            group.start_soon(ask, 10 + number, str(number))
    assert whys == [f"{MAX_AT_ONCE}: several others are being fetched just now: try again"]
