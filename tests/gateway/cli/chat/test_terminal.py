"""`tapeway chat` with its input from a pipe."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import make_environ, run_tapeway


async def test_under_an_answer_that_was_cut_off_it_says_how_to_get_the_rest(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("half",), finish_reason="length"), Text(("whole",)))
    environ = make_environ(tmp_path, model)
    code, out, _err = await run_tapeway(environ, "chat", given=b"everything\ngo on\n")
    assert code == 0
    assert out.count("(Write `go on` to get the rest.)") == 1
    assert out.index("half") < out.index("(Write `go on`") < out.index("whole")
