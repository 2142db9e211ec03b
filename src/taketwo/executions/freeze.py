"""From `study.yaml` to a frozen `plan.json`, and the check that it still holds."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path

from taketwo.errors import RequestError
from taketwo.executions.plan import Plan
from taketwo.executions.planned_media import planned_questions
from taketwo.executions.resolved_study import resolve_study
from taketwo.executions.unchanged import Differences, check_unchanged, differences
from taketwo.media.store import write_atomically
from taketwo.media.video import VideoInfo
from taketwo.media.worker import MediaWorkers

__all__ = ["Differences", "check_unchanged", "differences", "freeze", "write_plan"]


def freeze(
    study_yaml: Path,
    *,
    now: str,
    seed: int | None = None,
    probe: Callable[[Path], VideoInfo] | None = None,
) -> Plan:
    """Return the plan that a study file describes.

    `now` is the time of freezing (UTC, ISO-8601), which is no part of the plan's hash. `seed` is
    used where the study names none; without both it is drawn from the operating system and stored
    in the plan. `probe` says what a video file is; by default it runs in a worker process with a
    time limit, so that no file can hang the plan.

    Raises
    ------
    RequestError
        If the file is no YAML mapping, or with all problems of the study by line.
    DataError
        If the benchmark's own files cannot be used.
    """
    resolved = resolve_study(study_yaml)
    if probe is None:
        with MediaWorkers() as workers:
            questions = planned_questions(resolved.benchmark, workers.probe)
    else:
        questions = planned_questions(resolved.benchmark, probe)
    written = resolved.study.sections.seed
    chosen = seed if written is None else written
    return resolved.plan(
        questions, now=now, seed=secrets.randbelow(2**53) if chosen is None else chosen
    )


def write_plan(plan: Plan, folder: Path) -> Path:
    """Write `plan.json` into a study folder, whole or not at all, and return its path.

    Raises
    ------
    RequestError
        If another plan lies there already; executions may hang on it.
    """
    path = folder / "plan.json"
    if path.exists():
        try:
            found = json.loads(path.read_bytes()).get("sha256")
        except (ValueError, AttributeError):
            found = None
        if found == plan.sha256:
            return path
        raise RequestError(
            f"{path}: another plan lies here ({str(found)[:12]}, this one is {plan.sha256[:12]}); "
            "name a new folder, or remove the old study first"
        )
    text = json.dumps(plan.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode("utf-8", "surrogatepass"))
    return path
