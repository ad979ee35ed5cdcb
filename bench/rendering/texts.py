"""The answers that `bench.rendering` draws: four of 4 KB, and forty of 10 KB that mean harm."""

# ruff: noqa: RUF001
from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Final

SIZE: Final = 4_096
HOSTILE_SIZE: Final = 10_000

_ENGLISH: Final = """## Step {n}: warm the pot

Pour a little water into the pot, and *wait* until it is warm. **Do not hurry**: a cold pot takes
the heat from the leaves, and step {n} would be for nothing. See [the notes](https://tea.example/n/{n}).

- Take two spoons of leaves, or `spoons = cups + 1` if there are many of you.
- Let them stand for {n} minutes; 3*{n} are too many, and snake_case_names stay as they are.
- Say who wants milk.

1. The first cup is for who asked.
2. The second is for who waited.

> A guest once said that tea number {n} is never as good as the one before it.

"""
_CHINESE: Final = """## 第{n}步：温壶

先倒一点热水，**等一等**，让茶壶变暖。冷的茶壶会吸走茶叶的热量，那么第{n}步就白做了。参见[说明](https://tea.example/n/{n})。

- 每人两勺茶叶，或者用`勺数 = 杯数 + 1`来算。
- 泡{n}分钟；**注意：**太久会变苦。
- 先问谁要加牛奶，再问谁要加糖。

> 有位客人说过，“第{n}杯茶总是不如上一杯”。

"""
_CODE: Final = """Part {n} reads the leaves, and keeps what they weigh:

```c
static int weigh_{n}(const struct leaf *leaf, int **into, size_t count)
{{
    int *const kept = into[{n}] + count * sizeof(*leaf);
    for (size_t at = 0; at < count; at++) {{
        /* a leaf that is wet weighs more: see **weight** */
        kept[at] = leaf[at].mass * 2 - leaf[at].water / {n};
        if (kept[at] < 0 || leaf->is_dry_)
            return -EINVAL;
    }}
    return *kept * 100 / 56;
}}
```

Call `weigh_{n}(leaf, &into, 2**{n})`, and free what it made.

"""
_ROW: Final = (
    "| {n} | Assam number {n} | **{n}** g of `leaf` | 3*{n} minutes | good, and a bit sharp |\n"
)
_TABLE: Final = """These are the teas of the house, with what each of them needs:

| No | Tea | Leaves | Time | How it is |
|---:|:----|:------:|------|-----------|
"""


def _grown(part: str, size: int, head: str = "") -> str:
    text, numbers = head, count(1)
    while len(text.encode()) < size:
        text += part.format(n=next(numbers))
    return text.encode()[:size].decode(errors="ignore")


ANSWERS: Final[Mapping[str, str]] = {
    "English": _grown(_ENGLISH, SIZE),
    "Chinese": _grown(_CHINESE, SIZE),
    "code": _grown(_CODE, SIZE),
    "table": _grown(_ROW, SIZE, _TABLE),
}

SHAPES: Final = (
    *(
        "- - - ",
        "[a]",
        "[a](",
        "[",
        "![",
        "![a](b",
        "[a][",
        "[[a]",
        "<",
        "<a",
        "<a>",
        "<!--",
        "<b>\n",
    ),
    *(
        ">",
        "> - > - a\n",
        "|a|b|\n|-|-|\n",
        "```\n",
        "~~~\n> ",
        "[a]: b\n",
        "*a **b ",
        "_a __b ",
        "**",
    ),
    *(
        "[a](https://a.example/b?c=d) ",
        "1. a\n",
        "a ",
        "a",
        "`",
        "` `` ``` ",
        "\\",
        "\\(",
        "\\[a",
        "$",
    ),
    *("$a", "||a", "|| ||", "&amp;", "@here <!channel> ", "# a\n", "\uff1a**\uff0c", "~a~~b "),
)
"""Forty pieces of text; repeated, each is the worst for some step of drawing."""


def hostile() -> list[str]:
    """Return the hostile texts."""
    return [(shape * (HOSTILE_SIZE // len(shape) + 1))[:HOSTILE_SIZE] for shape in SHAPES]
