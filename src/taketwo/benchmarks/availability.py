"""Which questions can be asked: the state of every question's media."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.exclusion import AVAILABILITY_FORMAT
from taketwo.benchmarks.named_files import file_is_there, something_is_there
from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError, UnreadableVideo
from taketwo.media.video import VideoInfo

__all__ = [
    "TOLERANCE_S",
    "TOLERANCE_SHARE",
    "Availability",
    "MediaState",
    "QuestionState",
    "State",
    "availability_of",
    "media_states",
]

TOLERANCE_S = 2.0
TOLERANCE_SHARE = 0.02

State = Literal["available", "missing", "unreadable", "other duration"]
StateOfFile = Literal["available", "missing", "unreadable"]


@dataclass(frozen=True, kw_only=True)
class MediaState:
    """The media of a question: there, missing, or there but not readable, and why not.

    `video_sha256` is the hash of the bytes and `video_duration_s` the length in seconds, both
    None where the video cannot be read.
    """

    question_id: str
    state: StateOfFile
    reason: str | None
    video_sha256: str | None
    video_duration_s: float | None


@dataclass(frozen=True, kw_only=True)
class QuestionState:
    """What is known of the video of a question: its state, the reason, and the length expected.

    Durations are in seconds; `expected_s` is the data set's, None where it gives none.
    """

    question_id: str
    video_id: str
    state: State
    reason: str | None
    video_sha256: str | None
    expected_s: float | None
    found_s: float | None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "question_id": self.question_id,
            "video_id": self.video_id,
            "state": self.state,
            "reason": self.reason,
            "video_sha256": self.video_sha256,
            "expected_s": self.expected_s,
            "found_s": self.found_s,
        }


@dataclass(frozen=True, kw_only=True)
class Availability:
    """Which questions of a benchmark can be asked, and why the others cannot.

    A duration is as expected within the larger of `tolerance_s` seconds and `tolerance_share` of it.
    """

    benchmark: Benchmark
    states: tuple[QuestionState, ...]
    tolerance_s: float
    tolerance_share: float

    @property
    def available(self) -> tuple[Question, ...]:
        """Return the questions that can be asked, in the benchmark's order."""
        return self._those(lost=False)

    @property
    def lost(self) -> tuple[Question, ...]:
        """Return the questions that cannot, in the benchmark's order."""
        return self._those(lost=True)

    @property
    def counts(self) -> Mapping[State, int]:
        """Return how many questions are in each state."""
        return Counter(item.state for item in self.states)

    def _those(self, *, lost: bool) -> tuple[Question, ...]:
        pairs = zip(self.benchmark.questions, self.states, strict=True)
        return tuple(question for question, item in pairs if (item.state != "available") is lost)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the list of items: `exclude` takes it and leaves out the lost questions."""
        lost = [item for item in self.states if item.state != "available"]
        available = [item for item in self.states if item.state == "available"]
        return {
            "format": AVAILABILITY_FORMAT,
            "benchmark": self.benchmark.name,
            "benchmark_version": self.benchmark.version,
            "tolerance_s": self.tolerance_s,
            "tolerance_share": self.tolerance_share,
            "question_ids": [item.question_id for item in lost],
            "lost": [item.to_json() for item in lost],
            "available": [item.to_json() for item in available],
        }


def availability_of(
    benchmark: Benchmark,
    probe: Callable[[Path], VideoInfo],
    *,
    tolerance_s: float = TOLERANCE_S,
    tolerance_share: float = TOLERANCE_SHARE,
) -> Availability:
    """Return which questions can be asked: video there, decodable, as long as the data set says.

    Parameters
    ----------
    benchmark
        The questions.
    probe
        Looks at a file (`media.video.probe`); called once a file.
    tolerance_s, tolerance_share
        A video is of another duration, and so probably another video or a part of it, where it
        differs from what is expected by more than both. Published durations are rounded.

    Raises
    ------
    RequestError
        If a tolerance is negative or no finite number; the check would be none.
    """
    for name, number in (("tolerance_s", tolerance_s), ("tolerance_share", tolerance_share)):
        if not (math.isfinite(number) and number >= 0):
            raise RequestError(f"{name} is {number!r}, not a finite number from 0 on")
    states: list[QuestionState] = []
    for question, state in zip(benchmark.questions, media_states(benchmark, probe), strict=True):
        expected, found = question.video_duration_s, state.video_duration_s
        ended: State = state.state
        reason = state.reason
        if ended == "available" and expected is not None and found is not None:
            allowed = max(tolerance_s, tolerance_share * expected)
            if abs(found - expected) > allowed:
                ended = "other duration"
                reason = (
                    f"lasts {found:.1f} s, the data set says {expected:.1f} s (tolerance "
                    f"{allowed:.1f} s): another video, or a part of it"
                )
        states.append(
            QuestionState(
                question_id=question.question_id,
                video_id=question.video_id,
                state=ended,
                reason=reason,
                video_sha256=state.video_sha256,
                expected_s=expected,
                found_s=found,
            )
        )
    return Availability(
        benchmark=benchmark,
        states=tuple(states),
        tolerance_s=tolerance_s,
        tolerance_share=tolerance_share,
    )


def media_states(
    benchmark: Benchmark, probe: Callable[[Path], VideoInfo]
) -> tuple[MediaState, ...]:
    """Return the state of every question's media, in the order of the questions.

    Parameters
    ----------
    benchmark
        The questions.
    probe
        Looks at a file (`media.video.probe`, or that of a `MediaWorkers`); called once a file,
        also where the file has several names (links).

    Notes
    -----
    A question whose subtitles are named but do not exist is `missing` as well.
    """
    paths = dict.fromkeys(question.video_path for question in benchmark.questions)
    looked_at = _Looking(probe)
    found = {path: looked_at(Path(path)) for path in paths}
    states: list[MediaState] = []
    for question in benchmark.questions:
        looked = found[question.video_path]
        info = looked if isinstance(looked, VideoInfo) else None
        state: StateOfFile = "available"
        reason = None if isinstance(looked, VideoInfo) else looked
        if reason is not None:
            state = "unreadable" if something_is_there(Path(question.video_path)) else "missing"
        elif question.subtitles_path and not file_is_there(Path(question.subtitles_path)):
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


class _Looking:
    """Looks at files, once at each, whatever it is called."""

    def __init__(self, probe: Callable[[Path], VideoInfo]) -> None:
        self._probe = probe
        self._seen: dict[tuple[int, int], VideoInfo] = {}

    def __call__(self, path: Path) -> VideoInfo | str:
        try:
            status = path.stat()
        except (OSError, ValueError):
            return f"video {str(path)!r} does not exist"
        identity = (status.st_dev, status.st_ino)
        known = self._seen.get(identity) if status.st_ino else None
        if known is not None:
            return replace(known, path=path)
        try:
            info = self._probe(path)
        except UnreadableVideo as error:
            return str(error)
        self._seen[identity] = info
        return info
