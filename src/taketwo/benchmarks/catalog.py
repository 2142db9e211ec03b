"""Benchmarks by name, as a study file asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.exclusion import without_questions
from taketwo.benchmarks.local import local
from taketwo.benchmarks.minerva import minerva
from taketwo.benchmarks.real_clips import real_clips
from taketwo.benchmarks.rendered import rendered
from taketwo.benchmarks.sage_bench import sage_bench
from taketwo.benchmarks.video_mme import Subset, video_mme
from taketwo.errors import RequestError, UnknownName

__all__ = ["BENCHMARK_NAMES", "load_benchmark"]


class _Options(BaseModel):
    """What every benchmark takes: files with the ids of the questions to leave out."""

    model_config = ConfigDict(extra="forbid")
    exclude: str | list[str] | None = None


class _RenderedOptions(_Options):
    seed: int = Field(default=7, ge=0)
    folder: str = "videos"
    videos: int = Field(default=12, ge=1, le=99)
    questions: int = Field(default=60, ge=1)
    difficulty: Literal["mixed", "easy", "medium", "hard"] = "mixed"
    open_questions: int = Field(default=6, ge=0)
    many_options: int = Field(default=0, ge=0)


class _RealClipsOptions(_Options):
    folder: str = "videos"


class _LocalOptions(_Options):
    path: str
    videos: str | None = None
    label: str = "local"
    allow_absolute: bool = False


class _AgentVidBenchOptions(_Options):
    path: str
    videos: str | None = None
    transcripts: bool = True


class _MinervaOptions(_Options):
    path: str
    videos: str | None = None


class _VideoMmeOptions(_Options):
    path: str
    videos: str | None = None
    subtitles: bool | str = False
    subset: Subset | None = None


class _SageBenchOptions(_Options):
    path: str
    videos: str | None = None
    legacy_folder: str | None = None


def _load_rendered(options: _RenderedOptions, base: Path) -> Benchmark:
    return rendered(
        options.seed,
        base / options.folder,
        videos=options.videos,
        questions=options.questions,
        difficulty=options.difficulty,
        open_questions=options.open_questions,
        many_options=options.many_options,
    )


def _load_real_clips(options: _RealClipsOptions, base: Path) -> Benchmark:
    return real_clips(base / options.folder)


def _load_demo(options: _RenderedOptions, base: Path) -> Benchmark:
    painted, real = _load_rendered(options, base), real_clips(base / options.folder)
    return Benchmark(
        name="demo",
        version=f"{painted.version}+{real.version}",
        questions=painted.questions + real.questions,
    )


def _load_local(options: _LocalOptions, base: Path) -> Benchmark:
    return local(
        base / options.path,
        videos=base / options.videos if options.videos is not None else None,
        name=options.label,
        allow_absolute=options.allow_absolute,
    )


def _load_agentvidbench(options: _AgentVidBenchOptions, base: Path) -> Benchmark:
    return agentvidbench(
        base / options.path,
        videos=base / options.videos if options.videos is not None else None,
        transcripts=options.transcripts,
    )


def _load_sage_bench(options: _SageBenchOptions, base: Path) -> Benchmark:
    return sage_bench(
        base / options.path,
        videos=base / options.videos if options.videos is not None else None,
        legacy_folder=options.legacy_folder,
    )


def _load_minerva(options: _MinervaOptions, base: Path) -> Benchmark:
    return minerva(
        base / options.path,
        videos=base / options.videos if options.videos is not None else None,
    )


def _load_video_mme(options: _VideoMmeOptions, base: Path) -> Benchmark:
    path = base / options.path
    own = (path if path.is_dir() else path.parent) / "subtitle"
    named = base / options.subtitles if isinstance(options.subtitles, str) else own
    return video_mme(
        path,
        videos=base / options.videos if options.videos is not None else None,
        subtitles=named if options.subtitles else None,
        subset=options.subset,
    )


@dataclass(frozen=True)
class _Entry:
    options: type[_Options]
    load: Callable[[_Options, Path], Benchmark]


_BENCHMARKS: Mapping[str, _Entry] = {
    name: _Entry(options, cast("Callable[[_Options, Path], Benchmark]", load))
    for name, options, load in (
        ("agentvidbench", _AgentVidBenchOptions, _load_agentvidbench),
        ("demo", _RenderedOptions, _load_demo),
        ("local", _LocalOptions, _load_local),
        ("minerva", _MinervaOptions, _load_minerva),
        ("real_clips", _RealClipsOptions, _load_real_clips),
        ("rendered", _RenderedOptions, _load_rendered),
        ("sage_bench", _SageBenchOptions, _load_sage_bench),
        ("video_mme", _VideoMmeOptions, _load_video_mme),
    )
}
BENCHMARK_NAMES: tuple[str, ...] = tuple(_BENCHMARKS)


def load_benchmark(spec: Mapping[str, JsonValue], *, base: Path) -> Benchmark:
    """Return the benchmark that a study's `benchmark` section describes.

    Parameters
    ----------
    spec
        `name`, one of `BENCHMARK_NAMES`, and that benchmark's options. All take `exclude`, a JSON
        file with the ids of the questions to leave out, or a list of such files
        (`benchmarks.exclusion`).
    base
        The folder that relative paths in the options start from.

    Raises
    ------
    UnknownName
        If the name or an option is not known; near names are listed.
    RequestError
        If the name is missing, an option has a value that cannot be used, or `exclude` does not fit
        the questions.
    InvalidQuestion
        If the questions themselves cannot be used.
    """
    name = spec.get("name")
    if not isinstance(name, str):
        raise RequestError(
            f"benchmark: expected a name, found {name!r:.80}; known are {', '.join(BENCHMARK_NAMES)}"
        )
    entry = _BENCHMARKS.get(name)
    if entry is None:
        raise UnknownName.among("benchmark", name, BENCHMARK_NAMES)
    given = {option: value for option, value in spec.items() if option != "name"}
    for option in given:
        if option not in entry.options.model_fields:
            raise UnknownName.among(
                f"option of benchmark {name!r}", option, entry.options.model_fields
            )
    try:
        options = entry.options.model_validate(given)
    except ValidationError as error:
        raise RequestError(
            f"benchmark {name!r}: "
            + "; ".join(
                f"option {'.'.join(map(str, p['loc']))!r}: {p['msg']}, found {p['input']!r:.80}"
                if p["type"] != "missing"
                else f"option {'.'.join(map(str, p['loc']))!r} is missing"
                for p in error.errors()
            )
        ) from error
    benchmark = entry.load(options, base)
    if options.exclude is None:
        return benchmark
    files = [options.exclude] if isinstance(options.exclude, str) else options.exclude
    return without_questions(benchmark, *(base / file for file in files))
