"""Agents as a user would write them."""

from __future__ import annotations

from taketwo.agents.answer import Answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.toolbox import Toolbox

NOT_AN_AGENT = 3


async def first_option(question: VisibleQuestion, toolbox: Toolbox, *, shift: int = 0) -> Answer:
    """Always take the first option."""
    toolbox.note("did not look")
    return Answer(status="answered", text="A", option_index=shift)


def not_async(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    return Answer(status="abstained", text="")


async def forgetful(question: VisibleQuestion, toolbox: Toolbox) -> str:
    return "A"
