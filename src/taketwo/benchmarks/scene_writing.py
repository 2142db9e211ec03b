"""Scene scripts drawn from a generator: what happens in a video of a given difficulty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from taketwo.benchmarks.scene import (
    Difficulty,
    Section,
    Shape,
    Sign,
    Utterance,
    UtteranceRole,
    VideoScript,
)
from taketwo.benchmarks.scene_painter import panel_size
from taketwo.benchmarks.scene_phrases import (
    CLAIMED_COUNTS,
    COLOURS,
    COUNT_CUE,
    SIGN_WORDS,
    SPOKEN_SIGN_WORDS,
    TOPICS,
    claim_key,
    noun_key,
    plural_noun,
    sign_cue_key,
)
from taketwo.benchmarks.scene_sound import SpeechRecordings

__all__ = ["LEVELS", "Level", "write_script"]

_T = TypeVar("_T")
_FPS = 12
_CODE_LETTERS, _CODE_DIGITS = "ACDEFHJKLMNPRTVWXY", "34679"
_GROUP_SHAPES = ("circle", "square", "triangle")


@dataclass(frozen=True, kw_only=True)
class Level:
    """The knobs of a difficulty.

    `word_px` and `code_px` are text sizes, `code_s` and `flash_s` how long codes and single shapes
    are shown (None: the whole section), `groups` how many kinds of shapes are on screen at once,
    `counts` the smallest and largest number of one kind. With `is_hidden_between_samples` a code
    is shown strictly between two whole seconds, and `overlaps` puts one shape of a group partly
    over its neighbour.
    """

    sections: int
    word_px: int
    code_px: int
    code_s: float | None
    flash_s: float
    groups: int
    counts: tuple[int, int]
    radius_px: int
    swing_px: int
    overlaps: bool
    is_hidden_between_samples: bool
    texture: int
    noise_db: float | None


LEVELS: dict[Difficulty, Level] = {
    "easy": Level(
        sections=4, word_px=42, code_px=34, code_s=None, flash_s=1.5, groups=2, counts=(1, 5),
        radius_px=22, swing_px=2, overlaps=False, is_hidden_between_samples=False, texture=4,
        noise_db=None,
    ),
    "medium": Level(
        sections=5, word_px=32, code_px=24, code_s=2.5, flash_s=1.0, groups=3, counts=(1, 6),
        radius_px=20, swing_px=3, overlaps=False, is_hidden_between_samples=False, texture=8,
        noise_db=30.0,
    ),
    "hard": Level(
        sections=5, word_px=24, code_px=15, code_s=0.8, flash_s=0.75, groups=3, counts=(2, 7),
        radius_px=17, swing_px=4, overlaps=True, is_hidden_between_samples=True, texture=12,
        noise_db=18.0,
    ),
}  # fmt: skip


def _choose(rng: np.random.Generator, items: Sequence[_T], count: int) -> list[_T]:
    return [items[int(i)] for i in rng.permutation(len(items))[:count]]


def _on_grid(time_s: float) -> float:
    return round(time_s * _FPS) / _FPS


def write_script(
    video_id: str, difficulty: Difficulty, rng: np.random.Generator, speech: SpeechRecordings
) -> VideoScript:
    """Return a new script; equal generators in equal states give equal scripts."""
    level = LEVELS[difficulty]
    pairs = [(colour, shape) for colour in COLOURS for shape in _GROUP_SHAPES]
    pairs = _choose(rng, pairs, level.groups + 5)
    groups, flashing = pairs[: level.groups], pairs[level.groups :]
    counts = _counts(level, rng)
    sections, utterances = _sections(level, groups, counts, rng, speech)
    shapes = [
        *_group_shapes(level, sections, groups, counts, rng),
        *_marker(level, sections, rng),
        *_flashes(level, sections[-1].end_s, flashing, rng),
    ]
    return VideoScript(
        video_id=video_id,
        difficulty=difficulty,
        duration_s=sections[-1].end_s,
        sections=sections,
        signs=_signs(level, sections, rng),
        shapes=tuple(sorted(shapes, key=lambda shape: (shape.start_s, shape.x, shape.y))),
        utterances=utterances,
        texture_seed=int(rng.integers(2**31)),
        texture=level.texture,
        noise_db=level.noise_db,
        fps=_FPS,
    )


def _counts(level: Level, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return shapes by section and group: each group varies and differs at both ends."""
    low, high = level.counts
    while True:
        counts = rng.integers(low, high + 1, (level.sections, level.groups))
        varies = all(len(set(column)) >= 3 for column in counts.T.tolist())
        if varies and (counts[0] != counts[-1]).all() and counts.sum(axis=1).max() <= 18:
            return counts


def _sections(
    level: Level,
    groups: Sequence[tuple[str, str]],
    counts: NDArray[np.int64],
    rng: np.random.Generator,
    speech: SpeechRecordings,
) -> tuple[tuple[Section, ...], tuple[Utterance, ...]]:
    """Return the sections and what is said in them.

    Every section has a sentence about its topic. Three sections have a second utterance: a claim
    about a number that contradicts the picture, a call to count, and a word that no sign shows.
    """
    size = level.sections
    words, topics = _choose(rng, SIGN_WORDS, size), _choose(rng, TOPICS, size)
    unseen = _choose(rng, [word for word in SPOKEN_SIGN_WORDS if word not in words], 1)[0]
    claim_at, call_at, word_at = (int(i) for i in rng.permutation(size)[:3])
    claimed_group, called_group = (int(i) for i in rng.integers(len(groups), size=2))
    wrong = [n for n in CLAIMED_COUNTS if n != counts[claim_at, claimed_group]]
    claimed = _choose(rng, wrong, 1)[0]
    greys = rng.permutation(np.linspace(70, 150, size).astype(int))
    codes = _codes(size, rng)
    sections: list[Section] = []
    utterances: list[Utterance] = []
    start = 0.0
    for index in range(size):
        said: list[tuple[tuple[str, ...], UtteranceRole, str]] = [
            ((f"topic-{topics[index].key}",), "topic", topics[index].key)
        ]
        if index == claim_at:
            keys = (claim_key(claimed), noun_key(*groups[claimed_group]))
            said.append((keys, "claim", f"{claimed} {plural_noun(*groups[claimed_group])}"))
        if index == call_at:
            keys = (COUNT_CUE, noun_key(*groups[called_group]))
            said.append((keys, "count_cue", plural_noun(*groups[called_group])))
        if index == word_at:
            said.append(((sign_cue_key(unseen),), "sign_cue", unseen))
        at = start + 0.5
        for keys, role, about in said:
            end = round(at + speech.seconds(keys), 4)
            utterances.append(
                Utterance(
                    keys=keys, text=speech.text(keys), role=role, about=about,
                    start_s=round(at, 4), end_s=end,
                )
            )  # fmt: skip
            at = end + 0.6
        end = start + max(6.0, ceil(2 * (at - 0.1 - start)) / 2)
        sections.append(
            Section(
                word=words[index], code=codes[index], topic=topics[index].key,
                start_s=start, end_s=end, grey=int(greys[index]),
            )
        )  # fmt: skip
        start = end
    return tuple(sections), tuple(utterances)


def _codes(size: int, rng: np.random.Generator) -> list[str]:
    codes: list[str] = []
    while len(codes) < size:
        letters = _choose(rng, _CODE_LETTERS, 2)
        code = "".join([*letters, *_choose(rng, _CODE_DIGITS, 2)])
        if code not in codes:
            codes.append(code)
    return codes


def _signs(level: Level, sections: Sequence[Section], rng: np.random.Generator) -> tuple[Sign, ...]:
    signs: list[Sign] = []
    for section in sections:
        width, _ = panel_size(section.word, level.word_px)
        signs.append(
            Sign(
                text=section.word, role="word", start_s=section.start_s, end_s=section.end_s,
                x=int(rng.integers(10, 540 - width)), y=10, size_px=level.word_px,
            )
        )  # fmt: skip
        start, end = section.start_s, section.end_s
        if level.is_hidden_between_samples:
            start = float(rng.integers(int(start) + 1, int(end) - 1)) + 1 / _FPS
            end = start + _on_grid(level.code_s or 0.8)
        elif level.code_s is not None:
            start = _on_grid(rng.uniform(start + 0.5, end - level.code_s - 0.5))
            end = start + _on_grid(level.code_s)
        width, height = panel_size(section.code, level.code_px)
        signs.append(
            Sign(
                text=section.code, role="code", start_s=start, end_s=end,
                x=int(rng.integers(430, 630 - width)), y=int(rng.integers(298, 352 - height)),
                size_px=level.code_px,
            )
        )  # fmt: skip
    return tuple(signs)


def _group_shapes(
    level: Level,
    sections: Sequence[Section],
    groups: Sequence[tuple[str, str]],
    counts: NDArray[np.int64],
    rng: np.random.Generator,
) -> Iterator[Shape]:
    """Yield the shapes of every section on jittered cells of a 10 x 3 grid in the middle."""
    for section, row in zip(sections, counts.tolist(), strict=True):
        cells = iter(rng.permutation(30).tolist())
        overlapping = int(rng.integers(len(groups))) if level.overlaps else -1
        for number, ((colour, shape), count) in enumerate(zip(groups, row, strict=True)):
            last: tuple[int, int] | None = None
            for position in range(count):
                cell = next(cells)
                x = 50 + 60 * (cell % 10) + int(rng.integers(-4, 5))
                y = 112 + 68 * (cell // 10) + int(rng.integers(-6, 7))
                phase = float(np.round(rng.random(), 3))
                if number == overlapping and position == 1 and last is not None:
                    side = 1 if last[0] < 320 else -1
                    x, y = last[0] + side * round(1.5 * level.radius_px), last[1] + 5
                last = (x, y)
                yield Shape(
                    colour=colour, shape=shape, role="group", start_s=section.start_s,
                    end_s=section.end_s, x=x, y=y, radius_px=level.radius_px,
                    swing_px=level.swing_px, phase=phase,
                )  # fmt: skip


def _marker(level: Level, sections: Sequence[Section], rng: np.random.Generator) -> Iterator[Shape]:
    """Yield the star in the upper right corner, which changes its colour inside sections."""
    colours = _choose(rng, COLOURS, 4)
    inner = sorted(_choose(rng, sections, 3), key=lambda section: section.start_s)
    changes = [_on_grid(rng.uniform(s.start_s + 2.0, s.end_s - 2.0)) for s in inner]
    times = [0.0, *changes, sections[-1].end_s]
    for colour, start, end in zip(colours, times[:-1], times[1:], strict=True):
        yield Shape(
            colour=colour, shape="star", role="marker", start_s=start, end_s=end,
            x=600, y=36, radius_px=level.radius_px + 4,
        )  # fmt: skip


def _flashes(
    level: Level, duration_s: float, pairs: Sequence[tuple[str, str]], rng: np.random.Generator
) -> Iterator[Shape]:
    """Yield single shapes at the bottom: the first pair several times, the others once each."""
    repeats = int(rng.integers(2, 6))
    order = _choose(rng, [pairs[0]] * repeats + list(pairs[1:]), repeats + len(pairs) - 1)
    slot = (duration_s - 1.0) / len(order)
    for index, (colour, shape) in enumerate(order):
        slack = slot - level.flash_s - 0.75
        start = _on_grid(0.5 + index * slot + rng.uniform(0.0, max(slack, 0.0)))
        yield Shape(
            colour=colour, shape=shape, role="flash", start_s=start,
            end_s=start + _on_grid(level.flash_s), x=int(rng.integers(40, 390)), y=324,
            radius_px=level.radius_px,
        )  # fmt: skip
