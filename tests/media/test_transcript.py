from __future__ import annotations

import hashlib
import json
import re
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from taketwo.errors import HarnessError, UnknownName, UnreadableVideo
from taketwo.media import speech
from taketwo.media.audio import load_audio
from taketwo.media.transcript import (
    Segment,
    Transcript,
    read_subtitles,
    transcribe,
    transcriber_identity,
)

ASSETS = Path(str(files("taketwo.benchmarks") / "assets"))


def segment(start_s: float, end_s: float, text: str = "words") -> Segment:
    return Segment(start_s=start_s, end_s=end_s, text=text)


TRANSCRIPT = Transcript(
    segments=(segment(0, 2, "a"), segment(2, 4, "b"), segment(4, 6, "ünd")),
    source="subtitles:0123",
    language="de",
)


@pytest.fixture(scope="module")
def spoken() -> tuple[str, NDArray[np.float32]]:
    """Two phrases of a recorded voice, a second of silence before each, and what they say."""
    phrases = json.loads((ASSETS / "speech.json").read_text())["phrases"]
    pieces: list[NDArray[np.float32]] = []
    for name in ("count-cue", "noun-blue-circle"):
        phrase = phrases[name]
        pieces.append(load_audio(ASSETS / "speech.ogg", phrase["start_s"], phrase["end_s"]))
    silence = np.zeros(16_000, np.float32)
    sentence = np.concatenate(pieces)
    return "please count all the blue circles", np.concatenate([silence, sentence] * 2)


def test_a_window_keeps_every_segment_that_overlaps_it() -> None:
    def texts(start_s: float, end_s: float) -> list[str]:
        return [s.text for s in TRANSCRIPT.between(start_s, end_s).segments]

    assert texts(0, 6) == ["a", "b", "ünd"]
    assert texts(1.9, 2.1) == ["a", "b"]
    assert texts(2, 4) == ["b"]
    assert texts(6, 9) == []
    assert TRANSCRIPT.between(0, 1).source == TRANSCRIPT.source


def test_json_comes_back_equal() -> None:
    assert Transcript.from_json(TRANSCRIPT.to_json()) == TRANSCRIPT
    nothing = Transcript(segments=(), source="x", language=None)
    assert Transcript.from_json(nothing.to_json()) == nothing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "7",
        '{"format": "taketwo.transcript/2"}',
        '{"format": "taketwo.transcript/1", "segments": [[1]], "source": "", "language": null}',
    ],
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no transcript of ours|expected format|Expecting|unpack"):
        Transcript.from_json(text)


def test_subtitles_are_named_by_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    data = b"1\n00:00:01,000 --> 00:00:02,000\nhello\n"
    path.write_bytes(data)

    found = read_subtitles(path)

    assert found.segments == (segment(1.0, 2.0, "hello"),)
    assert found.source == f"subtitles:{hashlib.sha256(data).hexdigest()[:12]}"


def test_no_bytes_mean_no_speech_and_no_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "silent.srt").touch()

    assert read_subtitles(tmp_path / "silent.srt").segments == ()
    with pytest.raises(UnreadableVideo, match=r"missing\.srt cannot be read: there is no such"):
        read_subtitles(tmp_path / "missing.srt")
    with pytest.raises(UnreadableVideo, match="cannot be read"):
        read_subtitles(tmp_path)
    (tmp_path / "text.srt").write_text("no timing")
    with pytest.raises(UnreadableVideo, match=r"text\.srt cannot be read: it has text but"):
        read_subtitles(tmp_path / "text.srt")


def test_subtitles_of_impossible_size_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.srt"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(UnreadableVideo, match="have 1099511627776 bytes, more than 16777216"):
        read_subtitles(path)


def test_speech_becomes_timed_segments_split_at_pauses(
    spoken: tuple[str, NDArray[np.float32]],
) -> None:
    sentence, sound = spoken

    found = transcribe(sound)

    said = [re.sub(r"[^a-z ]", "", s.text.lower()) for s in found.segments]
    assert said == [sentence, sentence]
    first, second = found.segments
    half = len(sound) / 2 / 16_000
    assert first.start_s == pytest.approx(1.0, abs=0.5)
    assert second.start_s == pytest.approx(1.0 + half, abs=0.5)
    assert found.language == "en"
    assert transcribe(sound) == found


def test_silence_and_noise_are_not_heard_as_words() -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 80_000).astype(np.float32)

    assert transcribe(np.zeros(80_000, np.float32)).segments == ()
    assert transcribe(noise).segments == ()
    assert transcribe(np.zeros(0, np.float32)).segments == ()


def test_the_identity_names_engine_version_weights_and_settings() -> None:
    assert transcriber_identity() == (
        f"taketwo/offline-transcriber (faster-whisper {version('faster-whisper')}, "
        "tiny.en 1a5afae06a4d, int8, greedy)"
    )
    assert transcribe(np.zeros(0, np.float32)).source == transcriber_identity()


def test_unknown_weights_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"unknown transcriber model 'tiny'.*'tiny\.en'"):
        transcribe(np.zeros(0, np.float32), model="tiny")


def test_weights_with_other_bytes_are_never_loaded() -> None:
    model = speech.transcriber_model("tiny.en")
    changed = speech.TranscriberModel(**{
        **vars(model),
        "files": {**model.files, "config.json": "0" * 64},
    })
    absent = speech.TranscriberModel(**{**vars(model), "folder": "no/such/folder"})
    foreign = speech.TranscriberModel(**{**vars(model), "distribution": "no-such-weights"})

    with pytest.raises(HarnessError, match=r"not the pinned ones: .*config\.json has SHA-256 14b1"):
        speech._checked_folder(changed)
    with pytest.raises(HarnessError, match="no such file"):
        speech._checked_folder(absent)
    with pytest.raises(HarnessError, match=r"needs no-such-weights: pip install 'taketwo\[off"):
        speech._checked_folder(foreign)
