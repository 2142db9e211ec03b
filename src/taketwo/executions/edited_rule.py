"""In what the rule of a study file was edited after the plan was frozen; read without the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue, canonical_json
from taketwo.errors import RequestError
from taketwo.executions.plan import Plan
from taketwo.executions.study_file import read_study_file, study_file_of

__all__ = ["edited_rule"]

_UNREADABLE = "it can no longer be read"


def edited_rule(plan: Plan, folder: Path) -> tuple[str, ...]:
    """Return what the `rule:` of the study file says otherwise than the plan, as `level: 0.95 -> 0.9`.

    The plan's rule is what a comparison goes by: whoever edits the file after the scores are known
    changes nothing, and is to be told so. Empty where no study file is there; a rule that cannot be
    read any more is one difference.
    """
    study_yaml = study_file_of(plan, folder)
    if study_yaml is None:
        return ()
    try:
        study = read_study_file(study_yaml)
    except RequestError:
        return (_UNREADABLE,)
    if study.problems.is_inside(("rule",)):
        return (_UNREADABLE,)
    planned = plan.rule.to_json()
    written = cast(
        "Mapping[str, JsonValue]",
        study.sections.rule.model_dump(mode="json", exclude_none=True),
    )
    return tuple(
        f"{name}: {_text(planned.get(name))} -> {_text(written.get(name))}"
        for name in sorted({*planned, *written})
        if planned.get(name) != written.get(name)
    )


def _text(value: JsonValue) -> str:
    return "none" if value is None else canonical_json(value).decode("utf-8", "replace")
