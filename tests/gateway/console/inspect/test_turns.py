"""What the view inspector shows of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.console.inspect.turns import NO_TURN
from gateway.console.inspect.view_parts import shares
from gateway.explain.facts import turn_entries
from tape.deletions import ELSEWHERE_RESULT
from tape.entry import TOOL_RESULT
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.gateway.console.inspect.asking import asked, gone, turns_of
from tests.gateway.console.inspect.people import GROUP, Client, House, get, said
from tests.kit.gateways import tape_of


def origins(view: Any) -> list[str]:
    return [part["origin"] for part in view["parts"]]


async def test_a_prompt_is_shown_by_the_origin_of_its_parts(home: House, owner: Client) -> None:
    path = await asked(home)
    last = await get(owner, path)
    first = await get(owner, f"{path}?at=0")
    sent = [request.body["messages"] for request in home.server.requests]
    assert (last["at"], first["at"]) == (1, 0)
    assert last["exact"] is first["exact"] is True
    assert origins(first)[0] == "system"
    assert origins(first)[-2:] == ["elsewhere", "question"]
    assert origins(last) == [*origins(first), "evidence", "evidence"]
    assert [part["role"] for part in last["parts"]] == [one["role"] for one in sent[1]]
    assert "who has the spare key?" in last["parts"][len(first["parts"]) - 1]["text"]
    assert last["parts"][-2]["calls"] == [
        {"name": "tape_search", "arguments": '{"query": "spare key"}'}
    ]
    assert last["message"] == 2
    assert [step["status"] for step in last["steps"]] == ["tools", "ok"]


async def test_the_difference_to_the_call_before_says_whether_its_prefix_holds(
    home: House, owner: Client
) -> None:
    path = await asked(home)
    first, last = await get(owner, f"{path}?at=0"), await get(owner, path)
    assert first["before"] is None
    before, shown = last["before"], len(first["parts"])
    assert (before["prefix"], before["unchanged"], before["gone"]) == (shown, True, 0)
    assert before["tokens"] == sum(part["tokens"] for part in last["parts"][shown:])
    assert before["prefix_tokens"] == sum(part["tokens"] for part in last["parts"][:shown])
    assert [part["same"] for part in last["parts"]] == [True] * shown + [False, False]


async def test_the_parts_of_a_prompt_and_its_tools_add_up_to_what_was_counted(
    home: House, owner: Client
) -> None:
    path = await asked(home)
    views = [await get(owner, path), await get(owner, f"{path}?at=0")]
    for view in views:
        tokens, tools = view["tokens"], view["tools"]
        pieces = [tools["tokens"], *(part["tokens"] for part in view["parts"])]
        assert min(pieces) > 0
        assert tokens["total"] == tokens["reported"] == sum(pieces)
        assert tokens["total"] == sum(tokens["origins"].values())
        assert "tape_search" in tools["names"]
        assert '"name":"tape_search"' in tools["text"]


@pytest.mark.parametrize(
    ("total", "weights", "found"),
    [(10, [1, 1, 1], [3, 4, 3]), (0, [3, 4], [0, 0]), (5, [0, 0], [0, 0]), (7, [], [])],
)
def test_shares_add_up(total: int, weights: list[int], found: list[int]) -> None:
    assert shares(total, weights) == found


async def test_the_question_and_the_answer_are_shown_first_unless_deleted(
    home: House, owner: Client
) -> None:
    path = await asked(home)
    view = await get(owner, path)
    await home.hear(gone(said(2, "")))
    later = await get(owner, path)
    assert view["question"] == [{"name": "Alice", "text": "who has the spare key?"}]
    assert view["answer"] == later["answer"] == "Anna has it."
    assert later["question"] == []
    assert view["recorded"] is later["recorded"] is True


async def test_a_turn_whose_question_was_asked_again_says_that_none_is_recorded(
    home: House, owner: Client
) -> None:
    search = Call("call-1", "tape_search", '{"query": "spare key"}')
    home.server.enqueue(ToolCalls((search,)), Failure(400, "no"))
    await home.hear(said(2, "who has the spare key?"))
    (row,) = (await get(owner, "ledger"))["failed"]
    home.server.enqueue(Text(("Anna has it.",)))
    await owner.post(f"api/console/ledger/{row['row']}/retry", json={})
    await home.gateway.idle()
    first, second = await turns_of(home)
    views = [await get(owner, f"chats/{home.chat}/turns/{one}") for one in (first, second)]
    assert [(bool(one["question"]), one["recorded"]) for one in views] == [
        (False, False),
        (True, True),
    ]
    assert "400" in views[0]["failed"]
    assert views[1]["failed"] == ""


async def test_the_next_turn_of_a_lane_is_compared_with_the_last_call_of_the_one_before(
    home: House, owner: Client
) -> None:
    path = await asked(home)
    home.server.enqueue(Text(("Since noon.",)))
    await home.hear(said(3, "since when?", reply_to="2"))
    first, second = await turns_of(home)
    earlier = await get(owner, path)
    view = await get(owner, f"chats/{home.chat}/turns/{second}")
    assert view["before"]["turn"] == first
    assert view["before"]["unchanged"] is True
    assert view["before"]["prefix"] == len(earlier["parts"])
    assert origins(view)[-2:] == ["lane", "question"]


async def test_what_was_deleted_since_then_is_not_shown(home: House, owner: Client) -> None:
    path = await asked(home)
    await home.hear(gone(said(1, "")), gone(said(2, "")))
    views = [await get(owner, path), await get(owner, f"{path}?at=0")]
    assert "spare key is with" not in str(views)
    assert "who has the spare key?" not in str(views)
    assert [view["exact"] for view in views] == [True, True]
    assert [view["blanked"] for view in views] == [3, 2]
    assert [view["before"] and view["before"]["unchanged"] for view in views] == [True, None]


async def test_what_a_tool_took_from_another_chat_is_not_shown(home: House, owner: Client) -> None:
    calls = (
        Call("here", "tape_search", '{"query": "spare key"}'),
        Call("there", "tape_search", '{"query": "spare key", "chat": "plain:-200"}'),
    )
    home.server.enqueue(ToolCalls(calls), Text(("Anna has it.",)))
    await home.hear(said(2, "who has the spare key?"))
    (turn,) = await turns_of(home)
    view = await get(owner, f"chats/{home.chat}/turns/{turn}")
    services = home.gateway.services
    tape = tape_of(home.gateway, GROUP)
    explained = await turn_entries(services.store, tape.name, turn)
    stored = await tape.find(turn=turn)
    (kept,) = [one.payload["results"] for one in stored if one.kind == TOOL_RESULT]
    assert ELSEWHERE_RESULT not in kept
    (results,) = [one.payload["results"] for one in explained if one.kind == TOOL_RESULT]
    assert results == [kept[0], ELSEWHERE_RESULT]
    assert [part["text"] for part in view["parts"][-2:]] == results
    assert (view["exact"], view["blanked"]) == (True, 0)


@pytest.mark.parametrize(
    ("role", "status"), [("owner", 200), ("admin", 404), ("member", 403), ("stranger", 401)]
)
async def test_a_turn_is_shown_to_who_may_see_its_chat(home: House, role: str, status: int) -> None:
    path = await asked(home)
    async with home.guest("9", role) as guest:
        answer = await get(guest, path, status)
        await get(guest, f"{path}/models", status)
        again = await guest.post(f"api/console/{path}/again", json={"agreed": True})
    assert again.status_code == (422 if status == 200 else status)
    assert ("spare key" in str(answer)) == (status == 200)


async def test_a_turn_that_is_not_there_is_a_sentence(home: House, owner: Client) -> None:
    await asked(home)
    chat = f"chats/{home.chat}/turns"
    assert await get(owner, f"{chat}/nothing", 404) == {"error": NO_TURN}
    absent = await get(owner, f"{chat}/t-{'0' * 20}", 422)
    assert absent["error"].startswith("No model was asked")
    (turn,) = await turns_of(home)
    view = await get(owner, f"{chat}/{turn}?at=99")
    assert view["at"] == 1
