"""Recognising whose results a file or a folder holds, and reading them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import polars as pl

from taketwo.errors import DataError, InvalidResults, RequestError
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports import lm_eval_harness, lmms_eval
from taketwo.outcomes.imports.agentvidbench_run import (
    anchor_of,
    read_agentvidbench,
    run_folder_of,
)
from taketwo.outcomes.imports.assembly import assembled
from taketwo.outcomes.imports.hal import is_hal, read_hal
from taketwo.outcomes.imports.inspect_eval import read_inspect_logs
from taketwo.outcomes.imports.lm_eval_harness import read_lm_eval_harness
from taketwo.outcomes.imports.lmms_eval import read_lmms_eval
from taketwo.outcomes.imports.long_table import read_long_tables
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.own_outcomes import read_own_outcomes
from taketwo.outcomes.imports.record import Aside, ImportedResults
from taketwo.outcomes.imports.sage_rows import is_sage_inference, is_sage_scores, read_sage
from taketwo.outcomes.imports.sources import Parsed, Source, as_record, open_source
from taketwo.outcomes.imports.tau_bench import is_tau, is_tau2, read_tau, read_tau2
from taketwo.outcomes.imports.terminal_bench import is_terminal_bench, read_terminal_bench
from taketwo.outcomes.imports.vlmevalkit import read_vlmevalkit
from taketwo.outcomes.imports.wide_table import read_wide_tables

__all__ = ["Format", "read_results", "recognise"]

Format = Literal[
    "own outcomes",
    "inspect",
    "lmms-eval",
    "lm-eval-harness",
    "vlmevalkit",
    "hal",
    "tau-bench",
    "tau2-bench",
    "terminal-bench",
    "agentvidbench",
    "sage",
    "table",
]

_READERS: Mapping[Format, Callable[[Sequence[Source], ReadOptions], Parsed]] = {
    "own outcomes": read_own_outcomes,
    "inspect": read_inspect_logs,
    "lmms-eval": read_lmms_eval,
    "lm-eval-harness": read_lm_eval_harness,
    "vlmevalkit": read_vlmevalkit,
    "hal": read_hal,
    "tau-bench": read_tau,
    "tau2-bench": read_tau2,
    "terminal-bench": read_terminal_bench,
    "agentvidbench": read_agentvidbench,
    "sage": read_sage,
}

_TABLES = (".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson")
_SCORED_SHEET = {"index", "prediction"}
_INSPECT = {"eval", "samples", "status"}
_UNREADABLE = "unreadable file"
_LISTED = 20
_BY_PATH = ("lmms-eval", "lm-eval-harness", "vlmevalkit", "agentvidbench", "sage")
"""Formats whose files do not name their system: the same bytes may be two systems' results."""


def read_results(paths: Sequence[Path | str], options: ReadOptions) -> ImportedResults:
    """Read results of one or more files or folders, whoever wrote them.

    A folder is searched for result files; what in it is none is in the account. A file that repeats
    another byte for byte is read once.

    Raises
    ------
    RequestError
        If nothing was named, or an option does not fit what was found.
    InvalidResults
        If a file is empty, of no known format, or holds what cannot be used; the message names file
        and place.
    """
    if not paths:
        raise RequestError("name at least one file or folder with results")
    asides: list[Aside] = []
    by_format: dict[Format, list[Source]] = {}
    seen: dict[Path, None] = {}
    for path in map(Path, paths):
        for found, kind in _found(path, asides):
            if found.resolve() in seen:
                continue
            seen[found.resolve()] = None
            by_format.setdefault(kind, []).append(open_source(found))
    if not by_format:
        broken = [item.first for item in asides if item.what == _UNREADABLE]
        unreadable = "".join(f"\n  {told}" for told in broken[:_LISTED])
        raise InvalidResults(
            f"{', '.join(map(str, paths))}: no results of a known format; {_known()}{unreadable}"
        )
    parts: list[Parsed] = []
    for kind, sources in by_format.items():
        once = sources if kind in _BY_PATH else _once(sources, asides)
        parts.append(_reader(kind, options)(once, options))
    return assembled(parts, options, asides)


def _reader(
    kind: Format, options: ReadOptions
) -> Callable[[Sequence[Source], ReadOptions], Parsed]:
    if kind == "table":
        return read_long_tables if options.wide is None else read_wide_tables
    return _READERS[kind]


def _once(sources: Sequence[Source], asides: list[Aside]) -> list[Source]:
    kept: dict[str, Source] = {}
    repeated: list[str] = []
    for source in sorted(sources, key=lambda source: str(source.path)):
        held = kept.setdefault(source.sha256, source)
        if held is not source:
            repeated.append(f"{source.path} repeats {held.path}")
    if repeated:
        asides.append(
            Aside(
                what="files that repeat another byte for byte",
                count=len(repeated),
                why="a run found twice is one run",
                first=repeated[0],
            )
        )
    return list(kept.values())


def _found(path: Path, asides: list[Aside]) -> Iterator[tuple[Path, Format]]:
    if path.is_file():
        kind = recognise(path)
        if kind is None:
            raise InvalidResults(f"{path}: not results of a known format; {_known()}")
        yield path, kind
        return
    if not path.is_dir():
        raise InvalidResults(f"{path}: no such file or folder")
    others: list[Path] = []
    tables: list[Path] = []
    harness = False
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if hidden or not file.is_file() or _is_part_of_another(file):
            continue
        try:
            kind = recognise(file)
        except DataError as error:
            asides.append(Aside(what=_UNREADABLE, count=1, why="left out", first=str(error)))
            continue
        if kind is None:
            others.append(file)
        elif kind == "table":
            tables.append(file)
        else:
            harness = True
            yield file, kind
    if harness:
        # Tables beside the results of a harness are its summaries, not runs.
        others += tables
    else:
        for file in tables:
            yield file, "table"
    if others:
        asides.append(
            Aside(
                what="files in the folders",
                count=len(others),
                why="no results of single questions in a format that is known",
                first=str(sorted(others)[0]),
            )
        )


def _is_part_of_another(file: Path) -> bool:
    """Return whether a file is read with the one that names it: a simulation, a run's metadata."""
    folder = file.parent
    run = run_folder_of(file)
    if run is not None:
        return file != anchor_of(run)
    if file.name == "run_metadata.json":
        return (folder / "results.json").is_file()
    return folder.name == "simulations" and (folder.parent / "results.json").is_file()


def recognise(path: Path) -> Format | None:
    """Return the format of a file, by its name where that is telling, else by what is in it.

    Raises
    ------
    InvalidResults
        If the file is empty, not readable, or an encrypted trace.
    """
    name = path.name.lower()
    run = run_folder_of(path)
    if run is not None and path == anchor_of(run):
        return "agentvidbench"
    if lmms_eval.FILE_NAME.fullmatch(path.name):
        return "lmms-eval"
    if lm_eval_harness.FILE_NAME.fullmatch(path.name):
        return "lm-eval-harness"
    if name.endswith(".eval"):
        return "inspect"
    if name.endswith(".xlsx"):
        return "vlmevalkit"
    if name.endswith("_upload.json"):
        return "hal"
    if name.endswith("_upload.zip"):
        raise InvalidResults(f"{path}: an encrypted HAL trace; decrypt it with hal-decrypt first")
    plain = name.removesuffix(".gz").removesuffix(".gzip")
    if plain.endswith((".parquet", ".pq")):
        return "own outcomes" if _is_own(open_source(path)) else "table"
    if plain.endswith(".json"):
        return _of_json(open_source(path))
    if plain.endswith((".jsonl", ".ndjson")):
        return _of_lines(open_source(path))
    if plain.endswith(".tsv"):
        header = open_source(path).text.partition("\n")[0].strip("\r").split("\t")
        return "vlmevalkit" if set(header) >= _SCORED_SHEET else "table"
    return "table" if plain.endswith(_TABLES) else None


def _is_own(source: Source) -> bool:
    try:
        columns = set(pl.read_parquet_schema(io.BytesIO(source.data)))
    except pl.exceptions.PolarsError as error:
        raise InvalidResults(f"{source.path}: not readable Parquet ({error})") from error
    return {"arm", "execution", "question_id", "run_status", "score_status"} <= columns


def _of_json(source: Source) -> Format | None:
    record = source.json()
    if is_hal(record):
        return "hal"
    if is_tau(record):
        return "tau-bench"
    if is_tau2(record):
        return "tau2-bench"
    if is_terminal_bench(record):
        return "terminal-bench"
    if isinstance(record, list):
        first = as_record(next(iter(cast("list[object]", record)), None))
        if is_sage_scores(first):
            return "sage"
        return ("vlmevalkit" if set(first) >= _SCORED_SHEET else "table") if first else None
    return "inspect" if set(as_record(record)) >= _INSPECT else None


def _of_lines(source: Source) -> Format | None:
    record = _first_record(source)
    if "filtered_resps" in record:
        return "lm-eval-harness" if "prompt_hash" in record else "lmms-eval"
    return "sage" if is_sage_inference(record) else "table"


def _first_record(source: Source) -> Json:
    """Return the first line that is a JSON object: a broken one before it is for the reader to tell."""
    for line in source.text.split("\n"):
        try:
            record = as_record(json.loads(line or "null"))
        except (ValueError, RecursionError):
            continue
        if record:
            return record
    return {}


def _known() -> str:
    return (
        "known are our outcomes.parquet, tables (CSV, TSV, Parquet, JSON Lines), inspect logs (.eval), "
        "lmms-eval, lm-evaluation-harness, VLMEvalKit, HAL, tau-bench, tau2-bench, Terminal-Bench, "
        "run folders of AgentVidBench and rows of SAGE"
    )
