"""Conversations that strict chat templates accept.

The templates state the rules that the published ones enforce, in as few words as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model import Message
from agent.models.request_body import without_calls
from agent.models.strict import NO_ANSWER, OPENING, alternate, fold_system

LLAMA_3 = """
{%- set turns = messages[1:] if messages[0].role == 'system' else messages -%}
{%- if not turns or turns[0].role != 'user' -%}
  {{ refuse("Cannot put tools in the first user message when there's no first user message!") }}
{%- endif -%}
{%- for message in messages -%}
  {%- if message.tool_calls and message.tool_calls | length != 1 -%}
    {{ refuse("This model only supports single tool-calls at once!") }}
  {%- endif -%}
  <{{ message.role }}>{{ message.content }}{{ message.tool_calls or '' }}
{%- endfor -%}
"""
MISTRAL = """
{%- set turns = messages[1:] if messages[0].role == 'system' else messages -%}
{%- set spoken = namespace(count=0) -%}
{%- for message in turns -%}
  {%- if message.role not in ('user', 'assistant', 'tool') -%}
    {{ refuse("Only user and assistant roles are supported!") }}
  {%- endif -%}
  {%- if message.role == 'user' or (message.role == 'assistant' and not message.tool_calls) -%}
    {%- if (message.role == 'user') != (spoken.count % 2 == 0) -%}
      {{ refuse("After the optional system message, conversation roles must alternate!") }}
    {%- endif -%}
    {%- set spoken.count = spoken.count + 1 -%}
  {%- endif -%}
  {%- for call in message.tool_calls or () -%}
    {%- if call.id | length != 9 -%}
      {{ refuse("Tool call IDs should be alphanumeric strings with length 9!") }}
    {%- endif -%}
  {%- endfor -%}
{%- endfor -%}
{%- for message in messages -%}
  <{{ message.role }}>{{ message.content }}{{ message.tool_calls or '' }}
{%- endfor -%}
"""
GEMMA = """
{%- if messages[0].role == 'system' -%}{{ refuse("System role not supported") }}{%- endif -%}
{%- for message in messages -%}
  {%- if (message.role == 'user') != (loop.index0 % 2 == 0) -%}
    {{ refuse("Conversation roles must alternate user/assistant/user/assistant/...") }}
  {%- endif -%}
  <{{ message.role }}>{{ message.content }}
{%- endfor -%}
"""
QWEN = """
{%- set asked = messages | selectattr('role', 'equalto', 'user') | list -%}
{%- if not asked -%}{{ refuse("No user query found in messages.") }}{%- endif -%}
{%- for message in messages -%}
  {%- if message.role == 'system' and not loop.first -%}
    {{ refuse("System message must be at the beginning.") }}
  {%- endif -%}
  <{{ message.role }}>{{ message.content }}{{ message.tool_calls or '' }}
{%- endfor -%}
"""
TEMPLATES = {"llama-3": LLAMA_3, "mistral": MISTRAL, "gemma": GEMMA, "qwen": QWEN}

SYSTEM = {"role": "system", "content": "Be brief."}
ANCHOR = {"role": "assistant", "content": "[Anchor created: session/start]: {}"}


class Refused(Exception):
    """What a template's `raise_exception` becomes."""


def refuse(why: str) -> None:
    raise Refused(why)


def render(template: str, messages: Sequence[Message]) -> str:
    return (
        jinja2.Environment(autoescape=False)
        .from_string(template)
        .render(messages=messages, refuse=refuse)
    )


def arranged(name: str, messages: Sequence[Message]) -> list[Message]:
    if name == "gemma":
        return alternate(fold_system(without_calls(messages)))
    return alternate(messages)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def step(first: int, *results: str, text: str = "") -> list[Message]:
    """Return a step's calls and results; its ids have the nine signs that Mistral wants."""
    ids = [f"call{first + number:05}" for number in range(len(results))]
    functions = [{"name": "echo", "arguments": "{}"} for _ in ids]
    calls: list[dict[str, Any]] = [
        {"id": one, "type": "function", "function": function}
        for one, function in zip(ids, functions, strict=True)
    ]
    answers: list[Message] = [
        {"role": "tool", "tool_call_id": one, "name": "echo", "content": result}
        for one, result in zip(ids, results, strict=True)
    ]
    return [{"role": "assistant", "content": text, "tool_calls": calls}, *answers]


HISTORIES = {
    "an anchor first": [SYSTEM, ANCHOR, user("u1"), assistant("a1"), user("u2")],
    "two people": [SYSTEM, user("u1"), user("u2"), assistant("a1"), user("u3")],
    "two answers": [user("u1"), assistant("a1"), assistant("a2"), user("u2")],
    "two calls": [SYSTEM, user("u1"), *step(1, "r1", "r2"), assistant("a1"), user("u2")],
    "text and calls": [user("u1"), assistant("a1"), *step(1, "r1"), assistant("a2"), user("u2")],
    "two steps": [user("u1"), *step(1, "r1"), *step(2, "r2"), assistant("a1"), user("u2")],
    "steered": [SYSTEM, user("u1"), *step(1, "r1"), user("u2")],
    "a hint in the middle": [user("u1"), assistant("a1"), {**SYSTEM, "content": "s1"}, user("u2")],
    "an anchor last": [SYSTEM, user("u1"), ANCHOR],
    "the same ids again": [
        *[user("u1"), *step(1, "r1", "r2"), assistant("a1")],
        *[user("u2"), *step(1, "r3", "r4"), assistant("a2"), user("u3")],
    ],
}


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", TEMPLATES)
def test_an_arranged_conversation_is_accepted(name: str, history: str) -> None:
    messages = HISTORIES[history]
    rendered = render(TEMPLATES[name], arranged(name, messages))
    said = [str(one["content"]) for one in messages if one["content"]]
    places = [rendered.index(text) for text in said]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "history"),
    [
        ("llama-3", "an anchor first"),
        ("llama-3", "two calls"),
        ("mistral", "two people"),
        ("mistral", "two answers"),
        ("mistral", "steered"),
        ("gemma", "an anchor first"),
        ("gemma", "two people"),
        ("qwen", "a hint in the middle"),
    ],
)
def test_the_templates_refuse_it_unarranged(name: str, history: str) -> None:
    with pytest.raises(Refused):
        render(TEMPLATES[name], HISTORIES[history])


_turn = st.sampled_from(
    [
        [user("u")],
        [assistant("a")],
        [ANCHOR],
        [SYSTEM],
        step(1, "r"),
        step(2, "r", "r"),
        step(4, "r", text="t"),
    ]
)


@given(turns=st.lists(_turn, max_size=12), name=st.sampled_from(sorted(TEMPLATES)))
def test_whatever_a_view_holds_every_template_accepts_it(
    turns: list[list[Message]], name: str
) -> None:
    messages = [SYSTEM, *(message for turn in turns for message in turn), user("the question")]
    once = arranged(name, messages)
    render(TEMPLATES[name], once)
    assert alternate(once) == once
    results = [one for one in messages if one["role"] == "tool"]
    if name != "gemma":
        assert [one for one in once if one["role"] == "tool"] == results


def test_a_conversation_that_begins_with_an_anchor_gets_an_opening() -> None:
    assert alternate([SYSTEM, ANCHOR, user("u")]) == [SYSTEM, user(OPENING), ANCHOR, user("u")]


def test_a_question_after_a_result_gets_a_filler() -> None:
    asked = [user("u1"), *step(1, "r1")]
    assert alternate([*asked, user("u2")]) == [*asked, assistant(NO_ANSWER), user("u2")]


def test_messages_of_one_role_are_joined() -> None:
    assert alternate([user("one"), user("two")]) == [user("one\n\ntwo")]


def test_images_stay_beside_the_texts_that_are_joined() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    shown = {"role": "user", "content": [{"type": "text", "text": "two"}, image]}
    (joined,) = alternate([user("one"), shown])
    assert joined["content"] == [
        {"type": "text", "text": "one"},
        {"type": "text", "text": "two"},
        image,
    ]


def test_what_stands_beside_a_message_survives() -> None:
    calling, result = step(1, "r1")
    reasoned = {**calling, "reasoning_content": "why"}
    assert alternate([user("u"), reasoned, result])[1] == reasoned
    assert alternate([user("u"), assistant("a"), reasoned, result])[1] == {
        **reasoned,
        "content": "a",
    }
