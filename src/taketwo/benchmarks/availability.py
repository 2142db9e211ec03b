"""Which questions can be asked: the state of every question's media."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.errors import UnreadableVideo
from taketwo.media.video import VideoInfo

__all__ = ["MediaState", "media_states"]


@dataclass(frozen=True, kw_only=True)
class MediaState:
    """The media of a question: there, missing, or there but not readable, and why not.

    `video_sha256` is the hash of the bytes and `video_duration_s` the length in seconds, both
    None where the video cannot be read.
    """

    question_id: str
    state: Literal["available", "missing", "unreadable"]
    reason: str | None
    video_sha256: str | None
    video_duration_s: float | None


def media_states(
    benchmark: Benchmark, probe: Callable[[Path], VideoInfo]
) -> tuple[MediaState, ...]:
    """Return the state of every question's media, in the order of the questions.

    Parameters
    ----------
    benchmark
        The questions.
    probe
        Looks at a file (`media.video.probe`, or that of a `MediaWorkers`); called once a video.

    Notes
    -----
    A question whose subtitles are named but do not exist is `missing` as well.
    """
    paths = dict.fromkeys(question.video_path for question in benchmark.questions)
    found = {path: _looked_at(Path(path), probe) for path in paths}
    states: list[MediaState] = []
    for question in benchmark.questions:
        looked = found[question.video_path]
        info = looked if isinstance(looked, VideoInfo) else None
        state: Literal["available", "missing", "unreadable"] = "available"
        reason = None if isinstance(looked, VideoInfo) else looked
        if reason is not None:
            state = "unreadable" if Path(question.video_path).exists() else "missing"
        elif question.subtitles_path and not Path(question.subtitles_path).is_file():
            state, reason = "missing", f"subtitles {question.subtitles_path!r} do not exist"
        states.append(
            MediaState(
                question_id=question.question_id,
                state=state,
                reason=reason,
                video_sha256=info.sha256 if info else None,
                video_duration_s=info.duration_s if info else None,
            )
        )
    return tuple(states)


def _looked_at(path: Path, probe: Callable[[Path], VideoInfo]) -> VideoInfo | str:
    if not path.exists():
        return f"video {str(path)!r} does not exist"
    try:
        return probe(path)
    except UnreadableVideo as error:
        return str(error)
