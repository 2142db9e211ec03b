"""The state of every question's media: on the day of freezing, and again before an execution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from taketwo.benchmarks.availability import MediaState, media_states
from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.named_files import file_is_there
from taketwo.benchmarks.question import Question
from taketwo.executions.plan import PlannedQuestion
from taketwo.media.video import VideoInfo, file_sha256

__all__ = ["MediaChange", "media_now", "paths_of", "planned_questions", "with_paths"]


@dataclass(frozen=True, kw_only=True)
class MediaChange:
    """Media of a question with other bytes than the plan has, or subtitles only then or only now."""

    question_id: str
    what: str
    path: str
    planned_sha256: str | None
    found_sha256: str | None


def planned_questions(
    benchmark: Benchmark, probe: Callable[[Path], VideoInfo]
) -> tuple[PlannedQuestion, ...]:
    """Return the questions of a benchmark with the identity and the state of their media.

    A duration that the data set does not give is filled in from the file.
    """
    subtitles = _hashes(question.subtitles_path for question in benchmark.questions)
    return tuple(
        _planned(question, state, subtitles)
        for question, state in zip(benchmark.questions, media_states(benchmark, probe), strict=True)
    )


def media_now(
    planned: tuple[PlannedQuestion, ...], questions: Mapping[str, Question]
) -> tuple[tuple[PlannedQuestion, ...], tuple[MediaChange, ...]]:
    """Return the planned questions as their media are now, and the media that have other bytes.

    `questions` are the questions as loaded now, by id; their paths are used, so that a study and
    its videos may move. Media that were there and are gone make the question `missing`, a loss of
    availability and not a change. Subtitles that a question no longer names, or did not name then
    (a transcript that was fetched later), are a change. What was missing or unreadable when the plan was frozen stays
    so: nothing is known about its bytes. Where the study file now names another place that has it, that
    is a change.
    """
    expected = [item for item in planned if item.availability == "available"]
    current = [questions.get(item.question.question_id, item.question) for item in expected]
    videos = _hashes(question.video_path for question in current)
    subtitles = _hashes(question.subtitles_path for question in current)
    changes: list[MediaChange] = []
    found: dict[str, PlannedQuestion] = {}
    for item, question in zip(expected, current, strict=True):
        reason: str | None = None
        media = [("video", question.video_path, item.video_sha256, videos[question.video_path])]
        reading = _subtitles(item, question, subtitles)
        for what, path, before, after in [*media, *reading]:
            if after is None and what in {"video", "subtitles"}:
                reason = reason or f"gone since the plan was frozen: {what} {path}"
            elif after is None or after != before:
                changes.append(
                    MediaChange(
                        question_id=question.question_id,
                        what=what,
                        path=path,
                        planned_sha256=before,
                        found_sha256=after,
                    )
                )
        located = replace(
            item.question, video_path=question.video_path, subtitles_path=question.subtitles_path
        )
        found[question.question_id] = replace(
            item,
            question=located,
            availability="available" if reason is None else "missing",
            reason=reason,
        )
    changes += _found_elsewhere(planned, questions)
    now = tuple(found.get(item.question.question_id, item) for item in planned)
    return now, tuple(changes)


def _found_elsewhere(
    planned: Iterable[PlannedQuestion], questions: Mapping[str, Question]
) -> list[MediaChange]:
    """Return videos that were planned as missing and that the study file now finds at another place."""
    moved = [
        (item, now)
        for item in planned
        if item.availability != "available"
        and (now := questions.get(item.question.question_id)) is not None
        and now.video_path != item.question.video_path
    ]
    hashes = _hashes(question.video_path for _, question in moved)
    return [
        MediaChange(
            question_id=question.question_id,
            what="video",
            path=question.video_path,
            planned_sha256=item.video_sha256,
            found_sha256=hashes[question.video_path],
        )
        for item, question in moved
        if hashes[question.video_path] is not None
    ]


def _subtitles(
    item: PlannedQuestion, question: Question, hashes: Mapping[str, str | None]
) -> list[tuple[str, str, str | None, str | None]]:
    """Return what the subtitles are called now, their path, and their hashes then and now.

    A question that has subtitles now and had none, or the other way round, is asked otherwise:
    that is a change also where no file is behind it.
    """
    now, before = question.subtitles_path, item.subtitles_sha256
    if now is None:
        was = item.question.subtitles_path or "(path unknown)"
        return [] if before is None else [("removed subtitles", was, before, None)]
    what = "added subtitles" if before is None else "subtitles"
    return [(what, now, before, hashes[now])]


def paths_of(planned: Iterable[PlannedQuestion]) -> dict[str, list[str | None]]:
    """Return the paths of video and subtitles by question id, as JSON values."""
    return {
        item.question.question_id: [item.question.video_path, item.question.subtitles_path]
        for item in planned
    }


def with_paths(
    planned: Iterable[PlannedQuestion], paths: Mapping[str, Sequence[str | None]]
) -> tuple[PlannedQuestion, ...]:
    """Return the questions with the paths that `paths_of` gave."""
    located: list[PlannedQuestion] = []
    for item in planned:
        video, subtitles = paths[item.question.question_id]
        question = replace(
            item.question, video_path=video or item.question.video_path, subtitles_path=subtitles
        )
        located.append(replace(item, question=question))
    return tuple(located)


def _planned(
    question: Question, state: MediaState, subtitles: Mapping[str, str | None]
) -> PlannedQuestion:
    if question.video_duration_s is None and state.video_duration_s is not None:
        question = replace(question, video_duration_s=state.video_duration_s)
    return PlannedQuestion(
        question=question,
        question_sha256=question.content_sha256,
        video_sha256=state.video_sha256,
        subtitles_sha256=(
            None if question.subtitles_path is None else subtitles[question.subtitles_path]
        ),
        availability=state.state,
        reason=state.reason,
    )


def _hashes(paths: Iterable[str | None]) -> dict[str, str | None]:
    """Return the hash of every file by path, None for one that is not there; each is read once."""
    found: dict[str, str | None] = {}
    for path in paths:
        if path is not None and path not in found:
            found[path] = file_sha256(Path(path)) if file_is_there(Path(path)) else None
    return found
