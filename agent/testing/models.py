"""Checks of a model: what the agent relies on, whichever server answers.

The server behind the model must answer each request with some text; it may be a fake.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from copy import deepcopy
from typing import Final

import anyio

from agent.model import ChatModel, ModelReply, ModelRequest, Piece, ResetPiece, TextPiece

ModelCheck = Callable[[ChatModel], Awaitable[None]]

REQUEST: Final = ModelRequest(
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say a word."}]
)


async def an_answer_is_its_parts_and_then_one_reply(model: ChatModel) -> None:
    """The parts of an answer are its text, and exactly one reply follows them."""
    _whole(await _answer(model))
    await model.aclose()


async def an_answer_can_be_left_before_its_end(model: ChatModel) -> None:
    """Who needs no more of an answer closes the stream; the next request is answered as a whole."""
    async with aclosing(model.stream(REQUEST)) as pieces:
        await anext(pieces)
    _whole(await _answer(model))
    await model.aclose()


async def requests_at_once_are_answered_apart(model: ChatModel) -> None:
    """Several chats ask one model at once, and each answer is whole."""
    answers: list[list[Piece]] = []

    async def ask() -> None:
        answers.append(await _answer(model))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask)
    for one in answers:
        _whole(one)
    await model.aclose()


async def a_request_is_left_as_it_was(model: ChatModel) -> None:
    """A request may be sent once more, so a model changes nothing of it."""
    before = deepcopy(REQUEST)
    await _answer(model)
    assert before == REQUEST, f"{model.name} has changed the request"
    await model.aclose()


async def a_model_is_named_and_can_be_closed_twice(model: ChatModel) -> None:
    """The name is that of the settings, and what was closed can be closed again."""
    assert model.name, "a model needs a name"
    await model.aclose()
    await model.aclose()


async def _answer(model: ChatModel) -> list[Piece]:
    async with aclosing(model.stream(REQUEST)) as pieces:
        return [piece async for piece in pieces]


def _whole(pieces: list[Piece]) -> None:
    replies = [piece for piece in pieces if isinstance(piece, ModelReply)]
    assert len(replies) == 1, f"an answer has {len(replies)} replies, not one"
    assert pieces[-1] is replies[0], "something follows the reply"
    text = ""
    for piece in pieces:
        if isinstance(piece, ResetPiece):
            text = ""
        elif isinstance(piece, TextPiece):
            text += piece.delta
    assert text == replies[0].text, f"the parts are {text!r}, the reply is {replies[0].text!r}"


MODEL_CHECKS: Final[tuple[ModelCheck, ...]] = (
    an_answer_is_its_parts_and_then_one_reply,
    an_answer_can_be_left_before_its_end,
    requests_at_once_are_answered_apart,
    a_request_is_left_as_it_was,
    a_model_is_named_and_can_be_closed_twice,
)
