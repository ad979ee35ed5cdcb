"""The subcommands of `tapeway tape`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from gateway.cli.help import CommandApp
from gateway.cli.lazy import ask, run

app = CommandApp(help="Show, search, rewind, export and erase tapes.")


class Kind(StrEnum):
    """The kinds of entries; a list, so that `--help` need not import the tape."""

    MESSAGE = "message"
    ANCHOR = "anchor"
    EVENT = "event"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SYSTEM = "system"
    ERROR = "error"


_Tape = Annotated[
    str,
    typer.Argument(help="A session (telegram:-100123), a tape's name, or the start of its name."),
]
_AsJson = Annotated[bool, typer.Option("--json", help="Print each as a line of JSON.")]
_OneJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_All = Annotated[
    bool, typer.Option("--all", help="Show events and system texts as well, not only the talk.")
]
_Since = Annotated[
    str, typer.Option(metavar="DATE", help="Only entries from a date on, in UTC: 2026-01-02T15:04.")
]
_Until = Annotated[str, typer.Option(metavar="DATE", help="Only entries before a date.")]
_Kinds = Annotated[
    list[Kind] | None,
    typer.Option(metavar="KIND", help=f"Only {', '.join(Kind)}; repeat for several."),
]
_Lane = Annotated[str, typer.Option(metavar="LANE", help="Only one lane, named as with --json.")]


def _given(**conditions: Any) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if value}


@app.command("list", examples=["tape list"])
def list_tapes(as_json: _AsJson = False) -> None:
    """List the chats' tapes, newest first."""
    ask("gateway.cli.tape.actions:show_list", as_json)


@app.command(
    "show",
    examples=[
        "tape show web:lobby",
        "tape show telegram:-1001234567890 --since 2026-01-02 --limit 200",
    ],
)
def show(
    name: _Tape,
    anchor: Annotated[
        str, typer.Option(metavar="NAME", help="Only after the latest anchor of this name.")
    ] = "",
    until_anchor: Annotated[
        str,
        typer.Option(metavar="NAME", help="Only before this anchor (the first after --anchor)."),
    ] = "",
    since: _Since = "",
    until: _Until = "",
    kind: _Kinds = None,
    author: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only one author, by ID; repeat for several."),
    ] = None,
    lane: _Lane = "",
    text: Annotated[str, typer.Option(metavar="TEXT", help="Only entries containing TEXT.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", help="Show at most N entries.")] = 50,
    view: Annotated[
        str,
        typer.Option(metavar="TURN", help="Print a turn's prompts instead; `explain` names turns."),
    ] = "",
    show_all: _All = False,
    as_json: _AsJson = False,
) -> None:
    """Show a chat's newest messages as a transcript.

    Times are local. Tool calls and anchors are shown, too; with --json, every entry is printed as
    it is on the tape.
    """
    given = _given(since=since, until=until, kinds=kind, authors=author, lane=lane, text=text)
    given |= _given(after_anchor=anchor, before_anchor=until_anchor)
    if view and given:
        raise typer.BadParameter("--view shows all of its turn: give it no other conditions")
    if view:
        ask("gateway.cli.tape.actions:show_prompts", name, view, as_json)
    else:
        ask(
            "gateway.cli.tape.actions:show_entries",
            name,
            {**given, "limit": limit},
            show_all,
            as_json,
        )


@app.command(
    "search",
    examples=["tape search web:lobby plums", "tape search web:lobby '\"ripe plums\"' --rank"],
)
def search(
    name: _Tape,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The words to find.")],
    rank: Annotated[bool, typer.Option("--rank", help="Show the best matches first.")] = False,
    since: _Since = "",
    until: _Until = "",
    kind: _Kinds = None,
    author: Annotated[str, typer.Option(metavar="ID", help="Only one author, by ID.")] = "",
    lane: _Lane = "",
    limit: Annotated[int, typer.Option(metavar="N", help="Show at most N entries.")] = 20,
    as_json: _AsJson = False,
) -> None:
    """Search a chat, newest first.

    Messages and anchors are searched, or only the given kinds. An entry matches if it contains all
    the words; put a phrase in double quotes.
    """
    given = _given(rank=rank, since=since, until=until, kinds=kind, author=author, lane=lane)
    ask("gateway.cli.tape.actions:search", name, text, {**given, "limit": limit}, as_json)


@app.command("reindex", examples=["tape reindex"])
def reindex() -> None:
    """Rebuild the word index, if searches miss what is there; they work meanwhile."""
    run("gateway.cli.tape.transfer:reindex")


@app.command(
    "export", examples=["tape export web:lobby lobby.jsonl", "tape export web:lobby | head -1"]
)
def export(
    name: _Tape,
    file: Annotated[str, typer.Argument(help="A new file, or - for standard output.")] = "-",
) -> None:
    """Write a whole tape as JSONL.

    Each entry is one line with its id, kind, payload, meta and date.
    """
    run("gateway.cli.tape.transfer:export", name, file)


@app.command(
    "import",
    examples=[
        "tape import old.jsonl --session telegram:-1001234567890 --dry-run",
        "tape import old.jsonl --tape copy",
    ],
)
def import_file(
    file: Annotated[str, typer.Argument(help="A JSONL file, from Tapeway or another tool.")],
    session: Annotated[str, typer.Option(help="The session to import into.")] = "",
    name: Annotated[str, typer.Option("--tape", help="Or the tape to import into.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only report what would be imported.")
    ] = False,
    as_json: _OneJson = False,
) -> None:
    """Import a tape, completely or not at all.

    What was repaired is reported. The tape must be empty or contain the beginning of the same file.
    """
    run("gateway.cli.tape.transfer:import_file", file, session, name, dry_run, as_json)


@app.command(
    "rewind",
    examples=[
        "tape rewind web:lobby --to phase:plan",
        "tape rewind web:lobby --to phase:plan --room what-if",
    ],
)
def rewind(
    name: _Tape,
    to: Annotated[
        str, typer.Option(metavar="ANCHOR", help="An anchor's name, or its entry's number.")
    ],
    room: Annotated[
        str, typer.Option(help="Leave the tape alone: begin a new room with its past.")
    ] = "",
    as_json: _OneJson = False,
) -> None:
    """Go back to an anchor.

    Later views show its state and what comes from now on; nothing is deleted. With --room, a new
    room of the page begins with the tape's past up to the anchor instead, to try what would have
    happened otherwise.
    """
    ask("gateway.cli.tape.actions:rewind", name, to, room, as_json)


@app.command(
    "erase",
    examples=[
        "tape erase telegram:-1001234567890 --message 42",
        "tape erase --person telegram:42",
        "tape erase --list",
    ],
)
def erase(
    name: Annotated[
        str, typer.Argument(help="The chat; leave it out for a person everywhere.")
    ] = "",
    message: Annotated[str, typer.Option(help="A message's ID, or # and its entry's number.")] = "",
    person: Annotated[str, typer.Option(help="All that a person wrote: telegram:42.")] = "",
    chat: Annotated[bool, typer.Option("--chat", help="The whole chat.")] = False,
    mentions: Annotated[
        bool, typer.Option("--list", help="Only list what may still mention erased messages.")
    ] = False,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    as_json: _OneJson = False,
) -> None:
    """Erase a message, a person or a chat for good.

    Only ids, kinds and dates stay. Answers to others and anchors that repeat erased words are
    listed, not erased.
    """
    if mentions:
        run("gateway.cli.tape.erasing:show_mentions", as_json)
        return
    chosen = {"message": message, "person": person, "chat": name if chat else ""}
    given = {what: value for what, value in chosen.items() if value}
    if len(given) != 1 or not (name or person):
        raise typer.BadParameter("name the chat, and one of --message, --person and --chat")
    ((what, value),) = given.items()
    if not sure:
        typer.confirm(f"Erase the {what} {value}? This cannot be undone.", abort=True)
    run("gateway.cli.tape.erasing:erase", what, name, value, as_json)


@app.command("follow", examples=["tape follow web:lobby"])
def follow(name: _Tape, show_all: _All = False, as_json: _AsJson = False) -> None:
    """Show what arrives as it arrives, until Ctrl-C."""
    run("gateway.cli.tape.transfer:follow", name, show_all, as_json)
