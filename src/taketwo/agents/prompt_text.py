"""The prompt templates in `agents/prompts`, by name, and their filling."""

from __future__ import annotations

from importlib.resources import files
from string import Template

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.fencing import FENCE_RULE

__all__ = ["answer_form", "filled", "template"]


def template(name: str) -> str:
    """Return the template `agents/prompts/<name>.txt` as it stands."""
    return (files("taketwo.agents") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def filled(name: str, **values: str) -> str:
    """Return the template with its `$names` replaced; values are inserted as they are.

    Raises
    ------
    KeyError
        If a name of the template has no value.
    """
    return Template(template(name)).substitute(values, fence_rule=FENCE_RULE).strip()


def answer_form(question: VisibleQuestion) -> str:
    """Return what an agent that answers in JSON is told about the form of its answer."""
    return template(f"answer_form_{question.format}").strip()
