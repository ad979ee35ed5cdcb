"""Strategies for hostile input: broken JSON, broken HTTP, odd text, Markdown and URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from hypothesis import strategies as st

ODD = (
    *("", "\x00", "\ud800", "\u202e", "\u200d", "\r\n", "\U0001f468\u200d\U0001f469"),
    *("\u0663", "\uff11"),
    *("-1", "1e999", "NaN", "null", "true", "[]", "9" * 400, "../../etc/passwd", "%00", "${x}"),
    *(",stop", "/start@bot x", "[12:03 #1 Ann]", "> ", "<@1>", "<!channel>", "@everyone", "::"),
)
texts = st.one_of(
    st.sampled_from(ODD), st.text(max_size=40), st.text(max_size=3).map(lambda t: t * 500)
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(2**53, 2**70), st.floats(), texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def broken(draw: st.DrawFn, samples: Sequence[Any]) -> Any:
    """Return a sample in which a few places hold something else, or nothing."""
    found = orjson.loads(orjson.dumps(draw(st.sampled_from(samples))))
    for _ in range(draw(st.integers(0, 3))):
        found = _changed(draw, found)
    return found


def _changed(draw: st.DrawFn, value: Any) -> Any:
    if draw(st.integers(0, 3)) == 0:
        return draw(values)
    if isinstance(value, Mapping) and value:
        key = draw(st.sampled_from(sorted(value)))
        rest = {name: inner for name, inner in value.items() if name != key}
        return rest if draw(st.integers(0, 4)) == 0 else {**rest, key: _changed(draw, value[key])}
    if isinstance(value, list) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], _changed(draw, value[place]), *value[place + 1 :]]
    return draw(values)


def mixed(*parts: str) -> st.SearchStrategy[str]:
    """Return text of these parts in any order and number, with other text between them."""
    return st.lists(st.sampled_from(parts) | texts, max_size=30).map("".join)


markdown = mixed(
    *(
        "*",
        "**",
        "_",
        "~~",
        "`",
        "```\n",
        "~~~\n",
        "[",
        "](",
        "![",
        "<",
        "<!--",
        "<div>",
        "> ",
        "- ",
    ),
    *(
        "1. ",
        "# ",
        "|a|b|\n|-|-|\n",
        "\n",
        "\n\n",
        "    ",
        "\\",
        "&amp;",
        "$",
        "$$",
        "||",
        "[a]: b\n",
    ),
    *("https://a_b.org/~c", "<https://x>", "- [ ] ", "\t"),
)
urls = mixed(
    *(
        "http://",
        "https://",
        "HTTP://",
        "127.0.0.1",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "%2e",
        "@",
        ":",
        "/",
    ),
    *("?", "#", "\\", "0x7f", "a.example", "xn--", "。", ":80", ":99999", "%25lo"),
)
streams = mixed(
    *(
        "data: ",
        '{"choices":[{"index":0,"delta":{"content":"',
        '"}}]}',
        "\n\n",
        "[DONE]",
        "\r\n",
        ":",
    ),
    *(
        '"tool_calls":[{"index":0,"function":{"arguments":"',
        "event: error\n",
        "<think>",
        "</think>",
    ),
)
