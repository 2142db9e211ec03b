"""Questions about what changes in a rendered video: numbers of shapes, and the colour of the star."""

from __future__ import annotations

from taketwo.benchmarks.rendered_drafts import Draft, Stage, Step
from taketwo.benchmarks.rendered_program import Value
from taketwo.benchmarks.rendered_questions import Writer, count_in, while_sign
from taketwo.benchmarks.scene import Shape
from taketwo.benchmarks.scene_phrases import plural_noun

__all__ = ["CHANGE"]


def _change_text(difference: int) -> str:
    if difference == 0:
        return "it stays the same"
    return f"it {'grows' if difference > 0 else 'falls'} by {abs(difference)}"


def _change_between(stage: Stage, first: int, last: int, text: str, variant: str) -> Draft:
    start, end, pair = stage.sections[first], stage.sections[last], stage.pick_group()
    change = stage.count(end, pair) - stage.count(start, pair)
    others: list[int] = [
        stage.count(b, other) - stage.count(a, other)
        for other in stage.groups
        for a in (start, *stage.sections)
        for b in (end, *stage.sections)
        if a.start_s < b.start_s
    ]
    distractors: list[Value] = [-change, *others, 0]
    return Draft(
        kind="change",
        variant=variant,
        text=text.format(shapes=plural_noun(*pair), start=start.word, end=end.word),
        program={
            "op": "minus",
            "left": count_in(while_sign(end), pair),
            "right": count_in(while_sign(start), pair),
        },
        distractors=distractors,
        shown_as={value: _change_text(value) for value in [change, -change, *others, 0]},
        steps=(stage.count_step(start, pair), stage.count_step(end, pair)),
        skills=("counting", "comparing"),
        modality="visual",
    )


def _change_first_last(stage: Stage) -> Draft:
    text = (
        "How does the number of {shapes} change between the first sign of the video ({start}) "
        "and the last one ({end})?"
    )
    return _change_between(stage, 0, len(stage.sections) - 1, text, "count_first_last")


def _change_next(stage: Stage) -> Draft:
    at = stage.pick(len(stage.sections) - 1)
    text = "How does the number of {shapes} change when the sign switches from {start} to {end}?"
    return _change_between(stage, at, at + 1, text, "count_next")


def _star(stage: Stage) -> list[Shape]:
    return sorted(
        (s for s in stage.script.shapes if s.role == "marker"), key=lambda shape: shape.start_s
    )


def _star_steps(stars: list[Shape]) -> tuple[Step, ...]:
    return tuple(Step(f"see the star in {s.colour}", s.start_s, s.end_s) for s in stars)


def _star_last(stage: Stage) -> Draft:
    stars = _star(stage)
    return Draft(
        kind="change",
        variant="star_last",
        text="The star in the upper right corner changes its colour. Which colour has it at the end?",
        program={"op": "star_colour", "n": -1},
        distractors=[star.colour for star in stars],
        steps=_star_steps(stars[-1:]),
        skills=("watching", "comparing"),
        modality="visual",
        may_be_open=True,
    )


def _star_after(stage: Stage) -> Draft:
    stars = _star(stage)
    at = stage.pick(len(stars) - 1)
    return Draft(
        kind="change",
        variant="star_after",
        text=(
            "The star in the upper right corner changes its colour. To which colour does it turn "
            f"right after it was {stars[at].colour}?"
        ),
        program={"op": "star_colour_after", "colour": stars[at].colour},
        distractors=[star.colour for star in stars if star is not stars[at]],
        steps=_star_steps(stars[at : at + 2]),
        skills=("watching", "ordering"),
        modality="visual",
    )


CHANGE: tuple[Writer, ...] = (_change_first_last, _star_after, _change_next, _star_last)
