"""What works in the background gives way to what is urgent, and goes on all the same."""

from __future__ import annotations

from math import inf

import anyio

from tape.right_of_way import RightOfWay


async def test_the_way_is_given_until_all_who_took_it_are_through() -> None:
    way, through = RightOfWay(most=inf), list[str]()

    async def background() -> None:
        await way.given()
        through.append("background")

    async with anyio.create_task_group() as group:
        with way:
            with way:
                group.start_soon(background)
                await anyio.wait_all_tasks_blocked()
            assert way.is_taken
            through.append("urgent")
    assert through == ["urgent", "background"]
    assert not way.is_taken


async def test_a_piece_of_work_gives_way_for_a_limited_time() -> None:
    way = RightOfWay(most=0.01)
    with way:
        await way.given()
        assert way.is_taken
