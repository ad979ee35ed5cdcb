"""Documentation that is held to the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gateway.cli.help import OWN
from gateway.cli.main import app
from gateway.scheduling.commands import OWN as COMMANDS
from gateway.settings import fields
from gateway.settings.renames import RENAMED
from tests.kit.sources import tree_of
from tests.reference.setting_tables import former_name
from tests.reference.site_links import within

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PLATFORMS_OWN = {
    "Integration requires code grant",
    "Sending messages to this app has been turned off",
    "The application did not respond",
    "Your URL didn't respond",
}
"""Sentences that a platform shows, not the product."""

MAX_SECTION_LINES = 60
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def tokens_of(page: Path) -> Iterator[Token]:
    """Yield a page's tokens, those within lines too."""
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(page.read_text()):
        yield token
        yield from token.children or ()


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    tokens = list(tokens_of(page))
    texts = [
        "".join(part.content for part in tokens[at + 1].children or ())
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for token in tokens_of(page):
        link = unquote(str(token.attrGet("href") or token.attrGet("src") or ""))
        target, _, anchor = link.partition("#")
        if "://" in link or not link:
            continue
        found = page.parent / target if target else page
        assert found.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors_of(found.resolve()), f"{page.name} links to {link}"


def test_the_site_has_every_page_in_its_map() -> None:
    listed = set(re.findall(r"^ +- ([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    docs = ROOT / "docs"
    assert listed == {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    linked = {
        str(token.attrGet("href")).partition("#")[0] for token in tokens_of(docs / "index.md")
    }
    assert listed - linked == {"index.md"}, "docs/index.md leads to every page"


def test_links_that_leave_the_docs_are_plain_words_in_the_site() -> None:
    page = "[a](../../README.md#x), [b](../explanation/tape.md), ![c](../images/room.png)"
    assert within(page, "how-to/slack.md") == page.replace("[a](../../README.md#x)", "a")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_command_and_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    settings = {name for name, _section, _field in fields()}
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    if page.name in ("CHANGELOG.md", "settings.md"):  # which say what was renamed
        settings |= {former_name(section, was) for section in RENAMED for was in RENAMED[section]}
    for name in re.findall(r"TAPEWAY_[A-Z_]+[A-Z]", text):
        assert name in settings or name.startswith("TAPEWAY_TEST_"), f"{page.name} names {name}"
    for name in re.findall(r"(?:bin/|`)tapeway ([a-z]+)", text):
        assert name in OWN, f"{page.name} names tapeway {name}"
    for block in [match[1] for match in BLOCK.findall(text)] + re.findall(
        r"`(make [a-z0-9-]+)`", text
    ):
        for target in re.findall(r"^make ([a-z0-9-]+)", block, re.MULTILINE):
            assert target in targets, f"{page.name} names make {target}"


def test_the_changelog_has_one_short_section_for_each_version_the_newest_first() -> None:
    _, *sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    versions = [section.partition("\n")[0] for section in sections]
    assert versions[0] == version("tapeway")
    assert len(set(versions)) == len(versions)
    assert all(section.count("\n") <= MAX_SECTION_LINES for section in sections)


def commands_of(group: Any, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield every command with its options, its groups' among them."""
    own = {option for one in group.params for option in one.opts} | {"--help"}
    yield name, own
    for word, inner in getattr(group, "commands", {}).items():
        for found, options in commands_of(inner, f"{name} {word}".strip()):
            yield found, options | own


COMMANDS_WITH_OPTIONS = dict(commands_of(typer.main.get_command(app)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_a_page_shows_is_one_of_its_command(page: Path) -> None:
    lines = re.findall(
        r"(?:^|bin/|`|exec tapeway )(?:tapeway|tw) ([^`\n|]+)", page.read_text(), re.M
    )
    for line in lines:
        words = re.sub(r"--env-file \S+", "", line.partition(" #")[0]).split()
        two, one = " ".join(words[:2]), " ".join(words[:1])
        command = two if two in COMMANDS_WITH_OPTIONS else one
        if command in COMMANDS_WITH_OPTIONS:
            named = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert named <= COMMANDS_WITH_OPTIONS[command], f"{page.name}: tapeway {line}"


def test_the_command_line_s_page_says_what_each_json_holds() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    table = page.partition("| Command | Prints |")[2].partition("\n\n")[0]
    said = {
        name.strip()
        for row in table.splitlines()[2:]
        for name in re.findall(r"`([a-z ]+)", row.split("|")[1])
    }
    assert said >= {name for name, options in COMMANDS_WITH_OPTIONS.items() if "--json" in options}


def test_the_readme_is_short_and_names_the_commands_of_the_chats() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    named = [name for name in COMMANDS if name != "start"]  # the platforms' own way to say hello
    assert [name for name in named if f"`/{name}`" not in text] == []


def test_each_picture_of_the_docs_is_on_a_page_small_and_drawn_by_make_picture() -> None:
    makefile = (ROOT / "Makefile").read_text()
    recipe = makefile.partition("\npicture:")[2].partition("\n\n")[0]
    scripts = [
        (ROOT / f"{module.replace('.', '/')}.py").read_text()
        for module in re.findall(r"python -m ([\w.]+)", recipe)
    ]
    drawn = "".join(scripts)
    shown = {
        (page.parent / str(token.attrGet("src"))).resolve()
        for page in PAGES
        for token in tokens_of(page)
        if token.type == "image"
    }
    pictures = set((ROOT / "docs" / "images").iterdir())
    assert pictures == shown
    for picture in pictures:
        assert picture.stat().st_size < 400_000, picture.name
        part = picture.stem.rpartition("-")[2]
        assert f'"{picture.name}"' in drawn or f'"{part}"' in drawn, picture.name


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_a_chinese_page_has_the_parts_commands_and_settings_of_the_english_one(page: str) -> None:
    def outline(path: Path) -> tuple[int, set[str]]:
        text = path.read_text().replace(".zh-CN.md", ".md")
        named = re.findall(
            r"\btapeway [a-z]+\b|TAPEWAY_[A-Z_]+|`[,/][\w.]+|^make \w+|(?<=\]\().*?(?=\))",
            text,
            re.M,
        )
        return text.count("\n## "), set(named)

    english = ROOT / page
    assert outline(english) == outline(english.with_suffix(".zh-CN.md"))


@cache
def said_by_the_product() -> str:
    """Return every string of the product, one a line, without those that the tables come from."""
    paths = [
        path
        for name in ("gateway", "channels", "agent")
        for path in (ROOT / name).rglob("*.py")
        if not path.name.endswith("troubles.py")
    ]
    nodes = [node for path in paths for node in ast.walk(tree_of(path.read_text()))]
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return "\n".join(text for text in constants if isinstance(text, str))


@pytest.mark.parametrize("name", ["telegram", "discord", "slack"])
def test_a_guide_quotes_what_the_product_says(name: str) -> None:
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text()
    table = page[page.index("| What you see") :].partition("\n\n")[0].replace("`", "")
    rows = table.splitlines()[2:]
    quotes = [quote for row in rows for quote in re.findall(r'"([^"]+)"', row.split("|")[1])]
    product = said_by_the_product().casefold()
    missing = [
        quote
        for quote in quotes
        if quote not in PLATFORMS_OWN
        and not all(piece.strip().casefold() in product for piece in quote.split("..."))
    ]
    assert quotes
    assert missing == []
