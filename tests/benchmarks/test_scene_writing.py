from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from taketwo.benchmarks.scene import Difficulty, VideoScript
from taketwo.benchmarks.scene_painter import panel_size
from taketwo.benchmarks.scene_sound import SpeechRecordings
from taketwo.benchmarks.scene_writing import write_script

LEVELS: tuple[Difficulty, ...] = ("easy", "medium", "hard")


@pytest.fixture(scope="module")
def scripts(speech: SpeechRecordings) -> list[VideoScript]:
    return [
        write_script(f"v{seed}", level, np.random.default_rng(seed), speech)
        for level in LEVELS
        for seed in range(8)
    ]


def test_equal_generators_give_equal_scripts_and_other_seeds_others(
    speech: SpeechRecordings,
) -> None:
    first, again, other = (
        write_script("v", "medium", np.random.default_rng(seed), speech) for seed in (5, 5, 6)
    )
    assert first == again
    assert first.sha256 == again.sha256
    assert first.sha256 != other.sha256


def test_a_script_survives_its_record(scripts: list[VideoScript]) -> None:
    for script in scripts:
        assert VideoScript.from_json(script.to_json()) == script


def test_videos_take_24_to_36_seconds(scripts: list[VideoScript]) -> None:
    assert all(24 <= script.duration_s <= 36 for script in scripts)


def test_speech_stays_inside_its_section_and_does_not_overlap(scripts: list[VideoScript]) -> None:
    for script in scripts:
        ends = 0.0
        for utterance in script.utterances:
            section = next(s for s in script.sections if s.start_s <= utterance.start_s < s.end_s)
            assert utterance.start_s > ends
            assert utterance.end_s < section.end_s
            ends = utterance.end_s


def test_the_narrator_claims_a_number_that_is_not_on_screen(scripts: list[VideoScript]) -> None:
    for script in scripts:
        claim = next(u for u in script.utterances if u.role == "claim")
        number, colour, shapes = claim.about.split()
        counts = script.counts_at((claim.start_s + claim.end_s) / 2)
        assert counts.get((colour, shapes.removesuffix("s"))) not in (None, int(number))


def test_the_spoken_word_is_on_no_sign(scripts: list[VideoScript]) -> None:
    for script in scripts:
        cue = next(u for u in script.utterances if u.role == "sign_cue")
        assert cue.about not in {sign.text for sign in script.signs}
        assert cue.about.lower() in cue.text


def test_harder_videos_have_smaller_and_shorter_texts(scripts: list[VideoScript]) -> None:
    sizes = {script.difficulty: min(sign.size_px for sign in script.signs) for script in scripts}
    seconds = {
        script.difficulty: max(s.end_s - s.start_s for s in script.signs if s.role == "code")
        for script in scripts
    }
    assert sizes == {"easy": 34, "medium": 24, "hard": 15}
    assert seconds["easy"] > 5.0
    assert seconds["medium"] == pytest.approx(2.5)
    assert seconds["hard"] < 0.9


def test_codes_of_hard_videos_are_missed_by_a_look_every_whole_second(
    scripts: list[VideoScript],
) -> None:
    for script in scripts:
        codes = [sign for sign in script.signs if sign.role == "code"]
        looks = {text for t in range(int(script.duration_s)) for text in script.texts_at(t)}
        seen = [sign.text in looks for sign in codes]
        assert not any(seen) if script.difficulty == "hard" else all(seen)


def test_shapes_overlap_in_hard_videos_only(scripts: list[VideoScript]) -> None:
    for script in scripts:
        groups = [s for s in script.shapes if s.role == "group"]
        nearest = min(
            np.hypot(a.x - b.x, a.y - b.y)
            for i, a in enumerate(groups)
            for b in groups[:i]
            if a.start_s == b.start_s
        )
        touching = nearest < 2 * 0.9 * groups[0].radius_px
        assert touching == (script.difficulty == "hard"), script.video_id


def test_signs_stay_in_the_picture_and_clear_of_star_and_flashes(
    scripts: list[VideoScript],
) -> None:
    for script in scripts:
        for sign in script.signs:
            width, height = panel_size(sign.text, sign.size_px)
            assert 0 <= sign.x < sign.x + width < script.width - (80 if sign.role == "word" else 0)
            assert 0 <= sign.y < sign.y + height < script.height
        flashes = [s for s in script.shapes if s.role == "flash"]
        assert all(s.x + s.radius_px < 430 for s in flashes)


def test_appearances_of_a_shape_are_apart_by_more_than_half_a_second(
    scripts: list[VideoScript],
) -> None:
    for script in scripts:
        flashes = sorted(
            (s for s in script.shapes if s.role == "flash"), key=lambda shape: shape.start_s
        )
        gaps = [b.start_s - a.end_s for a, b in pairwise(flashes)]
        assert min(gaps) > 0.5
        assert flashes[-1].end_s <= script.duration_s
        grouped = {(s.colour, s.shape) for s in script.shapes if s.role == "group"}
        assert not grouped & {(s.colour, s.shape) for s in flashes}
