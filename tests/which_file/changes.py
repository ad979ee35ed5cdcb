"""Four rows of the table, each done once."""

from __future__ import annotations

from typing import Final

from tests.which_file.tree import ROOT, Change, Edit

LEDGER: Final = "gateway/storage/ledger/sql"


def next_migration(dialect: str) -> str:
    """Return the path of the ledger's next migration, named `noted`."""
    last = max((ROOT / LEDGER / dialect).glob("[0-9]*.sql")).name
    return f"{LEDGER}/{dialect}/{int(last[:4]) + 1:04}_noted.sql"


ADD_NOTED: Final = (
    "-- What an operator noted about a message.\n"
    "ALTER TABLE inbox ADD COLUMN noted TEXT NOT NULL DEFAULT '';\n"
)
NOTE: Final = """-- name: note
-- Keep what an operator noted about a message.
UPDATE inbox SET noted = :noted WHERE id = :id

"""
COLUMN: Final = Change(
    row="add a column to the ledger's `inbox`",
    edits=(
        Edit(next_migration("sqlite"), ADD_NOTED),
        Edit(next_migration("postgres"), f"-- readable from: 1\n{ADD_NOTED}"),
        *(
            Edit(f"{LEDGER}/{dialect}/statements_noted.sql", NOTE)
            for dialect in ("sqlite", "postgres")
        ),
        Edit(
            "gateway/storage/ledger/rows.py",
            '    noted: str = ""  # what an operator noted about it\n',
            after="held after a restore, until somebody let it go on\n",
        ),
    ),
    rooms=("tests/gateway/storage", "tests/tape/stores/test_dialects.py", "tests/tape/database"),
)

SETTING: Final = Change(
    row="add a setting",
    edits=(
        Edit(
            "gateway/settings/sections.py",
            '    backlog: int = setting(100, "Maximum connections that wait for us.", ge=1)\n',
            after='    port: int = setting(8787, "The port to listen on.", ge=0, le=65535)\n',
        ),
        Edit(
            "gateway/language/chinese/settings_of_gateway.py",
            '    "Maximum connections that wait for us.": "等待我们的连接的最大数量。",\n',
            after='    "The port to listen on.": "监听的端口。",\n',
        ),
    ),
    rooms=("tests/gateway/settings", "tests/gateway/language"),
    makes=("make env-example", "make reference"),
)

COMMAND: Final = Change(
    row="add a command of `tapeway`",
    edits=(
        Edit(
            "gateway/cli/service/home_path.py",
            '''"""The command that prints the home folder."""

from __future__ import annotations

from gateway.settings import Settings


def show_home(settings: Settings) -> int:
    print(settings.home_path)
    return 0
''',
        ),
        Edit(
            "gateway/cli/main.py",
            '''@app.command(examples=["home"])
def home() -> None:
    """Print the home folder."""
    run("gateway.cli.service.home_path:show_home")


''',
            after="""    run("gateway.http.access_token:show_token")


""",
        ),
        Edit(
            "gateway/cli/help.py",
            ', "home"',
            after='"Change it": ("access", "config", "hooks", "token"',
        ),
    ),
    rooms=("tests/gateway/cli/test_help.py", "tests/gateway/cli/test_hooks.py"),
    makes=("make reference",),
)

QUIRK: Final = Change(
    row="work around a quirk of a model server",
    edits=(
        Edit(
            "agent/models/request_body.py",
            'NULLS: Final = "messages without content"\n',
            after='FILLER: Final = "a question right after a tool\'s result"\n',
        ),
        Edit(
            "agent/models/request_body.py",
            ", with_content",
            after="import NO_ANSWER, alternate, fold_system, one_call_each",
        ),
        Edit(
            "agent/models/request_body.py",
            "        NULLS: with_content,\n",
            after="        FILLER: with_filler,\n",
        ),
        Edit(
            "agent/models/strict.py",
            '''def with_content(messages: Sequence[Message]) -> list[Message]:
    """Give messages with calls an empty text, for servers that accept no null."""
    return [
        {**message, "content": ""} if message.get("content") is None else message
        for message in messages
    ]


''',
            after="""            split.append(later.pop(0))
    return split


""",
        ),
        Edit("agent/models/learned.py", "    NULLS,\n", after="    IMAGES,\n"),
        Edit(
            "agent/models/learned.py",
            '        NULLS: re.compile(r"content may not be null", re.IGNORECASE),\n',
            after='no first user message", re.IGNORECASE),\n',
        ),
        Edit(
            "tests/agent/models/test_learned.py",
            '    (Failure(400, "Message content may not be null"), has_null),\n',
            after='single tool-calls at once!"), has_two_calls),\n',
        ),
        Edit(
            "tests/agent/models/test_learned.py",
            """def has_null(body: dict[str, Any]) -> bool:
    return any(message["content"] is None for message in body["messages"])


""",
            after='> 1 for message in body["messages"])\n\n\n',
        ),
    ),
    rooms=tuple(
        f"tests/agent/models/test_{name}.py" for name in ("learned", "request_body", "strict")
    ),
)
CHANGES: Final = (COLUMN, SETTING, COMMAND, QUIRK)
