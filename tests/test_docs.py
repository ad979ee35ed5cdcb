"""Documentation that is held to the code."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from gateway.cli.help import OWN
from gateway.scheduling.commands import OWN as COMMANDS
from gateway.settings import fields
from gateway.settings.renames import RENAMED
from gateway.settings.sources import PREFIX

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PLATFORMS_OWN = {
    "Sending messages to this app has been turned off",
    "The application did not respond",
    "Your URL didn't respond",
}
"""Sentences that a platform shows, not the product."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_command_and_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    settings = {name for name, _section, _field in fields()}
    if page.name == "CHANGELOG.md":
        settings |= {
            f"{PREFIX}{section}__{former}".upper()
            for section, names in RENAMED.items()
            for former in names
        }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"TAPEWAY_[A-Z_]+[A-Z]", text):
        assert name in settings, f"{page.name} names {name}"
    for name in re.findall(r"(?:bin/|`)tapeway ([a-z]+)", text):
        assert name in OWN, f"{page.name} names tapeway {name}"
    for block in [match[1] for match in BLOCK.findall(text)] + re.findall(
        r"`(make [a-z-]+)`", text
    ):
        for target in re.findall(r"^make ([a-z-]+)", block, re.MULTILINE):
            assert target in targets, f"{page.name} names make {target}"


def test_the_readme_is_short_and_names_the_commands_of_the_chats() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    named = [name for name in COMMANDS if name != "start"]  # the platforms' own way to say hello
    assert [name for name in named if f",{name}" not in text] == []


@cache
def said_by_the_product() -> str:
    """Return every string of the product, one a line."""
    paths = [
        path for name in ("gateway", "channels", "agent") for path in (ROOT / name).rglob("*.py")
    ]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return "\n".join(text for text in constants if isinstance(text, str))


@pytest.mark.parametrize("name", ["telegram", "discord", "slack"])
def test_a_guide_quotes_what_the_product_says(name: str) -> None:
    page = (ROOT / "docs" / "how-to" / f"{name}.md").read_text()
    rows = page[page.index("| What you see") :].splitlines()[2:]
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
