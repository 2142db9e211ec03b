from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import ndimage

from taketwo.benchmarks.scene import VideoScript
from taketwo.benchmarks.scene_painter import PALETTE, ScenePainter
from taketwo.benchmarks.scene_sound import SpeechRecordings
from taketwo.benchmarks.scene_writing import write_script


@pytest.fixture(scope="module")
def easy(speech: SpeechRecordings) -> VideoScript:
    return write_script("v", "easy", np.random.default_rng(4), speech)


def blobs(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    """Count connected areas of exactly one colour."""
    mask = (picture == np.array(colour)).all(axis=2)
    return ndimage.label(mask, np.ones((3, 3)))[1]


def test_every_frame_shows_as_many_shapes_of_each_colour_as_the_script_says(
    easy: VideoScript,
) -> None:
    painter = ScenePainter(easy)
    for time_s in np.arange(0.0, easy.duration_s, 0.75):
        expected: Counter[str] = Counter()
        for (colour, _), count in easy.counts_at(time_s).items():
            expected[colour] += count
        picture = np.asarray(painter.image(float(time_s)))
        found = {name: blobs(picture, rgb) for name, rgb in PALETTE.items()}
        assert {k: v for k, v in found.items() if v} == dict(expected), time_s


def test_a_sign_is_painted_on_its_frames_only(easy: VideoScript) -> None:
    painter = ScenePainter(easy)
    sign = next(s for s in easy.signs if s.role == "word" and s.start_s > 0)
    inside = (slice(sign.y + 2, sign.y + 8), slice(sign.x + 2, sign.x + 6))
    shown = np.asarray(painter.image(sign.start_s))[inside]
    before = np.asarray(painter.image(sign.start_s - 1 / easy.fps))
    assert (shown == 15).all()
    earlier = next(s for s in easy.signs if s.role == "word" and s.end_s == sign.start_s)
    x = earlier.x + 3
    assert (before[earlier.y + 2, x] == 15).all()


def test_painting_is_a_function_of_script_and_time(easy: VideoScript) -> None:
    forward = [np.asarray(ScenePainter(easy).image(t)) for t in (0.5, 8.0)]
    painter = ScenePainter(easy)
    backward = [np.asarray(painter.image(t)) for t in (8.0, 0.5)]
    assert np.array_equal(forward[0], backward[1])
    assert np.array_equal(forward[1], backward[0])


def test_frames_are_as_many_as_the_script_says(easy: VideoScript) -> None:
    frames = list(ScenePainter(easy).frames())
    assert len(frames) == round(easy.duration_s * 12)
    assert frames[0].shape == (360, 640, 3)
