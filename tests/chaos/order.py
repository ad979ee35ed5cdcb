"""In which order a platform hands over what people asked.

A lane is answered in the order of acceptance, always. Acceptance follows the asking as far as the
platform keeps that order: questions of one queue are accepted as they were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from tests.chaos.plan import MODEL, Plan, Question

Queue = Callable[[Plan, Question], Hashable]
"""Names the queue that a question stands in."""


def of_the_chat(_plan: Plan, question: Question) -> Hashable:
    """Queue all of a chat's questions: the platform numbers its messages or events."""
    return question.place


def of_each_person(people: int) -> Queue:
    """Queue each person's own questions, where so many post from pages of their own."""
    return lambda _plan, question: (question.place, question.person % people)


def of_the_chat_unless_cut_off(plan: Plan, question: Question) -> Hashable:
    """Queue a chat's questions, but none where deliveries may come late.

    Slack delivers in any order. What a broken connection or a kill has cut off comes again seconds
    later, and the history that has it first may fail for longer than the rest can wait for it.
    """
    late = any(trouble.name not in MODEL for trouble in plan.troubles)
    return question.token if late else question.place
