"""A benchmark before it is used: what is in it, how a part differs from the whole, what to hold out.

What paints videos or needs the engine is imported where it is called.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.exclusion import named_questions
from taketwo.benchmarks.population import (
    Composition,
    Difference,
    Overlap,
    composition_of,
    differences,
    video_overlap,
)
from taketwo.benchmarks.saturation import expected_saturation
from taketwo.benchmarks.selection import Holdout, Unit, draw_holdout
from taketwo.benchmarks.verification import unverified
from taketwo.errors import RequestError
from taketwo.media.store import write_atomically
from taketwo.study_folder import StudyFolder

__all__ = [
    "Against",
    "BenchmarkCheck",
    "HeldOut",
    "Options",
    "PopulationReport",
    "benchmark_of",
    "check_benchmark",
    "compare_population",
    "hold_out",
    "write_list",
]

Against = Literal["whole", "rest"]
Options = Mapping[str, JsonValue]
"""What a benchmark takes, as a study file writes it."""


def benchmark_of(what: Path | str, options: Options | None = None) -> Benchmark:
    """Return the benchmark of a name with its options, or that of a study.

    Parameters
    ----------
    what
        A name (`sage_bench`, `agentvidbench`, `video_mme`, `minerva`, `local`, ...), or a study: its
        folder or its YAML file.
    options
        What the benchmark takes, as a study file writes it (`path`, `videos`, `exclude`, ...);
        relative paths start at the working directory. A study says its options itself.

    Raises
    ------
    UnknownName, RequestError
        If there is no such benchmark or study, or an option does not fit.
    InvalidQuestion
        If a row cannot be used; `problems` has every one.
    """
    from taketwo.benchmarks.catalog import BENCHMARK_NAMES, load_benchmark  # heavy: on call

    if options and "name" in options:
        raise RequestError(
            f"{what}: 'name' is no option; the benchmark is named already, remove name="
        )
    path = Path(what)
    is_study = path.suffix in {".yaml", ".yml"} or path.is_dir()
    if str(what) in BENCHMARK_NAMES or not is_study:
        return load_benchmark({**(options or {}), "name": str(what)}, base=Path())
    from taketwo.executions.study_file import read_study_file  # heavy: on call

    if options:
        raise RequestError(
            f"{what}: a study says the options of its benchmark itself, found also "
            f"{', '.join(map(repr, options))}; leave them out, or name the benchmark"
        )
    study_yaml = StudyFolder.locate(path).study_yaml
    if study_yaml is None:
        raise RequestError(f"{what}: there is no study.yaml to read the benchmark from")
    study = read_study_file(study_yaml)
    section = study.sections.benchmark
    if section is None or not section.name:
        study.problems.raise_if_any()
        raise RequestError(f"{study_yaml}: the study names no benchmark")
    return load_benchmark(section.spec, base=study.folder)


@dataclass(frozen=True, kw_only=True)
class BenchmarkCheck:
    """A benchmark of which every row can be used, and what is in it.

    `saturation` says why little room between arms is to be expected, None where nothing says so;
    `unverified` that the loader has not seen the data, None where it has.
    """

    benchmark: Benchmark
    composition: Composition
    saturation: str | None

    @property
    def unverified(self) -> str | None:
        """Return the reservation on how the benchmark is read, None where there is none."""
        return unverified(self.benchmark.name)

    @property
    def truths_in_words(self) -> tuple[str, ...]:
        """Return the ids of the choices of which no option is the truth, so that a judge must compare."""
        return tuple(
            question.question_id
            for question in self.benchmark.questions
            if question.options and not question.is_matched_by_option
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            **_identity(self.benchmark),
            "composition": self.composition.to_json(),
            "saturation": self.saturation,
            "unverified": self.unverified,
            "truths_in_words": list(self.truths_in_words),
        }


def check_benchmark(what: Path | str, options: Options | None = None) -> BenchmarkCheck:
    """Say whether every row of a benchmark can be used, and what is in it. No video is looked at.

    `what` and `options` are those of `benchmark_of`: a name with options, or a study.

    Raises
    ------
    InvalidQuestion
        If a row cannot be used; its `problems` are all, each with file, line and field.
    """
    benchmark = benchmark_of(what, options)
    return BenchmarkCheck(
        benchmark=benchmark,
        composition=composition_of(benchmark.questions),
        saturation=expected_saturation(benchmark.name, benchmark.questions),
    )


@dataclass(frozen=True, kw_only=True)
class PopulationReport:
    """A part of a benchmark beside the whole of it, or beside the rest.

    `differences` are the part's shares minus those of the reference, in points. `overlap` counts the
    videos of the part that have questions in the rest as well.
    """

    benchmark: Benchmark
    against: Against
    reference: Composition
    part: Composition
    differences: tuple[Difference, ...]
    overlap: Overlap

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            **_identity(self.benchmark),
            "against": self.against,
            "reference": self.reference.to_json(),
            "part": self.part.to_json(),
            "differences": [asdict(item) for item in self.differences],
            "video_overlap": asdict(self.overlap),
        }

    def to_polars(self) -> pl.DataFrame:
        """Return a row per level of each factor: counts and shares on both sides, difference in points."""
        return pl.DataFrame([asdict(item) for item in self.differences], infer_schema_length=None)


def compare_population(
    what: Path | str,
    options: Options | None = None,
    *,
    part: Path | str | Sequence[Path | str],
    complement: bool = False,
    against: Against = "whole",
) -> PopulationReport:
    """Say how a part of a benchmark differs from the whole, factor by factor, and which videos it shares.

    Parameters
    ----------
    what, options
        A name with options, or a study; see `benchmark_of`.
    part
        A file with the ids of the part (a holdout, a list, a frozen availability, which names the
        lost questions), or several.
    complement
        Whether the part is what the files leave, not what they name.
    against
        What the part is compared with: the `whole` benchmark, or the `rest` of it.

    Raises
    ------
    RequestError
        If a file does not fit the benchmark, or a side has no question.
    """
    benchmark = benchmark_of(what, options)
    files = [Path(part)] if isinstance(part, (str, Path)) else [Path(file) for file in part]
    named = {name for file in files for name in named_questions(benchmark, file)}
    ours = [item for item in benchmark.questions if (item.question_id in named) is not complement]
    rest = [item for item in benchmark.questions if (item.question_id in named) is complement]
    reference = benchmark.questions if against == "whole" else rest
    if not ours or not reference:
        raise RequestError(
            f"{', '.join(map(str, files))}: {len(ours)} questions are in the part and {len(rest)} in "
            f"the rest of benchmark {benchmark.name!r}; both sides of a comparison need some"
        )
    return PopulationReport(
        benchmark=benchmark,
        against=against,
        reference=composition_of(reference),
        part=composition_of(ours),
        differences=differences(reference, ours),
        overlap=video_overlap(ours, rest),
    )


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """A stratified holdout with the benchmark and the seed that it was drawn from."""

    benchmark: Benchmark
    seed: int
    holdout: Holdout

    def write(self, path: Path) -> None:
        """Write the ids as a file that a benchmark's `exclude` takes, with how they were drawn.

        Raises
        ------
        RequestError
            If another list lies there.
        """
        write_list(path, self.to_json())

    def to_json(self) -> dict[str, JsonValue]:
        """Return the list as it is written."""
        return self.holdout.to_json(self.benchmark, seed=self.seed)


def hold_out(
    what: Path | str,
    options: Options | None = None,
    *,
    n: int,
    by: Sequence[str],
    seed: int,
    unit: Unit = "question",
) -> HeldOut:
    """Draw a stratified holdout: the shares of the strata are kept to less than one question.

    Parameters
    ----------
    what, options
        A name with options, or a study; see `benchmark_of`.
    n
        How many questions.
    by
        Attributes whose combinations are the strata, such as `["duration", "question_type",
        "modality"]`.
    seed
        Of the draw; the same seed draws the same questions.
    unit
        `video` draws whole videos, so that none has questions on both sides; they may give a few
        questions more or less than `n`.

    Raises
    ------
    RequestError
        If `n` does not fit, the whole videos nearest to it are none or all, or a question lacks an
        attribute.
    """
    benchmark = benchmark_of(what, options)
    drawn = draw_holdout(benchmark, n, strata=by, rng=np.random.default_rng(seed), unit=unit)
    return HeldOut(benchmark=benchmark, seed=seed, holdout=drawn)


def _identity(benchmark: Benchmark) -> dict[str, JsonValue]:
    return {"benchmark": benchmark.name, "benchmark_version": benchmark.version}


def write_list(path: Path, record: Mapping[str, JsonValue]) -> None:
    """Write a list of questions; one that was used must not change unseen.

    Raises
    ------
    RequestError
        If another list lies there.
    """
    text = (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()
    if path.exists() and path.read_bytes() != text:
        raise RequestError(
            f"{path}: another list lies there, which a study may have used; choose another name, or "
            "remove it"
        )
    write_atomically(path, text)
