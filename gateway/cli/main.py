"""The command `tapeway`. `--help` imports typer only: a command's modules load when it runs."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="tapeway",
    help="One agent in your group chats, every chat remembered on an append-only tape.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich alone takes longer to import than all else of `--help`
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tapeway {version('tapeway')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    pass


@app.command()
def gateway() -> None:
    """Run the gateway: the room page, and every channel that has a token."""
    gc.disable()  # what a start loads stays: looking for garbage in it costs a sixth of the time
    _run("gateway.cli.serve:serve")


@app.command()
def chat(
    session: Annotated[str, typer.Option(help="Which of your terminal chats.")] = "terminal",
) -> None:
    """Talk to the agent in this terminal, beside a running gateway or without one."""
    _run("gateway.cli.chat:chat", session)


@app.command()
def run(
    message: Annotated[str, typer.Argument(help="What to say; - reads it from standard input.")],
    session: Annotated[str, typer.Option(help="Which of your terminal chats.")] = "terminal",
) -> None:
    """Say one thing, print the answer, and end."""
    _run("gateway.cli.chat:run_once", message, session)


@app.command()
def token() -> None:
    """Print the token that the room page asks for."""
    _run("gateway.http.access_token:show_token")


@app.command()
def health() -> None:
    """Tell whether the gateway of this home is ready: 0 where it is, else 1."""
    # Asked every few seconds, so without what other commands load: settings, log, plugins.
    raise typer.Exit(import_module("gateway.cli.health").health())


# A chat of Telegram's begins with a minus and is no option.
@app.command(context_settings={"ignore_unknown_options": True})
def explain(
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE-ID",
            help="A message's id or link, CHAT/MESSAGE, in-12, out-34, TAPE#7, or a turn.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole as JSON.")] = False,
) -> None:
    """Tell what became of a message, and why: seen, asked, let in, answered, sent."""
    # People wait for it: without what other commands load, such as plugins and the log.
    gc.disable()
    raise typer.Exit(import_module("gateway.cli.explain").explain(message, as_json))


ledger = typer.Typer(
    help="What came in and what goes out: list it, try it again, drop it.", no_args_is_help=True
)
app.add_typer(ledger, name="ledger")


@ledger.command("list")
def ledger_list(
    status: Annotated[str, typer.Option(help="Only rows of this status, such as dead.")] = "",
    limit: Annotated[int, typer.Option(help="So many of each direction.")] = 20,
) -> None:
    """List the newest rows of the inbox and the outbox."""
    _run("gateway.cli.ledger:show_list", status, limit)


@ledger.command("show")
def ledger_show(row: Annotated[str, typer.Argument(help="in-12 or out-34, as listed.")]) -> None:
    """Print a row, with what it holds."""
    _run("gateway.cli.ledger:show_row", row)


@ledger.command("retry")
def ledger_retry(row: Annotated[str, typer.Argument(help="in-12 or out-34, as listed.")]) -> None:
    """Ask a message again that ended without an answer, or send one again."""
    _run("gateway.cli.ledger:change", "retry", row)


@ledger.command("drop")
def ledger_drop(row: Annotated[str, typer.Argument(help="in-12 or out-34, as listed.")]) -> None:
    """Let a message be neither answered nor sent."""
    _run("gateway.cli.ledger:change", "drop", row)


tape = typer.Typer(
    help="The tapes: what is on them, out to a file and in from one.", no_args_is_help=True
)
app.add_typer(tape, name="tape")

_Tape = Annotated[
    str,
    typer.Argument(help="A session (telegram:-100123), a tape's name, or the beginning of that."),
]
_AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON an entry.")]
_Since = Annotated[str, typer.Option(help="From this date on, such as 2026-01-02T15:04.")]
_Until = Annotated[str, typer.Option(help="Before this date.")]
_Kinds = Annotated[list[str] | None, typer.Option(help="Of this kind; may be repeated.")]
_Lane = Annotated[str, typer.Option(help="Of this lane.")]


@tape.command("list")
def tape_list() -> None:
    """List the tapes: session, name, entries, newest date."""
    _run("gateway.cli.tape:show_list")


@tape.command("show")
def tape_show(
    name: _Tape,
    anchor: Annotated[str, typer.Option(help="Only behind the latest anchor of this name.")] = "",
    until_anchor: Annotated[
        str, typer.Option(help="Only up to this anchor: the first behind --anchor.")
    ] = "",
    since: _Since = "",
    until: _Until = "",
    kind: _Kinds = None,
    author: Annotated[list[str] | None, typer.Option(help="Of this author's id.")] = None,
    lane: _Lane = "",
    text: Annotated[str, typer.Option(help="That hold this piece of text.")] = "",
    limit: Annotated[int, typer.Option(help="So many of the newest.")] = 50,
    view: Annotated[
        str, typer.Option(help="Instead: what this turn's model calls were shown, all of it.")
    ] = "",
    as_json: _AsJson = False,
) -> None:
    """Print the newest entries of a tape, under all the conditions that are given."""
    where = {
        "after_anchor": anchor,
        "before_anchor": until_anchor,
        "since": since,
        "until": until,
        "kinds": kind,
        "authors": author,
        "lane": lane,
        "text": text,
    }
    given = {condition: value for condition, value in where.items() if value}
    if view and given:
        raise typer.BadParameter("--view shows all of its turn: give it no other conditions")
    if view:
        _run("gateway.cli.tape:show_prompts", name, view, as_json)
    else:
        _run("gateway.cli.tape:show_entries", name, {**given, "limit": limit}, as_json)


@tape.command("search")
def tape_search(
    name: _Tape,
    text: Annotated[str, typer.Argument(help="What was said.")],
    rank: Annotated[bool, typer.Option("--rank", help="The best of the newest first.")] = False,
    since: _Since = "",
    until: _Until = "",
    kind: _Kinds = None,
    author: Annotated[str, typer.Option(help="Of this author's id.")] = "",
    lane: _Lane = "",
    limit: Annotated[int, typer.Option(help="So many at most.")] = 20,
    as_json: _AsJson = False,
) -> None:
    """Search what was said on a tape, the newest first: messages and anchors, or the kinds given.

    All words must be there; a piece in double quotes is a phrase.
    """
    how = {
        "rank": rank,
        "since": since,
        "until": until,
        "kinds": kind,
        "author": author,
        "lane": lane,
    }
    given = {condition: value for condition, value in how.items() if value}
    _run("gateway.cli.tape:search", name, text, {**given, "limit": limit}, as_json)


@tape.command("reindex")
def tape_reindex() -> None:
    """Make the index of words anew; searches go on meanwhile."""
    _run("gateway.cli.tape:reindex")


@tape.command("export")
def tape_export(
    name: _Tape,
    file: Annotated[str, typer.Argument(help="A new file; - is standard output.")] = "-",
) -> None:
    """Write a tape as JSONL: an entry a line, with id, kind, payload, meta and date."""
    _run("gateway.cli.tape:export", name, file)


@tape.command("import")
def tape_import(
    file: Annotated[str, typer.Argument(help="JSONL: an entry a line; of other tools as well.")],
    session: Annotated[str, typer.Option(help="The session that it is the tape of.")] = "",
    name: Annotated[str, typer.Option("--tape", help="Or the name of the tape.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be.")] = False,
) -> None:
    """Take a tape in, whole or not at all, and tell what was mended.

    The tape must be empty, or hold the beginning of the same file.
    """
    _run("gateway.cli.tape:take_in", file, session, name, dry_run)


@tape.command("follow")
def tape_follow(name: _Tape, as_json: _AsJson = False) -> None:
    """Print a tape's newest entries, and each that comes, until Ctrl-C."""
    _run("gateway.cli.tape:follow", name, as_json)


@app.command(hidden=True)
def hooks() -> None:
    """List the hooks, who implements them, and the plugins that did not load."""
    _run("gateway.cli.hooks:show_hooks")


def _run(target: str, *arguments: Any) -> None:
    """Load a command's function by its dotted name and end with what it returns."""
    module, _, name = target.partition(":")
    code = import_module("gateway.cli.runner").run_command(
        getattr(import_module(module), name), *arguments
    )
    if code:
        raise typer.Exit(code)


def main() -> None:
    """Run the command line."""
    import_module("gateway.cli.plugin_commands").add_plugin_commands(app, sys.argv[1:])
    app()


if __name__ == "__main__":
    main()
