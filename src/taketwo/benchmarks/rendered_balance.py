"""From drafts to questions: how many options, in which order, and where the true one stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Milestone, Question
from taketwo.benchmarks.rendered_change_questions import CHANGE
from taketwo.benchmarks.rendered_cross_questions import MULTI_HOP, SPOKEN_CUE
from taketwo.benchmarks.rendered_drafts import KINDS, Draft, Kind, Stage
from taketwo.benchmarks.rendered_program import Value, run_program
from taketwo.benchmarks.rendered_questions import (
    COUNTING,
    ORDER,
    TEXT_READING,
    Writer,
    flash_order_of_all,
)
from taketwo.benchmarks.scene import VideoScript
from taketwo.errors import HarnessError

__all__ = ["PosedQuestion", "pose_questions"]

_OPTION_COUNTS = (4, 3, 5, 4, 6, 2, 4, 8, 5, 3, 7, 4)
_WRITERS: Mapping[Kind, tuple[Writer, ...]] = {
    "counting": COUNTING,
    "order": ORDER,
    "text_reading": TEXT_READING,
    "spoken_cue": SPOKEN_CUE,
    "change": CHANGE,
    "multi_hop": MULTI_HOP,
}


@dataclass(frozen=True, kw_only=True)
class PosedQuestion:
    """A question, its program, and the program's values that stand for its options."""

    question: Question
    program: Mapping[str, JsonValue]
    values: tuple[Value, ...]


def pose_questions(
    scripts: Sequence[VideoScript],
    paths: Mapping[str, str],
    rng: np.random.Generator,
    *,
    questions: int,
    open_questions: int,
    many_options: int,
) -> tuple[PosedQuestion, ...]:
    """Return questions on the videos, spread evenly over videos and kinds.

    Parameters
    ----------
    scripts
        The videos.
    paths
        Where each video lies, by its id.
    rng
        Source of every choice.
    questions
        How many questions.
    open_questions
        How many of them have no options, as far as drafts allow.
    many_options
        How many questions of the kind `order` have 28 options.

    Notes
    -----
    Question j is on video ``j mod V``, of kind ``(j div V + j mod V) mod 6``: every video has
    different kinds, and kinds do not go with difficulties. Numbers of options follow a fixed
    pattern of 2 to 8, cut where a video offers fewer wrong answers; the true option goes to the
    place that held it least often among questions with as many options.
    """
    poser = _Poser(rng, open_questions=open_questions, many_options=many_options)
    stages = [Stage(script, rng) for script in scripts]
    posed: list[PosedQuestion] = []
    for index in range(questions):
        round_, video = divmod(index, len(scripts))
        kind = KINDS[(round_ + video) % len(KINDS)]
        name = f"{scripts[video].video_id}-q{round_ + 1}"
        posed.append(poser.pose(stages[video], kind, name, paths[scripts[video].video_id]))
    return tuple(posed)


class _Poser:
    """Poses one question after the other and keeps the balance between them."""

    def __init__(self, rng: np.random.Generator, *, open_questions: int, many_options: int) -> None:
        self._rng = rng
        self._open_left = open_questions
        self._many_left = many_options
        self._open_kinds: Counter[Kind] = Counter()
        self._turn: Counter[Kind] = Counter()
        self._places: Counter[tuple[int, int]] = Counter()
        self._texts: set[tuple[str, str]] = set()
        self._posed = 0

    def pose(self, stage: Stage, kind: Kind, question_id: str, path: str) -> PosedQuestion:
        draft, truth = self._draft(stage, kind)
        self._posed += 1
        is_open = (
            draft.may_be_open
            and self._open_left > 0
            and self._open_kinds[kind] <= min(self._open_kinds[k] for k in KINDS if k != "order")
        )
        values: tuple[Value, ...] = ()
        if is_open:
            self._open_left -= 1
            self._open_kinds[kind] += 1
        else:
            values = self._options(draft, truth)
        return _posed(stage, draft, truth, values, question_id, path)

    def _draft(self, stage: Stage, kind: Kind) -> tuple[Draft, Value]:
        writers = _WRITERS[kind]
        if kind == "order" and self._many_left > 0:
            self._many_left -= 1
            writers = (flash_order_of_all,)
        for _ in range(8 * len(writers)):
            writer = writers[self._turn[kind] % len(writers)]
            self._turn[kind] += 1
            draft = writer(stage)
            if draft is None or (stage.script.video_id, draft.text) in self._texts:
                continue
            truth = run_program(draft.program, stage.evidence)
            if truth is not None and set(draft.distractors) - {truth}:
                self._texts.add((stage.script.video_id, draft.text))
                return draft, truth
        raise HarnessError(
            f"no new question of kind {kind!r} on video {stage.script.video_id!r} after "
            f"{8 * len(writers)} drafts; ask for fewer questions or more videos"
        )

    def _options(self, draft: Draft, truth: Value) -> tuple[Value, ...]:
        wrong = [value for value in dict.fromkeys(draft.distractors) if value != truth]
        wanted = max(_OPTION_COUNTS[self._posed % len(_OPTION_COUNTS)], draft.least_options)
        chosen = wrong[: wanted - 1]
        size = 1 + len(chosen)
        held = [self._places[size, place] for place in range(size)]
        free = [place for place in range(size) if held[place] == min(held)]
        place = free[int(self._rng.integers(len(free)))]
        self._places[size, place] += 1
        order = [chosen[int(i)] for i in self._rng.permutation(len(chosen))]
        return (*order[:place], truth, *order[place:])


def _posed(
    stage: Stage,
    draft: Draft,
    truth: Value,
    values: tuple[Value, ...],
    question_id: str,
    path: str,
) -> PosedQuestion:
    script = stage.script
    shown = [draft.shown_as.get(value, str(value)) for value in values]
    question = Question(
        question_id=question_id,
        text=draft.text,
        video_id=script.video_id,
        video_path=path,
        options=tuple(shown),
        answer_index=values.index(truth) if values else None,
        answer_text=None if values else draft.shown_as.get(truth, str(truth)),
        # the truth is one number, word or code: no other form is right, so no judge is needed
        accepted_answers=() if values else (draft.shown_as.get(truth, str(truth)),),
        video_duration_s=script.duration_s,
        attributes={
            "kind": draft.kind,
            "variant": draft.variant,
            "modality": draft.modality,
            "difficulty": script.difficulty,
            "format": "mcq" if values else "open",
        },
        skills=draft.skills,
        milestones=tuple(
            Milestone(
                milestone_id=f"m{number}", text=step.text, start_s=step.start_s, end_s=step.end_s
            )
            for number, step in enumerate(draft.steps, start=1)
        ),
        licence="CC0-1.0 (made by taketwo)",
    )
    return PosedQuestion(question=question, program=draft.program, values=values)
