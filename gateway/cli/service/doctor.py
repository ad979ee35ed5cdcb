"""`tapeway doctor`: examine the instance, and print what is wrong and how to correct it.

It works beside a running gateway and when none starts: wrong settings are a part of its report.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import anyio
import orjson

from gateway.cli.screen import safe
from gateway.cli.table import print_line
from gateway.clock import SystemClock
from gateway.doctor.diagnosis import Diagnosis
from gateway.doctor.examination import examine, wants_color
from gateway.doctor.subject import Subject, find_subject
from gateway.logs import set_up_logs
from gateway.settings import LogSettings
from gateway.settings.files import with_remembered
from gateway.supervision.local_model import find_local_model


def doctor(as_json: bool, deep: bool) -> int:
    """Print the report; return 1 if something does not work, otherwise 0."""
    variables = with_remembered(os.environ)
    subject = find_subject(variables, deep=deep)
    # What libraries and plugins log is in the report already, as sentences.
    set_up_logs(LogSettings(level="error", format="text"), subject.redactor)
    report = anyio.run(_examine, subject)
    if as_json:
        print_line(safe(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2).decode()))
    else:
        color = wants_color(variables, terminal=sys.stdout.isatty())
        print_line(report.to_text(color=color))
    return report.exit_code


async def _examine(subject: Subject) -> Diagnosis:
    found = await find_local_model(subject.settings, SystemClock())
    return await examine(replace(subject, settings=found) if found else subject)
