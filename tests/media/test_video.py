from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.media.clips import CLIPS, write

from taketwo.errors import UnreadableVideo
from taketwo.media.audio import write_wav
from taketwo.media.video import file_sha256, probe

MOOV_FIRST = {"movflags": "faststart"}


def test_probe_measures_what_was_encoded(clips: Mapping[str, Path]) -> None:
    path = clips["b-frames.mp4"]

    info = probe(path)

    assert (info.width, info.height, info.rotation) == (320, 192, 0)
    assert (info.codec, info.has_audio, info.audio_codec) == ("h264", True, "aac")
    assert info.container.startswith("mov,mp4")
    assert info.fps == pytest.approx(30.0)
    assert info.frames == 96
    assert info.duration_s == pytest.approx(3.2, abs=0.1)
    assert info.size_bytes == path.stat().st_size
    assert info.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() == file_sha256(path)
    assert info.problems == ()


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("hevc.mp4", "hevc"),
        ("vp9.webm", "vp9"),
        ("vp8.webm", "vp8"),
        ("av1.mp4", "av1"),
        ("mpeg4.avi", "mpeg4"),
        ("mpeg2.ts", "mpeg2video"),
    ],
)
def test_codecs_have_their_common_names(clips: Mapping[str, Path], name: str, codec: str) -> None:
    info = probe(clips[name])

    assert info.codec == codec
    assert info.problems == ("no audio",)


def test_every_clip_lasts_from_its_first_to_the_end_of_its_last_frame(
    clips: Mapping[str, Path],
) -> None:
    for clip in CLIPS:
        last_s = (clip.ticks(clip.frames - 1) - clip.ticks(clip.first)) / 30_000
        info = probe(clips[clip.name])
        assert last_s < info.duration_s < last_s + 0.2, clip.name
        assert not any("truncated" in problem for problem in info.problems), clip.name


def test_a_turned_video_has_the_size_as_shown(clips: Mapping[str, Path]) -> None:
    infos = [probe(clips["turned.mp4"]), probe(clips["turned-back.mp4"])]

    assert [(i.width, i.height, i.rotation) for i in infos] == [(320, 192, 90), (320, 192, 270)]


def test_counting_frames_is_said_where_the_container_has_no_times(
    clips: Mapping[str, Path],
) -> None:
    info = probe(clips["h264.avi"])

    assert info.frames is None
    assert any(problem.startswith("timestamps: no usable ones") for problem in info.problems)


def test_one_byte_changes_the_identity(clips: Mapping[str, Path], tmp_path: Path) -> None:
    data = bytearray(clips["b-frames.mp4"].read_bytes())
    data[-1] ^= 1
    other = tmp_path / "other.mp4"
    other.write_bytes(data)

    assert file_sha256(other) != file_sha256(clips["b-frames.mp4"])


def test_a_cut_file_gives_what_is_there_and_says_so(tmp_path: Path) -> None:
    clip = next(clip for clip in CLIPS if clip.name == "fragmented.mp4")
    whole = write(type(clip)(**{**vars(clip), "name": "whole.mp4", "muxer": MOOV_FIRST}), tmp_path)
    data = whole.read_bytes()
    whole.write_bytes(data[: len(data) * 6 // 10])

    info = probe(whole)

    assert 1.0 < info.duration_s < 2.5
    assert info.problems[0].startswith("truncated: frames are complete up to ")
    assert info.problems[0].endswith("of 3.200 s only")


def test_lying_durations_in_an_mp4_are_not_believed(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    data = bytearray(clips["no-b-frames.mp4"].read_bytes())
    for box in (b"mvhd", b"mdhd", b"tkhd"):
        at = data.index(box) + (24 if box == b"tkhd" else 20)
        (length,) = struct.unpack(">I", data[at : at + 4])
        data[at : at + 4] = struct.pack(">I", length * 50)
    liar = tmp_path / "liar.mp4"
    liar.write_bytes(data)

    assert probe(liar).duration_s == pytest.approx(3.2)


@pytest.mark.parametrize(
    ("said_ms", "problem"),
    [
        (500, "header: it says 0.500 s, the frames last 3.2"),
        (90_000, "truncated: frames are complete up to 3.1"),
    ],
)
def test_a_lying_duration_in_matroska_is_reported_and_not_believed(
    tmp_path: Path, said_ms: int, problem: str
) -> None:
    clip = next(clip for clip in CLIPS if clip.name == "matroska.mkv")
    silent = write(type(clip)(**{**vars(clip), "name": "silent.mkv", "sound": False}), tmp_path)
    data = bytearray(silent.read_bytes())
    at = data.index(b"\x44\x89\x88") + 3  # The element Duration, a float64 in milliseconds.
    data[at : at + 8] = struct.pack(">d", said_ms)
    silent.write_bytes(data)

    info = probe(silent)

    assert info.duration_s == pytest.approx(3.2, abs=0.1)
    assert info.problems[0].startswith(problem)


def test_a_single_frame_has_a_duration_and_no_rate(tmp_path: Path) -> None:
    clip = next(clip for clip in CLIPS if clip.name == "no-b-frames.mp4")
    path = write(type(clip)(**{**vars(clip), "name": "one.mp4", "frames": 1}), tmp_path)

    info = probe(path)

    assert (info.frames, info.fps) == (1, None)
    assert info.duration_s > 0


def test_files_that_are_no_video_say_what_they_are(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    whole = clips["no-b-frames.mp4"].read_bytes()
    contents = {
        "empty.mp4": (b"", r"it is empty \(0 bytes\)"),
        "text.mp4": (b"this is no video\n" * 100, "in no video or audio format that is read here"),
        "text.txt": (b"this is no video\n" * 100, "in no video or audio format that is read here"),
        "no-moov.mp4": (whole[: len(whole) // 2], r"its table of frames \(moov\) is missing"),
        "sound.wav": (write_wav(np.zeros(16_000, np.float32)), "no video track: it holds audio"),
    }
    for name, (content, message) in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableVideo, match=message) as caught:
            probe(tmp_path / name)
        assert name in str(caught.value)
    with pytest.raises(UnreadableVideo, match="there is no such file"):
        probe(tmp_path / "missing.mp4")
    with pytest.raises(UnreadableVideo, match="it is a folder, not a file"):
        probe(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableVideo, match="it is not a regular file"):
        probe(tmp_path / "pipe")
    with pytest.raises(UnreadableVideo, match="embedded null"):
        probe(Path("a\0b"))


def test_a_video_track_without_frames_is_refused(tmp_path: Path) -> None:
    clip = next(clip for clip in CLIPS if clip.name == "fragmented.mp4")
    path = write(type(clip)(**{**vars(clip), "name": "hollow.mp4"}), tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moof") - 4])

    with pytest.raises(UnreadableVideo, match="a video track without a single frame"):
        probe(path)


def test_a_playlist_cannot_reach_another_file(clips: Mapping[str, Path], tmp_path: Path) -> None:
    playlist = tmp_path / "list.m3u8"
    playlist.write_text(
        f"#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n{clips['transport.ts']}\n#EXT-X-ENDLIST\n"
    )
    script = tmp_path / "list.ffconcat"
    script.write_text(f"ffconcat version 1.0\nfile '{clips['b-frames.mp4']}'\n")

    for path in (playlist, script):
        with pytest.raises(UnreadableVideo, match="in no video or audio format that is read here"):
            probe(path)
