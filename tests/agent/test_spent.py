"""What a turn has used, by the names that have prices."""

from __future__ import annotations

from agent.spent import CALLS, Spent
from agent.testing import ScriptedModel, new_tape, says
from tests.agent.scripted import begin, stage_of


async def test_a_call_counts_under_the_name_in_the_settings_whatever_the_server_reports() -> None:
    tape = new_tape()
    await begin(tape)
    stage = stage_of(tape=tape)
    await stage.run(ScriptedModel(says("hi", usage={"prompt_tokens": 9}, requested="gpt-5-mini")))
    spent = Spent()
    for entry in stage.log.deferred:
        spent.take(entry)
    assert spent.to_json() == {"gpt-5-mini": {CALLS: 1, "prompt_tokens": 9}}
    assert stage.log.deferred[0].payload["data"]["model"] == "scripted"
    await tape.store.close()
