"""Questions about what is seen in a rendered video: counting, order and text reading."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.rendered_drafts import Draft, Pair, Stage, Step
from taketwo.benchmarks.rendered_evidence import Program
from taketwo.benchmarks.rendered_program import Value
from taketwo.benchmarks.scene import Section, Shape
from taketwo.benchmarks.scene_phrases import plural_noun

__all__ = [
    "COUNTING",
    "ORDER",
    "TEXT_READING",
    "Writer",
    "count_in",
    "flash_order_of_all",
    "while_sign",
]

_MANY_OPTIONS = 28
Writer = Callable[[Stage], Draft | None]


def while_sign(section: Section) -> dict[str, JsonValue]:
    """Return the window in which a section's word is on screen."""
    return {"op": "while_sign", "text": section.word}


def count_in(window: Program, pair: Pair) -> dict[str, JsonValue]:
    """Return the program that counts a kind of shape in a window."""
    return {"op": "count", "colour": pair[0], "shape": pair[1], "window": window}


# Counting


def _count_in_section(stage: Stage) -> Draft:
    section, pair = stage.sections[stage.pick(len(stage.sections))], stage.pick_group()
    return Draft(
        kind="counting",
        variant="count_in_section",
        text=f"How many {plural_noun(*pair)} are visible while the sign shows the word {section.word}?",
        program=count_in(while_sign(section), pair),
        distractors=stage.all_counts(section),
        steps=(stage.sign_step(section), stage.count_step(section, pair)),
        skills=("counting", "localising"),
        modality="visual",
        may_be_open=True,
    )


def _count_difference(stage: Stage) -> Draft | None:
    pair = stage.pick_group()
    choices = [
        (a, b)
        for a in stage.sections
        for b in stage.sections
        if stage.count(a, pair) > stage.count(b, pair)
    ]
    if not choices:
        return None
    more, fewer = choices[stage.pick(len(choices))]
    differences: list[Value] = [
        stage.count(a, other) - stage.count(b, other)
        for other in stage.groups
        for a in stage.sections
        for b in stage.sections
        if stage.count(a, other) > stage.count(b, other)
    ]
    counts: list[Value] = [stage.count(more, pair), stage.count(fewer, pair)]
    return Draft(
        kind="counting",
        variant="count_difference",
        text=(
            f"How many more {plural_noun(*pair)} are there with the sign {more.word} "
            f"than with the sign {fewer.word}?"
        ),
        program={
            "op": "minus",
            "left": count_in(while_sign(more), pair),
            "right": count_in(while_sign(fewer), pair),
        },
        distractors=[*[count for count in counts if count], *differences],
        steps=(stage.count_step(more, pair), stage.count_step(fewer, pair)),
        skills=("counting", "comparing"),
        modality="visual",
        may_be_open=True,
    )


def _appearances(stage: Stage) -> Draft:
    pair = stage.repeated
    shown = [s for s in stage.flashes if (s.colour, s.shape) == pair]
    name = plural_noun(*pair, 1)
    return Draft(
        kind="counting",
        variant="appearances",
        text=f"How many separate times does {_a(name)} appear at the bottom of the picture?",
        program={"op": "appearances", "colour": pair[0], "shape": pair[1]},
        distractors=[*stage.all_counts(stage.sections[0]), len(shown) + 1],
        steps=tuple(
            Step(f"see {_a(name)} appear, time {n}", s.start_s, s.end_s)
            for n, s in enumerate(shown, start=1)
        ),
        skills=("counting", "watching"),
        modality="visual",
    )


def _sign_with_most(stage: Stage) -> Draft | None:
    pair = stage.pick_group()
    counts = [stage.count(section, pair) for section in stage.sections]
    if counts.count(max(counts)) > 1:
        return None
    ranked = sorted(stage.sections, key=lambda section: -stage.count(section, pair))
    return Draft(
        kind="counting",
        variant="sign_with_most",
        text=f"With which word on the sign are the most {plural_noun(*pair)} on screen?",
        program={"op": "word_with_most", "colour": pair[0], "shape": pair[1]},
        distractors=[section.word for section in ranked],
        steps=tuple(stage.count_step(section, pair) for section in stage.sections),
        skills=("counting", "comparing"),
        modality="visual",
    )


# Order


def _words(stage: Stage) -> list[Value]:
    order = stage.rng.permutation(len(stage.sections))
    return [stage.sections[int(i)].word for i in order]


def _word_after(stage: Stage) -> Draft:
    at = stage.pick(len(stage.sections) - 1)
    section, after = stage.sections[at], stage.sections[at + 1]
    return Draft(
        kind="order",
        variant="word_after",
        text=f"Which word does the sign show right after {section.word}?",
        program={
            "op": "word",
            "window": {"op": "next_section", "window": while_sign(section)},
        },
        distractors=[word for word in _words(stage) if word != section.word],
        steps=(stage.sign_step(section), stage.sign_step(after)),
        skills=("ordering", "reading"),
        modality="visual",
        may_be_open=True,
    )


def _word_before(stage: Stage) -> Draft:
    at = 1 + stage.pick(len(stage.sections) - 1)
    section, before = stage.sections[at], stage.sections[at - 1]
    return Draft(
        kind="order",
        variant="word_before",
        text=f"Which word does the sign show right before {section.word}?",
        program={"op": "word_before", "window": while_sign(section)},
        distractors=[word for word in _words(stage) if word != section.word],
        steps=(stage.sign_step(before), stage.sign_step(section)),
        skills=("ordering", "reading"),
        modality="visual",
    )


def _flash_steps(flashes: list[Shape]) -> tuple[Step, ...]:
    return tuple(
        Step(f"see the {plural_noun(s.colour, s.shape, 1)} at the bottom", s.start_s, s.end_s)
        for s in flashes
    )


def _flash_after(stage: Stage) -> Draft:
    names = [plural_noun(*pair, 1) for pair in stage.singles]
    at = stage.pick(len(names) - 1)
    shown = [s for s in stage.flashes if (s.colour, s.shape) in stage.singles[at : at + 2]]
    listed = ", ".join(f"the {name}" for name in sorted(names)[:-1])
    return Draft(
        kind="order",
        variant="flash_after",
        text=(
            f"Single shapes appear at the bottom of the picture. Of {listed} and the "
            f"{max(names)}, which one appears next after the {names[at]}?"
        ),
        program={
            "op": "pair_after",
            "pair": names[at],
            "among": [list(pair) for pair in stage.singles],
        },
        distractors=[name for name in names if name != names[at]],
        shown_as={name: f"the {name}" for name in names},
        steps=_flash_steps(shown),
        skills=("ordering", "watching"),
        modality="visual",
    )


def _flash_order(stage: Stage) -> Draft:
    return _order_of(stage, stage.singles, "flash_order", least_options=7)


def flash_order_of_all(stage: Stage) -> Draft:
    """Return the question after the order of all kinds at the bottom: 120 possible options."""
    pairs = [*stage.singles, stage.repeated]
    return _order_of(stage, pairs, "flash_order_of_all", least_options=_MANY_OPTIONS)


def _order_of(stage: Stage, pairs: list[Pair], variant: str, *, least_options: int) -> Draft:
    names = [plural_noun(*pair, 1) for pair in pairs]
    orders: list[Value] = [", ".join(order) for order in permutations(names)]
    shuffled = [orders[int(i)] for i in stage.rng.permutation(len(orders))]
    first = {pair: next(s for s in stage.flashes if (s.colour, s.shape) == pair) for pair in pairs}
    return Draft(
        kind="order",
        variant=variant,
        text=(
            "In which order do these shapes appear for the first time at the bottom of the "
            f"picture: {', '.join(sorted(names))}?"
        ),
        program={"op": "pair_order", "among": [list(pair) for pair in pairs]},
        distractors=shuffled,
        least_options=least_options,
        steps=_flash_steps(sorted(first.values(), key=lambda shape: shape.start_s)),
        skills=("ordering", "watching"),
        modality="visual",
    )


# Text reading


def _code_with_word(stage: Stage) -> Draft:
    section = stage.sections[stage.pick(len(stage.sections))]
    return Draft(
        kind="text_reading",
        variant="code_with_word",
        text=f"Which code is shown while the sign reads {section.word}?",
        program={"op": "code", "window": while_sign(section)},
        distractors=[other.code for other in stage.sections],
        steps=(stage.sign_step(section), stage.code_step(section)),
        skills=("reading", "localising"),
        modality="visual",
        may_be_open=True,
    )


def _word_with_code(stage: Stage) -> Draft:
    section = stage.sections[stage.pick(len(stage.sections))]
    return Draft(
        kind="text_reading",
        variant="word_with_code",
        text=f"Which word is on the sign when the code {section.code} is shown?",
        program={"op": "word", "window": while_sign_text(section.code)},
        distractors=_words(stage),
        steps=(stage.code_step(section), stage.sign_step(section)),
        skills=("reading", "localising"),
        modality="visual",
        may_be_open=True,
    )


def while_sign_text(text: str) -> dict[str, JsonValue]:
    """Return the window in which a text is on screen."""
    return {"op": "while_sign", "text": text}


def _never_shown(stage: Stage) -> Draft:
    spoken = stage.said("sign_cue")
    words = _words(stage)
    return Draft(
        kind="text_reading",
        variant="never_shown",
        text="Which of these words is never shown on the sign, even if it may be spoken?",
        program={"op": "never_shown", "among": sorted([*map(str, words), spoken.about])},
        distractors=words,
        steps=tuple(stage.sign_step(section) for section in stage.sections),
        skills=("reading", "excluding"),
        modality="audio_visual",
    )


def _a(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


COUNTING: tuple[Writer, ...] = (
    _count_in_section,
    _count_difference,
    _appearances,
    _sign_with_most,
)
ORDER: tuple[Writer, ...] = (_word_after, _flash_after, _word_before, _flash_order)
TEXT_READING: tuple[Writer, ...] = (_code_with_word, _never_shown, _word_with_code)
