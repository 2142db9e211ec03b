"""Whether what would run now is still what the plan froze; asked before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from taketwo.agents.catalog import agent_spec
from taketwo.benchmarks.canonical import JsonValue, canonical_json, sha256_of
from taketwo.benchmarks.question import Question
from taketwo.errors import DataError, PlanChanged, RequestError
from taketwo.executions.environment import code_sha256, package_versions
from taketwo.executions.plan import Arm, Plan, PlannedQuestion
from taketwo.executions.planned_media import MediaChange, media_now
from taketwo.executions.planned_web import require_web, web_now
from taketwo.executions.resolved_study import prompt_hashes, resolve_study
from taketwo.executions.study_file import study_file_of
from taketwo.tools.catalog import tools_sha256

__all__ = ["Differences", "check_unchanged", "differences"]

_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Differences:
    """In what things are now otherwise than a frozen plan says, without a look at any video.

    `study_yaml` is the study file that was read, None where there is none any more. `in_file` is what it,
    or a file that it names, says otherwise; `installed` what other code, packages and prompts are there.
    `unusable` is why the study file cannot be used as it stands (a fault, an agent or a data set that is
    not there), so that nobody knows whether it differs.
    """

    study_yaml: Path | None
    in_file: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    unusable: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Now:
    """The plan as it would be frozen now, with the questions of the benchmark where a file names it."""

    study_yaml: Path | None
    plan: Plan
    questions: Mapping[str, Question]
    problems: tuple[str, ...]


def differences(plan: Plan, folder: Path) -> Differences:
    """Say in what the study file, and what is installed, differ from a frozen plan.

    What `check_unchanged` refuses, but for the bytes of videos and subtitles, which take long to read.
    """
    try:
        now = _now(plan, folder)
    except (RequestError, DataError) as error:
        return Differences(study_yaml=study_file_of(plan, folder), unusable=str(error))
    installed = _installed_differences(plan, now.plan)
    found = [
        *now.problems,
        *_settings_differences(plan, now.plan),
        *_arm_differences(plan, now.plan),
    ]
    if now.study_yaml is None:
        return Differences(study_yaml=None, installed=(*installed, *found))
    return Differences(study_yaml=now.study_yaml, in_file=tuple(found), installed=tuple(installed))


def check_unchanged(plan: Plan, folder: Path) -> tuple[PlannedQuestion, ...]:
    """Return the planned questions with the availability they have now, if nothing else changed.

    Everything is computed again: arms, models, sampling, options and limits from the study file
    (`study.yaml` in `folder`, `FOLDER.yaml` beside it, else the file that the plan was made of;
    where none is there, from the plan), prompt templates, tool schemas, our sources, package versions, the content of the
    questions and the bytes of videos and subtitles. A video that is gone is no change: its question
    comes back as `missing`.

    Raises
    ------
    PlanChanged
        If anything differs, with every difference: arm, role, and both hashes.
    RequestError
        If the study file can no longer be read, or a key or package that its web needs is missing.
    """
    now = _now(plan, folder)
    present, changes = media_now(plan.questions, now.questions)
    problems = [
        *now.problems,
        *_settings_differences(plan, now.plan),
        *_installed_differences(plan, now.plan),
        *_arm_differences(plan, now.plan),
        *_media_differences(changes),
    ]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise PlanChanged(
            f"{folder}: what would run differs from plan {plan.sha256[:12]} of study "
            f"{plan.study!r}; nothing was spent\n{listed}\n"
            "  either put it back as it was, or freeze a new study in a new folder: save the study file "
            "under another name and call taketwo plan NEW.yaml"
        )
    require_web(plan.web)
    return present


def _now(plan: Plan, folder: Path) -> _Now:
    study_yaml = study_file_of(plan, folder)
    if study_yaml is None:
        again, problems = _again(plan)
        return _Now(study_yaml=None, plan=again, questions={}, problems=tuple(problems))
    resolved = resolve_study(study_yaml)
    written = resolved.study.sections.seed
    now = resolved.plan(
        plan.questions, now=plan.created, seed=plan.seed if written is None else written
    )
    questions = {question.question_id: question for question in resolved.benchmark.questions}
    return _Now(
        study_yaml=study_yaml,
        plan=now,
        questions=questions,
        problems=tuple(_question_differences(plan, questions)),
    )


def _again(plan: Plan) -> tuple[Plan, list[str]]:
    """Return the plan as its own records would be frozen now, and what no longer loads."""
    arms: list[Arm] = []
    problems: list[str] = []
    for arm in plan.arms:
        try:
            spec = agent_spec(arm.agent)
            options = spec.options.model_validate(arm.options)
        except (RequestError, ValidationError) as error:
            problems.append(
                f"arm {arm.name!r}, agent {arm.agent!r}: no longer loads: {' '.join(str(error).split())}"
            )
            arms.append(arm)
            continue
        tools = spec.tools(options)
        arms.append(
            replace(
                arm,
                options=options.model_dump(mode="json"),
                limits=spec.limits_for(options).tightened_by(arm.limits),
                tools=tuple(tool.name for tool in tools),
                prompts=prompt_hashes(spec, options),
                tools_sha256=tools_sha256(tools),
            )
        )
    models = {model.name for arm in arms for model in arm.models.values()}
    web = plan.web
    try:
        web = web_now(plan.web)
    except DataError as error:
        problems.append(f"web: {error}")
    now = replace(
        plan,
        arms=tuple(arms),
        web=web,
        code_sha256=code_sha256(),
        packages=package_versions(models),
    )
    return now, problems


def _settings_differences(plan: Plan, now: Plan) -> list[str]:
    before, after = plan.to_json(), now.to_json()
    apart = {
        "questions",
        "arms",
        "created",
        "study_file",
        "sha256",
        "code_sha256",
        "packages",
        "benchmark_sha256",
        "web",
        "scoring",
    }
    found = [
        _difference(name.replace("_", " "), before[name], after[name])
        for name in before
        if name not in apart and before[name] != after[name]
    ]
    web = [None if one.web is None else one.web.identity for one in (plan, now)]
    if web[0] != web[1]:
        found.append(_difference("web", *web))
    if plan.scoring != now.scoring:
        found.append(_difference("scoring", plan.scoring.to_json(), now.scoring.to_json()))
    return found


def _installed_differences(plan: Plan, now: Plan) -> list[str]:
    """Return what nobody wrote into the study: packages, our code, texts of agents set as before."""
    found: list[str] = []
    if plan.packages != now.packages:
        found.append(_difference("packages", dict(plan.packages), dict(now.packages)))
    if plan.code_sha256 != now.code_sha256:
        found.append(
            "code of Take Two: planned "
            f"{plan.code_sha256[:12]}, now {now.code_sha256[:12]}; install the version of the plan"
        )
    after = {arm.name: arm for arm in now.arms}
    for arm in plan.arms:
        if arm.name in after and _is_set_alike(arm, after[arm.name]):
            found += _texts_differ(arm, after[arm.name])
    return found


def _is_set_alike(before: Arm, after: Arm) -> bool:
    return (before.agent, dict(before.options)) == (after.agent, dict(after.options))


def _arm_differences(plan: Plan, now: Plan) -> list[str]:
    before = {arm.name: arm for arm in plan.arms}
    after = {arm.name: arm for arm in now.arms}
    found = [f"arm {name!r}: in the plan, no longer in the study" for name in before.keys() - after]
    found += [f"arm {name!r}: in the study, not in the plan" for name in after.keys() - before]
    if list(before) != list(after) and not found:
        found.append(f"order of arms: planned {', '.join(before)}, now {', '.join(after)}")
    for name in before:
        if name in after:
            found += _one_arm(before[name], after[name])
    return sorted(found)


def _texts_differ(before: Arm, after: Arm) -> list[str]:
    """Return how the prompts and tool schemas of an arm differ."""
    label = f"arm {before.name!r}"
    found = [
        f"{label}, prompt of {role!r}: planned {_short(before.prompts.get(role))}, "
        f"now {_short(after.prompts.get(role))}"
        for role in sorted({*before.prompts, *after.prompts})
        if before.prompts.get(role) != after.prompts.get(role)
    ]
    if before.tools_sha256 != after.tools_sha256:
        found.append(
            f"{label}, tool schemas of 'orchestrator': planned {_short(before.tools_sha256)}, "
            f"now {_short(after.tools_sha256)}"
        )
    return found


def _one_arm(before: Arm, after: Arm) -> list[str]:
    label = f"arm {before.name!r}"
    found = [] if _is_set_alike(before, after) else _texts_differ(before, after)
    planned, current = before.to_json(), after.to_json()
    for part in ("models", "sampling"):
        roles_before = cast("Mapping[str, JsonValue]", planned[part])
        roles_after = cast("Mapping[str, JsonValue]", current[part])
        found += [
            _difference(
                f"{label}, {part} of {role!r}", roles_before.get(role), roles_after.get(role)
            )
            for role in sorted({*roles_before, *roles_after})
            if roles_before.get(role) != roles_after.get(role)
        ]
    found += [
        _difference(f"{label}, {part}", planned[part], current[part])
        for part in ("agent", "baseline", "options", "limits", "tools", "factors")
        if planned[part] != current[part]
    ]
    return found


def _question_differences(plan: Plan, questions: Mapping[str, Question]) -> list[str]:
    planned = {item.question.question_id: item.question_sha256 for item in plan.questions}
    found = [
        f"question {name!r}: in the plan, no longer in the benchmark"
        for name in planned
        if name not in questions
    ]
    found += [
        f"question {name!r}: in the benchmark, not in the plan"
        for name in questions
        if name not in planned
    ]
    found += [
        f"question {name!r}: planned {_short(planned[name])}, now {_short(one.content_sha256)}"
        for name, one in questions.items()
        if name in planned and one.content_sha256 != planned[name]
    ]
    return _capped(found, "questions")


def _media_differences(changes: tuple[MediaChange, ...]) -> list[str]:
    by_file: dict[tuple[str, str, str | None, str | None], list[str]] = {}
    for change in changes:
        key = (change.what, change.path, change.planned_sha256, change.found_sha256)
        by_file.setdefault(key, []).append(change.question_id)
    found = [
        f"{what} {path} of question {names[0]!r}"
        + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        + f": planned {_short(before)}, now {_short(after)}"
        for (what, path, before, after), names in by_file.items()
    ]
    return _capped(found, "files")


def _capped(found: list[str], what: str) -> list[str]:
    if len(found) <= _SHOWN:
        return found
    return [*found[:_SHOWN], f"and {len(found) - _SHOWN} more {what}"]


def _difference(label: str, before: JsonValue, after: JsonValue) -> str:
    text = f"{label}: planned {sha256_of(before)[:12]}, now {sha256_of(after)[:12]}"
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        first, second = _leaves(before), _leaves(after)
        parts = [
            f"{name}: {_shown(first, name)} -> {_shown(second, name)}"
            for name in sorted({*first, *second})
            if first.get(name) != second.get(name) or (name in first) != (name in second)
        ]
        return f"{text} ({', '.join(parts)})"
    return f"{text} ({_json(before)} -> {_json(after)})"


def _leaves(values: Mapping[str, JsonValue], before: str = "") -> dict[str, JsonValue]:
    """Return the values inside nested mappings by their path, with dots between the names."""
    found: dict[str, JsonValue] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            found |= _leaves(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def _shown(values: Mapping[str, JsonValue], name: str) -> str:
    return _json(values[name]) if name in values else "absent"


def _json(value: JsonValue) -> str:
    text = canonical_json(value).decode("utf-8", "replace")
    return text if len(text) <= 60 else text[:57] + "..."


def _short(sha256: str | None) -> str:
    return "absent" if sha256 is None else sha256[:12]
