"""Generates Markdown as models write it, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tests.shown import words as given

_MARKS: Final = ("**", "**", "**", "*", "_", "***", "~~", "`", "``", "__", "||")
_BLOCKS: Final = (
    *(
        "paragraph",
        "paragraph",
        "paragraph",
        "paragraph",
        "heading",
        "heading",
        "bullets",
        "bullets",
    ),
    *(
        "numbers",
        "numbers",
        "tasks",
        "table",
        "table",
        "fence",
        "fence",
        "quote",
        "formula",
        "rule",
    ),
    *("underlined", "indented", "html", "references", "notes", "long", "line", "labelled"),
)
_INDENTS: Final = {"- ": "  ", "* ": "  ", "+ ": "  ", "-   ": "    "}
MAX_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Written:
    """A text, and the words of it that are to be seen with every sign."""

    text: str
    kept: tuple[str, ...] = ()


def written(seed: int, *, most: int = 6) -> Written:
    """Return the text of a seed, of at most so many blocks; one in forty is many messages long."""
    writer = _Writer(Random(seed))
    count = 60 if seed % 40 == 39 else writer.chosen.randint(1, most)
    return writer.text(count)


class _Writer:
    def __init__(self, chosen: Random) -> None:
        self.chosen = chosen
        self._kept: list[str] = []
        self._ends: list[str] = []
        self._language = chosen.choice(("english",) * 5 + ("wide",) * 3 + ("thai", "others"))

    def text(self, blocks: int) -> Written:
        parts = [self.block(0) for _ in range(blocks)]
        gap = self.chosen.choice(("\n\n",) * 8 + ("\n",))
        text = gap.join(parts) + "".join(f"\n\n{one}" for one in self._ends)
        if self.chosen.random() < 0.02:
            text = text.replace("\n", "\r\n")
        # A line right below a table is a row of it, whose pipes part cells.
        return Written(text, tuple(dict.fromkeys(self._kept)) if gap == "\n\n" else ())

    # -- within a line

    def word(self) -> str:
        kind = self.chosen.random()
        if kind < 0.7:
            pool = {
                "english": given.ENGLISH,
                "wide": given.WIDE,
                "thai": given.THAI,
                "others": given.OTHERS,
            }[self._language]
            return self.chosen.choice(pool)
        if kind < 0.9:
            return self.chosen.choice(given.ENGLISH)
        pools = (given.WIDE, given.NUMBERS, given.NUMBERS, given.EMOJI, given.OTHERS)
        return self.chosen.choice(self.chosen.choice(pools))

    def words(self, most: int = 7) -> str:
        gap = "" if self._language == "wide" and self.chosen.random() < 0.5 else " "
        return gap.join(self.word() for _ in range(self.chosen.randint(1, most)))

    def signed(self) -> str:
        word = self.chosen.choice(self.chosen.choice(given.SIGNED))
        self._kept.append(word)
        return word

    def marked(self) -> str:
        mark = self.chosen.choice(_MARKS)
        if mark in ("`", "``"):
            code = self.chosen.choice(given.CODE)
            return f"`` {code} ``" if "`" in code or mark == "``" else f"`{code}`"
        inside = self.words(4)
        if self.chosen.random() < 0.2:
            more = (
                (self.signed, self.link, self.code)
                if mark in ("**", "~~")
                else (self.link, self.code)
            )
            inside += f" {self.chosen.choice(more)()}"
        if mark == "||":
            return f"||{inside}||"
        before = self.word() if self._language == "wide" and self.chosen.random() < 0.4 else ""
        after = self.word() if self._language == "wide" and self.chosen.random() < 0.4 else ""
        return f"{before}{mark}{inside}{mark}{after}"

    def code(self) -> str:
        return f"`{self.chosen.choice(('x', 'a_b', 'f(*x)', 'npm i', '中文', 'C:/x'))}`"

    def link(self) -> str:
        url = self.chosen.choice(given.ADDRESSES)
        label = self.words(3)
        kind = self.chosen.randrange(10)
        if kind == 0:
            return f"<{url}>"
        if kind == 1:
            return f"![{label}]({url}.png)"
        if kind == 2:
            return f'![{label}]({url}.png "the title")'
        if kind == 3:
            return f"[{self.marked()}]({url})"
        if kind == 4:
            return f"[{label}](docs/page_{self.chosen.randrange(9)}.md)"
        if kind == 5:
            return f"[{url}]({url})"
        if kind == 6:
            name = f"ref{len(self._ends)}"
            self._ends.append(f"[{name}]: {url}")
            return f"[{label}][{name}]"
        if kind == 7:
            return f"[{label}](<{url}>)"
        return f"[{label}]({url})"

    def odd(self) -> str:
        """Return what is seldom written: bits of HTML, references, formulas, mentions, files."""
        pools = (given.TAGS, given.REFERENCES, given.MENTIONS, given.FILES)
        kind = self.chosen.randrange(6)
        if kind == 4:
            return f"${self.chosen.choice(given.TEX)}$"
        if kind == 5:
            return rf"\({self.chosen.choice(given.TEX)}\)"
        return self.chosen.choice(pools[kind])

    def escaped(self) -> str:
        return self.chosen.choice(
            (r"Hello\!", r"1\. a", r"\*no\*", r"\_x\_", r"\[a\]", r"a\|b", "\\# x")
        )

    def line(self, most: int = 6) -> str:
        kinds = [*[self.words] * 6, *[self.marked] * 3, self.link, self.signed, self.signed]
        kinds += [self.odd, self.code, self.escaped]
        parts = [self.chosen.choice(kinds)() for _ in range(self.chosen.randint(1, most))]
        return " ".join(parts)

    # -- blocks

    def block(self, depth: int) -> str:
        kind = self.chosen.choice(_BLOCKS)
        if depth >= MAX_DEPTH and kind in ("bullets", "numbers", "tasks", "quote", "notes"):
            kind = "paragraph"
        made = getattr(self, f"_{kind}")(depth)
        assert isinstance(made, str)
        return made

    def _paragraph(self, _depth: int) -> str:
        return "\n".join(self.line() for _ in range(self.chosen.choice((1, 1, 1, 2, 3))))

    def _line(self, _depth: int) -> str:
        return self.line(2)

    def _labelled(self, _depth: int) -> str:
        sign = self.chosen.choice((":", "\uff1a", " -", ""))
        return f"**{self.words(2)}**{sign} {self.line(3)}"

    def _long(self, _depth: int) -> str:
        if self.chosen.random() < 0.1:
            return self.chosen.choice(("ab", "漢", "x1")) * self.chosen.choice((300, 2500))
        return " ".join(self.line() for _ in range(20))

    def _heading(self, _depth: int) -> str:
        level = "#" * self.chosen.choice((1, 2, 2, 3, 3, 4, 5, 6))
        return f"{level} {self.line(2)}{self.chosen.choice(('', '', f' {level}'))}"

    def _underlined(self, _depth: int) -> str:
        return f"{self.words()}\n{self.chosen.choice(('===', '---', '----------'))}"

    def _rule(self, _depth: int) -> str:
        return self.chosen.choice(("---", "***", "___", "* * *"))

    def _items(self, depth: int, marks: list[str], indents: list[str]) -> str:
        gap = self.chosen.choice(("\n", "\n", "\n", "\n\n"))
        items = []
        for mark, indent in zip(marks, indents, strict=True):
            item = self.line(3)
            if self.chosen.random() < 0.3:
                between = self.chosen.choice(("\n", "\n\n"))
                item += between + self.block(depth + 1)
            items.append(mark + item.replace("\n", "\n" + indent))
        return gap.join(items)

    def _bullets(self, depth: int) -> str:
        mark = self.chosen.choice(list(_INDENTS))
        count = self.chosen.randint(1, 5)
        return self._items(depth, [mark] * count, [_INDENTS[mark]] * count)

    def _numbers(self, depth: int) -> str:
        first = self.chosen.choice((1, 1, 1, 3, 9, 2024))
        step = self.chosen.choice((1, 1, 1, 0))
        sign = self.chosen.choice((".", ".", ")"))
        count = self.chosen.randint(1, 5)
        marks = [f"{first + step * at}{sign} " for at in range(count)]
        return self._items(depth, marks, [" " * len(mark) for mark in marks])

    def _tasks(self, depth: int) -> str:
        marks = [f"- [{self.chosen.choice(' xX')}] " for _ in range(self.chosen.randint(1, 4))]
        return self._items(depth, marks, ["  "] * len(marks))

    def _quote(self, depth: int) -> str:
        parts = [self.block(depth + 1) for _ in range(self.chosen.choice((1, 1, 2)))]
        return "> " + "\n\n".join(parts).replace("\n", "\n> ")

    def _cell(self) -> str:
        kind = self.chosen.randrange(10)
        if kind == 0:
            return self.chosen.choice(("`int | None`", "`a|b`", "`x || y`", r"a \| b"))
        if kind == 1:
            return self.chosen.choice(("", "-", "✅", "n/a", "—"))
        made = (self.marked, self.link, self.words, self.signed)[kind % 4]().replace("\n", " ")
        return made.replace("|", r"\|") if "||" in made or "|y" in made else made

    def _table(self, _depth: int) -> str:
        columns = self.chosen.choice((2, 2, 3, 4))
        rules = [self.chosen.choice(("---", ":--", ":-:", "--:", "-")) for _ in range(columns)]
        rows = [[self.words(2) for _ in range(columns)], rules]
        for _ in range(self.chosen.choice((1, 2, 3, 12))):
            extra = self.chosen.choice((0, 0, 0, 0, 0, 1, -1))
            rows.append([self._cell() for _ in range(columns + extra)])
        if self.chosen.random() < 0.1:
            return "\n".join(" | ".join(one or "-" for one in row) for row in rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def _fence(self, _depth: int) -> str:
        lines = [self.chosen.choice(given.LINES) for _ in range(self.chosen.randint(1, 8))]
        mark = self.chosen.choice(("```",) * 8 + ("~~~~", "````"))
        self._kept += [" ".join(line.split()) for line in lines]
        return f"{mark}{self.chosen.choice(given.LANGUAGES)}\n" + "\n".join(lines) + f"\n{mark}"

    def _indented(self, _depth: int) -> str:
        return f"{self.words(3)}\n\n    {self.chosen.choice(given.LINES)}\n    y = 2"

    def _formula(self, _depth: int) -> str:
        tex = self.chosen.choice(given.TEX)
        return self.chosen.choice(
            (f"$${tex}$$", f"$$\n{tex}\n$$", rf"\[ {tex} \]", f"\\[\n{tex}\n\\]")
        )

    def _html(self, _depth: int) -> str:
        kind = self.chosen.randrange(4)
        if kind == 0:
            summary = f"<summary>{self.words(3)}</summary>"
            return f"<details>\n{summary}\n\n{self.line()}\n\n</details>"
        if kind == 1:
            return f'<div align="center">\n{self.line(2)}\n</div>'
        if kind == 2:
            return f"{self.chosen.choice(given.TAGS)} {self.line(2)}"
        return f"<table><tr><td>{self.words(2)}</td></tr></table>"

    def _references(self, _depth: int) -> str:
        return f"{self.words(3)} [{self.words(2)}][r{len(self._ends)}]" + self._defined()

    def _defined(self) -> str:
        url = self.chosen.choice(given.ADDRESSES)
        title = self.chosen.choice(("", ' "the title"'))
        self._ends.append(f"[r{len(self._ends)}]: {url}{title}")
        return "."

    def _notes(self, _depth: int) -> str:
        name = str(len(self._ends) + 1)
        self._ends.append(f"[^{name}]: {self.line(2)}")
        return f"{self.words(4)}[^{name}] {self.words(3)}."
