"""Edits, as a report tells them: why one asked, or why it did not."""

from __future__ import annotations

from dataclasses import replace

from channels.message import InboundMessage, Media
from gateway.explain.explainer import Explainer
from gateway.explain.message_report import JUDGED
from gateway.explain.report import Report
from gateway.intake.editing.versions import TOO_LATE
from gateway.language.language import speaking
from tests.kit.chats import GroupChat
from tests.kit.plain_channels import MESSAGE

SAID = replace(MESSAGE, message_id="71", ext_id="-100/71")
ASIDE = replace(SAID, addressed=False, why="said to the group", text="when do we meet?")
ASKING = replace(
    ASIDE,
    kind="edit",
    ext_id="-100/71/edit/1",
    text="@bot when?",
    addressed=True,
    why="mention",
    edited="2026-01-01T00:01:00+00:00",
)


async def explained(group: GroupChat, asked: str) -> Report:
    services = group.gateway.services
    return await Explainer(services.store, services.redactor).explain(asked)


def says(report: Report, about: str) -> list[str]:
    return [line.says for line in report.lines if line.about == about]


async def test_a_message_that_was_edited_to_ask_is_explained_to_its_answer(
    group: GroupChat,
) -> None:
    await group.hear_each(ASIDE, ASKING)
    report = await explained(group, "71")
    assert says(report, "addressed") == ["no: said to the group", "yes: mention"]
    assert says(report, "rule") == [JUDGED]
    assert says(report, "edit") == ["in-2 is an edit of message 71 in plain -100"]
    assert says(report, "outcome")[-1].startswith("answered by the turn t-")
    assert [joint.condition for joint in report.joints][-1] == "ok"


async def test_the_answer_and_the_edit_s_row_are_explained_by_the_edit(group: GroupChat) -> None:
    await group.hear_each(ASIDE, ASKING)
    for asked in ("in-2", "out-1"):
        report = await explained(group, asked)
        assert says(report, "rule") == [JUDGED]
        assert says(report, "addressed") == ["yes: mention"]


async def test_an_edit_of_what_was_never_delivered_is_explained(group: GroupChat) -> None:
    await group.hear(ASKING)
    report = await explained(group, "71")
    assert report.head == "in-1 is an edit of message 71 in plain -100"
    assert says(report, "outcome")[-1].startswith("answered by the turn t-")


async def test_an_edit_that_did_not_ask_says_why(group: GroupChat) -> None:
    late = replace(ASKING, edited="2026-01-01T01:00:00+00:00")
    await group.hear_each(ASIDE, late)
    (line,) = says(await explained(group, "71"), "changed")
    assert line.endswith(f"; the edit asked nothing: {TOO_LATE}")
    with speaking("zh"):
        (line,) = says(await explained(group, "71"), "changed")
    assert line.endswith("写下五分钟以后才被编辑")


async def test_a_late_edit_of_what_was_never_delivered_says_why_it_was_only_recorded(
    group: GroupChat,
) -> None:
    await group.hear(replace(ASKING, edited="2026-01-01T01:00:00+00:00"))
    assert says(await explained(group, "71"), "outcome") == [f"recorded: {TOO_LATE}"]


async def test_a_picture_that_was_changed_is_named(group: GroupChat) -> None:
    photo = Media("image", "photo", width=2, height=3)
    asked: InboundMessage = replace(SAID, text="look", media=(photo,))
    new = replace(asked, kind="edit", ext_id="-100/71/edit/1", media=(replace(photo, width=9),))
    await group.hear_each(asked, replace(new, edited=ASKING.edited))
    (line,) = says(await explained(group, "71"), "changed")
    assert line.startswith("edited; other than before: photo; it reads now: ")
