"""`tapeway doctor`: examine the instance, and print what is wrong and how to correct it.

It works beside a running gateway and when none starts: wrong settings are a part of its report.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import anyio
import orjson

from gateway.cli.screen import discard_output, safe
from gateway.clock import SystemClock
from gateway.doctor.examination import examine, wants_color
from gateway.doctor.subject import Subject, find_subject
from gateway.logs import set_up_logs
from gateway.printing import print_out, print_words
from gateway.settings import LogSettings
from gateway.settings.files import with_remembered
from gateway.supervision.local_model import find_local_model


def doctor(as_json: bool, deep: bool) -> None:
    """Print the report, and end with 1 if something does not work, otherwise with 0."""
    variables = with_remembered(os.environ)
    subject = find_subject(variables, deep=deep)
    # What libraries and plugins log is in the report already, as sentences.
    set_up_logs(LogSettings(level="error", format="text"), subject.redactor)
    anyio.run(_examine, subject, as_json)


async def _examine(subject: Subject, as_json: bool) -> None:
    found = await find_local_model(subject.settings, SystemClock())
    report = await examine(replace(subject, settings=found) if found else subject)
    try:
        if as_json:
            print_words(safe(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2).decode()))
        else:
            color = wants_color(subject.variables, terminal=sys.stdout.isatty())
            print_out(report.to_text(color=color))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    # A thread may still wait for a name server or a disk, and would keep the process waiting.
    os._exit(report.exit_code)
