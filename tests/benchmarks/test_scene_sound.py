from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import numpy as np

from taketwo.benchmarks.scene_phrases import phrases
from taketwo.benchmarks.scene_sound import SpeechRecordings, sound_track
from taketwo.benchmarks.scene_writing import write_script


def test_every_phrase_of_the_vocabulary_is_recorded_with_its_text(
    speech: SpeechRecordings,
) -> None:
    assert dict(speech.texts) == phrases()
    for key, samples in speech.samples.items():
        assert 0.4 < len(samples) / 16_000 < 4.0, key
        assert np.abs(samples).max() > 0.1, key


def test_media_of_the_package_stay_small() -> None:
    sizes = [
        len(asset.read_bytes())
        for asset in (files("taketwo.benchmarks") / "assets").iterdir()
        if asset.is_file()
    ]
    assert max(sizes) < 1_500_000
    assert sum(sizes) < 2 * 1024 * 1024


def test_every_asset_has_its_licence_stated() -> None:
    folder = files("taketwo.benchmarks") / "assets"
    notes = (folder / "LICENCES.md").read_text(encoding="utf-8")
    media = [a.name for a in folder.iterdir() if a.name.rpartition(".")[2] in ("ogg", "jpg", "mp4")]
    assert len(media) == 7
    assert all(f"`{name}`" in notes for name in media)


def test_speech_is_loud_in_its_seconds_and_nothing_is_heard_elsewhere(
    speech: SpeechRecordings,
) -> None:
    script = write_script("v", "easy", np.random.default_rng(0), speech)
    track = sound_track(script, speech)
    assert len(track) == round(script.duration_s * 16_000)
    silent = np.ones(len(track), bool)
    for utterance in script.utterances:
        part = slice(round(utterance.start_s * 16_000), round(utterance.end_s * 16_000))
        assert np.abs(track[part]).max() > 0.1
        silent[part.start - 2 : part.stop + 2] = False
    assert silent.mean() > 0.2
    assert np.abs(track[silent]).max() == 0.0


def test_noise_has_the_level_that_the_script_asks_for(speech: SpeechRecordings) -> None:
    clean = write_script("v", "easy", np.random.default_rng(0), speech)
    noisy = sound_track(replace(clean, noise_db=20.0), speech)
    noise = noisy - sound_track(clean, speech)
    said = [speech.say(u.keys) for u in clean.utterances]
    power = np.mean([np.mean(part**2) for part in said])
    ratio = 10 * np.log10(power / np.mean(noise**2))
    assert abs(ratio - 20.0) < 0.3
