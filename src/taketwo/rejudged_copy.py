"""The folder of a run that is judged again: where it may lie, what is copied, what it says of itself."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from taketwo.benchmarks.canonical import JsonValue, sha256_of_text
from taketwo.errors import HarnessError, InvalidResults, RequestError
from taketwo.executions.log_json import Json, plain_json, text
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import Protocol
from taketwo.scores.formats.run_folder import OWN_FILE, AgentVidBenchRun
from taketwo.scores.formats.run_folder_files import RunFiles
from taketwo.scores.formats.run_folder_summary import Evaluated
from taketwo.scores.formats.run_folder_writing import write_evaluation, write_own_file
from taketwo.scores.trajectory_request import rubric as rubric_text

__all__ = ["files_of_run", "identity_of", "require_apart", "write_rejudged"]

_LISTED = 50
_LEFTOVER = re.compile(r"\.[^/]+\.[0-9]+\.[0-9a-f]{12}\.tmp")
"""What a process that was killed while it wrote a file may leave beside it."""
_JUDGING = ("judge", "protocol", "rubric")
"""What makes two results of one run another judging; failures of the same one are asked again."""


def require_apart(source: Path, target: Path, pool: Path, told: Mapping[str, JsonValue]) -> None:
    """Check, before anything is asked, that all that is written can be and is not in the run.

    `told` is what the result will say of its judging (`identity_of`): an earlier result by another
    judge, protocol or rubric is not replaced.

    Raises
    ------
    RequestError
        If the output or the judgements may not lie there, or the output holds something else.
    """
    run, out, kept = source.resolve(), target.resolve(), pool.resolve()
    if out == run or run in out.parents or out in run.parents:
        raise RequestError(
            f"{target}: the run folder itself, or one inside the other; the run is never written to: "
            "name another folder"
        )
    if kept == run or run in kept.parents:
        raise RequestError(
            f"{pool}: in the run folder, which is never written to; name another folder for the "
            "judgements (--judgements)"
        )
    if kept == out or {out / "inference", out / "evaluation"} & {kept, *kept.parents}:
        raise RequestError(
            f"{pool}: is replaced by the result; name another folder for the judgements (--judgements)"
        )
    for path in (target, *target.parents, pool, *pool.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise RequestError(f"{path}: no folder, where one is needed; name another place")
    own = kept.relative_to(out).parts[0] if out in kept.parents else None
    there = [path.name for path in target.iterdir()] if target.exists() else []
    if all(name == own or _LEFTOVER.fullmatch(name) for name in there):
        return
    marked = RunFiles(target).json(target / OWN_FILE)
    if marked is None or text(marked, "source_sha256") != _place(source):
        raise RequestError(
            f"{target}: holds something that is no earlier result of {source.name}; name a new folder"
        )
    _require_same_judging(target, marked, told)


def _require_same_judging(target: Path, earlier: Json, told: Mapping[str, JsonValue]) -> None:
    others = [
        f"{name} {_named(earlier[name], told[name])} there, {_named(told[name], earlier[name])} now"
        for name in _JUDGING
        if name in earlier and plain_json(earlier[name]) != plain_json(told[name])
    ]
    if others:
        raise RequestError(
            f"{target}: holds the result of another judging of the same run ({'; '.join(others)}); "
            "it is not replaced: name another folder (-o)"
        )


def _named(value: object, other: object) -> str:
    """Return a judge by its name where that tells two of them apart, else all of it."""
    name = text(value, "name")
    if name is not None and name != text(other, "name"):
        return repr(name)
    return json.dumps(plain_json(value), ensure_ascii=False) if name else repr(value)


def files_of_run(source: Path) -> list[Path]:
    """Return the files of a run by their paths in it, links within it followed.

    Raises
    ------
    InvalidResults
        If links lead out of the run folder, nowhere or round in circles, all of them named.
    """
    home = source.resolve()
    found: list[Path] = []
    faults: list[str] = []
    tops = [Path(name) for name in (OWN_FILE, "evaluation", "inference")]
    waiting = [(name, (home,)) for name in tops if os.path.lexists(source / name)]
    while waiting:
        name, above = waiting.pop()
        path = source / name
        try:
            real = path.resolve(strict=True)
            if not real.is_relative_to(home):
                faults.append(f"{name}: leads out of the run folder")
            elif real in above:
                faults.append(f"{name}: leads to a folder that it lies in")
            elif path.is_dir():
                inner = sorted(path.iterdir(), reverse=True)
                waiting += [(name / entry.name, (*above, real)) for entry in inner]
            elif path.is_file():
                found.append(name)
            else:
                faults.append(f"{name}: neither a file nor a folder")
        except (OSError, RuntimeError):
            faults.append(f"{name}: leads nowhere or cannot be read")
    if faults:
        more = [f"and {len(faults) - _LISTED} more"] if len(faults) > _LISTED else []
        listed = "\n".join(f"  {fault}" for fault in (*faults[:_LISTED], *more))
        raise InvalidResults(
            f"{source}: {len(faults)} entries are not files of this folder, and nothing outside it is "
            f"read; copy the folder first, e.g. cp -rL {source} COPY, and judge the copy:\n{listed}"
        )
    return found


def _place(source: Path) -> str:
    """Return a name of where a run lies that tells nobody the path."""
    return sha256_of_text(str(source.resolve()))


def identity_of(
    source: Path, judge: ModelSpec, protocol: Protocol, rubric: str, max_tokens: int | None
) -> dict[str, JsonValue]:
    """Return what a result says of its judging, in its own file and its summary."""
    return {
        "rejudged_from": source.resolve().name,
        "source_sha256": _place(source),
        "judge": judge.to_json(),
        "protocol": protocol,
        "rubric": rubric,
        "prompt_sha256": sha256_of_text(rubric_text(rubric)),
        "max_tokens": max_tokens,
        "letters": "of the trajectory, else of the stored votes, else read by our parser with the options",
    }


def write_rejudged(
    run: AgentVidBenchRun,
    target: Path,
    files: Sequence[Path],
    items: Sequence[Evaluated],
    unrecorded: int,
    identity: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """Copy the inference, write an evaluation over whatever an earlier result has, return the summary.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    own = {name: plain_json(value) for name, value in run.own.items()}
    write_own_file(target, {**own, **identity})
    try:
        for left in target.glob(".*.tmp"):
            if _LEFTOVER.fullmatch(left.name):
                left.unlink()
        for name in ("inference", "evaluation"):
            if (target / name).exists():
                shutil.rmtree(target / name)
        (target / "inference").mkdir()
        for name in files:
            if name.parts[0] == "inference":
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                # The contents alone: what may not be written there may be written here.
                shutil.copyfile(run.path / name, target / name)
    except OSError as error:
        raise HarnessError(
            f"{target}: the inference cannot be copied there ({error}); make room or allow writing "
            "there, and start again: what was judged is kept"
        ) from error
    return write_evaluation(
        target,
        items,
        framework=run.method,
        model=run.model,
        tag=run.tag,
        unrecorded=unrecorded,
        own=identity,
    )
