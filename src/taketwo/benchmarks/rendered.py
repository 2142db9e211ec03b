"""Videos painted by code with questions whose answers are known exactly."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import numpy as np

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue, canonical_json, sha256_of
from taketwo.benchmarks.question import Question
from taketwo.benchmarks.rendered_balance import PosedQuestion, pose_questions
from taketwo.benchmarks.rendered_program import Value
from taketwo.benchmarks.scene import Difficulty, VideoScript
from taketwo.benchmarks.scene_encoding import encode_mp4
from taketwo.benchmarks.scene_painter import ScenePainter
from taketwo.benchmarks.scene_sound import SpeechRecordings, load_speech, sound_track
from taketwo.benchmarks.scene_writing import write_script
from taketwo.errors import InvalidQuestion, RequestError
from taketwo.media.store import write_atomically
from taketwo.media.video import file_sha256

__all__ = [
    "Composition",
    "QuestionProgram",
    "Rendered",
    "compose",
    "read_programs",
    "render_video",
    "rendered",
]

Rendered = Literal["mixed", "easy", "medium", "hard"]

_FORMAT = "taketwo.rendered/1"
_MIXED: tuple[Difficulty, ...] = ("easy", "medium", "hard")


@dataclass(frozen=True, kw_only=True)
class QuestionProgram:
    """How the answer of a question follows from the video; `values` stand for its options."""

    program: Mapping[str, JsonValue]
    values: tuple[Value, ...]


@dataclass(frozen=True, kw_only=True)
class Composition:
    """A benchmark before painting: `posed` questions name their video by its file name."""

    options: Mapping[str, JsonValue]
    scripts: tuple[VideoScript, ...]
    posed: tuple[PosedQuestion, ...]


def rendered(
    seed: int,
    folder: Path,
    *,
    videos: int = 12,
    questions: int = 60,
    difficulty: Rendered = "mixed",
    open_questions: int = 6,
    many_options: int = 0,
) -> Benchmark:
    """Return the benchmark of a seed, painting its videos into a folder where they are missing.

    Parameters
    ----------
    seed
        Source of every choice, 0 or more; equal seeds and options give equal questions and
        scripts.
    folder
        Where videos lie. A video that is there and has the recorded hash is kept; the others
        are painted (about a second of processor time each).
    videos
        Number of videos, 1 to 99, each of 24 to 36 seconds.
    questions
        Number of questions, spread evenly over videos and six kinds.
    difficulty
        One level for all videos, or `mixed` for easy, medium and hard in turn.
    open_questions
        How many questions have no options.
    many_options
        How many questions of the kind `order` have 28 options, labelled 1 to 28.

    Raises
    ------
    RequestError
        If an option is out of its range.
    """
    speech = load_speech()
    composition = compose(
        seed,
        speech,
        videos=videos,
        questions=questions,
        difficulty=difficulty,
        open_questions=open_questions,
        many_options=many_options,
    )
    home = folder / f"rendered-{seed}-{sha256_of(composition.options)[:8]}"
    _paint_missing(composition, home, speech)
    asked = tuple(
        replace(item.question, video_path=str(home / item.question.video_path))
        for item in composition.posed
    )
    content = sha256_of([question.content_sha256 for question in asked])
    return Benchmark(name="rendered", version=f"1+{content[:12]}", questions=asked)


def compose(
    seed: int,
    speech: SpeechRecordings,
    *,
    videos: int,
    questions: int,
    difficulty: Rendered,
    open_questions: int,
    many_options: int,
) -> Composition:
    """Return scripts and questions without painting; arguments are those of `rendered`.

    Raises
    ------
    RequestError
        If an option is out of its range.
    """
    _require(seed, videos, questions, open_questions, many_options)
    root, *children = np.random.SeedSequence(seed).spawn(videos + 1)
    levels = _MIXED if difficulty == "mixed" else (difficulty,)
    scripts = tuple(
        write_script(
            f"r{seed}-v{number:02d}",
            levels[number % len(levels)],
            np.random.default_rng(child),
            speech,
        )
        for number, child in enumerate(children)
    )
    posed = pose_questions(
        scripts,
        {script.video_id: _file_name(script) for script in scripts},
        np.random.default_rng(root),
        questions=questions,
        open_questions=open_questions,
        many_options=many_options,
    )
    options: dict[str, JsonValue] = {
        "seed": seed,
        "videos": videos,
        "questions": questions,
        "difficulty": difficulty,
        "open_questions": open_questions,
        "many_options": many_options,
    }
    return Composition(options=options, scripts=scripts, posed=posed)


def _file_name(script: VideoScript) -> str:
    return f"{script.video_id}-{script.sha256[:12]}.mp4"


def _require(seed: int, videos: int, questions: int, open_questions: int, many: int) -> None:
    if seed < 0 or not 1 <= videos <= 99 or questions < 1 or open_questions < 0 or many < 0:
        raise RequestError(
            f"rendered benchmark: seed {seed}, videos {videos}, questions {questions}, "
            f"open_questions {open_questions}, many_options {many}; needed are a seed of 0 or "
            "more, 1 to 99 videos, 1 or more questions and no negative number"
        )
    if questions > 12 * videos:
        raise RequestError(
            f"rendered benchmark: {questions} questions on {videos} videos; a video carries at "
            f"most 12, so ask for {12 * videos} questions or more videos"
        )


def render_video(script: VideoScript, speech: SpeechRecordings) -> bytes:
    """Return the MP4 file of a script."""
    return encode_mp4(
        ScenePainter(script).frames(),
        sound_track(script, speech),
        fps=script.fps,
        width=script.width,
        height=script.height,
    )


def _paint_missing(composition: Composition, home: Path, speech: SpeechRecordings) -> None:
    """Write what is missing or damaged: videos first, then the record that vouches for them."""
    recorded = _recorded_hashes(home / "scripts.json")
    scripts = composition.scripts

    def paint(script: VideoScript) -> str:
        path = home / _file_name(script)
        known = recorded.get(path.name)
        if known is not None and path.is_file() and file_sha256(path) == known:
            return known
        write_atomically(path, render_video(script, speech))
        return file_sha256(path)

    with ThreadPoolExecutor(max_workers=min(len(scripts), os.cpu_count() or 1)) as pool:
        hashes = list(pool.map(paint, scripts))
    record: dict[str, JsonValue] = {
        "format": _FORMAT,
        "options": composition.options,
        "videos": {
            script.video_id: {
                "file": _file_name(script),
                "sha256": found,
                "script_sha256": script.sha256,
                "script": script.to_json(),
            }
            for script, found in zip(scripts, hashes, strict=True)
        },
        "questions": {
            item.question.question_id: {"program": item.program, "values": list(item.values)}
            for item in composition.posed
        },
    }
    question_lines = [canonical_json(item.question.to_json()) for item in composition.posed]
    for name, data in (
        ("scripts.json", canonical_json(record)),
        ("questions.jsonl", b"\n".join(question_lines) + b"\n"),
    ):
        if not (home / name).is_file() or (home / name).read_bytes() != data:
            write_atomically(home / name, data)


def _recorded_hashes(path: Path) -> dict[str, str]:
    """Return the hash of every video file that the record names; nothing where it is damaged."""
    try:
        record = json.loads(path.read_bytes())
        videos = cast("dict[str, dict[str, str]]", record["videos"])
        return {video["file"]: video["sha256"] for video in videos.values()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def read_programs(question: Question) -> QuestionProgram | None:
    """Return the program of a rendered question, None for a question of another benchmark.

    Raises
    ------
    InvalidQuestion
        If the record beside the video does not know the question.
    """
    path = Path(question.video_path).parent / "scripts.json"
    if not path.is_file():
        return None
    try:
        record = cast("dict[str, object]", json.loads(path.read_bytes()))
        entries = cast("dict[str, dict[str, object]]", record.get("questions", {}))
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidQuestion(
            f"{str(path)!r} is no record of rendered questions ({error}); paint the benchmark anew "
            "with the options of the study"
        ) from error
    if record.get("format") != _FORMAT or question.question_id not in entries:
        raise InvalidQuestion(
            f"question {question.question_id!r}: {str(path)!r} has no program for it; "
            "paint the benchmark anew with the options of the study"
        )
    entry = entries[question.question_id]
    return QuestionProgram(
        program=cast("Mapping[str, JsonValue]", entry["program"]),
        values=tuple(cast("list[Value]", entry["values"])),
    )
