"""Two numbers to read an accuracy by: chance, and what offline perception alone allows.

The upper bound is the accuracy of an oracle that knows how each answer follows from what is seen
and heard (the question's program) but perceives only through the offline models: shapes and text
measured in densely sampled frames, and the offline transcript. An agent on these models loses
further by looking at too little and by reasoning. It exists for rendered videos only, whose
questions carry programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taketwo.benchmarks.question import Question
from taketwo.benchmarks.rendered import QuestionProgram, read_programs
from taketwo.benchmarks.rendered_evidence import Evidence, Heard, Look
from taketwo.benchmarks.rendered_program import Value, run_program
from taketwo.errors import DataError
from taketwo.media.audio import load_audio
from taketwo.media.frames import encode_jpeg, frames_at
from taketwo.media.store import MediaStore, derived_key
from taketwo.media.transcript import Transcript, transcribe, transcriber_identity
from taketwo.media.video import file_sha256, probe
from taketwo.models.perception import facts_of
from taketwo.models.shapes import count_shapes

__all__ = ["PerceptionBound", "chance", "perceive", "perception_bound"]

_BLOCK = 8
_COLOURED = 60
_UNCHANGED = 14


@dataclass(frozen=True, kw_only=True)
class PerceptionBound:
    """How often the oracle that perceives offline is right.

    `accuracy` is in 0 to 1 over the `questions` that have a program, None where none has one;
    `by_kind` is the same for each kind of question.
    """

    accuracy: float | None
    questions: int
    by_kind: dict[str, float]


def chance(questions: Sequence[Question]) -> float:
    """Return the expected accuracy of guessing: the mean of 1 / options, 0 for open questions.

    Raises
    ------
    DataError
        If there are no questions.
    """
    if not questions:
        raise DataError("chance is undefined for 0 questions; hand over at least 1")
    return sum(1 / len(q.options) if q.options else 0.0 for q in questions) / len(questions)


def perception_bound(
    questions: Sequence[Question],
    *,
    perceived: Callable[[Path], Evidence],
) -> PerceptionBound:
    """Return the accuracy of the oracle on the questions that have a program.

    Parameters
    ----------
    questions
        Questions of any benchmark; those without a program are left out of every number.
    perceived
        What is perceived of the video at a path; called once a video. Usually
        ``lambda path: perceive(path, store=store)``.

    Notes
    -----
    Where the oracle's value is no option it takes the nearest one (by difference of numbers, by
    likeness of texts); options equally near share the credit, and where it perceives nothing
    all options do, so the number is an expectation without draws.
    """
    evidence: dict[str, Evidence] = {}
    credits_: dict[str, list[float]] = {}
    for question in questions:
        program = read_programs(question)
        if program is None:
            continue
        if question.video_path not in evidence:
            evidence[question.video_path] = perceived(Path(question.video_path))
        value = run_program(program.program, evidence[question.video_path])
        kind = question.attributes.get("kind", "unknown")
        credits_.setdefault(kind, []).append(_credit(question, program, value))
    every = [credit for kind in credits_.values() for credit in kind]
    return PerceptionBound(
        accuracy=sum(every) / len(every) if every else None,
        questions=len(every),
        by_kind={kind: sum(found) / len(found) for kind, found in sorted(credits_.items())},
    )


def _credit(question: Question, program: QuestionProgram, value: Value) -> float:
    if not question.options:
        accepted = {question.answer_text or "", *question.accepted_answers}
        return float(str(value).casefold() in {answer.casefold() for answer in accepted})
    if value is None:
        return 1 / len(question.options)
    likeness = [_likeness(value, option) for option in program.values]
    nearest = [index for index, found in enumerate(likeness) if found == max(likeness)]
    return (question.answer_index in nearest) / len(nearest)


def _likeness(value: Value, option: Value) -> float:
    if isinstance(value, int) and isinstance(option, int):
        return -abs(value - option)
    return SequenceMatcher(None, str(value), str(option)).ratio()


def perceive(path: Path, *, store: MediaStore | None, fps: float = 2.0) -> Evidence:
    """Return what the offline models perceive of a video.

    Parameters
    ----------
    path
        A video with a sound track.
    store
        Keeps what was measured in frames, and the transcript; None measures afresh.
    fps
        Looks per second.

    Notes
    -----
    Text is read again only when something without colour has changed since the last reading
    (by more than 14 levels in a block of 8 x 8 pixels); shapes are counted in every look.

    Raises
    ------
    UnreadableVideo
        If frames or sound cannot be decoded.
    """
    info = probe(path)
    times = [index / fps for index in range(int(info.duration_s * fps))]
    looks: list[Look] = []
    last: NDArray[np.float32] | None = None
    texts: tuple[str, ...] = ()
    boxes: list[tuple[float, float, float, float]] = []
    for frame in frames_at(path, times):
        blocks = _blocks(frame.image)
        if last is None or _is_text_changed(last, blocks):
            facts, _ = facts_of(encode_jpeg(frame.image), frame.requested_s, store)
            texts = tuple(box.text for box in facts.texts)
            boxes = [box.box for box in facts.texts if len(box.text.strip()) > 1]
            last = blocks
        counts = {(s.colour, s.shape): s.count for s in count_shapes(frame.image, ignore=boxes)}
        looks.append(Look(frame.requested_s, texts, counts))
    transcript = _transcript(path, store)
    heard = (Heard(s.start_s, s.end_s, s.text) for s in transcript.segments)
    return Evidence(tuple(looks), tuple(heard))


def _blocks(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the mean colour of blocks of 8 x 8 pixels, rows x columns x 3."""
    height, width = image.shape[:2]
    small = Image.fromarray(image).reduce(_BLOCK, (0, 0, width, height))
    return np.asarray(small, np.float32)


def _is_text_changed(before: NDArray[np.float32], now: NDArray[np.float32]) -> bool:
    coloured = np.maximum(np.ptp(before, axis=2), np.ptp(now, axis=2)) > _COLOURED
    coloured[1:] |= coloured[:-1].copy()
    coloured[:-1] |= coloured[1:].copy()
    coloured[:, 1:] |= coloured[:, :-1].copy()
    coloured[:, :-1] |= coloured[:, 1:].copy()
    changes = np.abs(now.mean(axis=2) - before.mean(axis=2))
    return bool((changes[~coloured] > _UNCHANGED).any())


def _transcript(path: Path, store: MediaStore | None) -> Transcript:
    def make() -> bytes:
        return transcribe(load_audio(path)).to_json().encode()

    if store is None:
        return Transcript.from_json(make().decode())
    key = derived_key("bound-transcript/1", file_sha256(path), transcriber=transcriber_identity())
    return Transcript.from_json(store.get_or_make(key, make).data.decode())
