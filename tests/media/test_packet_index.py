from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.media.clips import CLIPS, truth_of

from taketwo.errors import UnreadableVideo
from taketwo.media.packet_index import read_index


def test_times_are_those_of_the_frames_that_decoding_gives(clips: Mapping[str, Path]) -> None:
    for clip in CLIPS:
        index = read_index(clips[clip.name])
        truth = truth_of(clips[clip.name], clip.turn)

        assert len(index.pts) == len(truth.seconds), clip.name
        assert [index.seconds(int(pts)) for pts in index.pts] == pytest.approx(
            list(truth.seconds), abs=1e-6
        ), clip.name


def test_keyframes_are_where_the_encoder_put_them(clips: Mapping[str, Path]) -> None:
    index = read_index(clips["open-gop.mp4"])

    assert [index.seconds(int(pts)) for pts in index.key_pts] == pytest.approx([0, 0.8, 1.6, 2.4])
    assert index.keyframe_before(int(index.pts[25])) == 1
    assert index.keyframe_before(int(index.pts[0]) - 1) is None


def test_a_second_belongs_to_the_last_frame_stamped_up_to_a_millisecond_later(
    clips: Mapping[str, Path],
) -> None:
    index = read_index(clips["no-b-frames.mp4"])

    assert [index.number_at(s) for s in (-1, 0, 0.0322, 0.0324, 0.1, 99)] == [0, 0, 0, 1, 3, 95]


def test_counting_is_used_only_where_times_are_missing(clips: Mapping[str, Path]) -> None:
    counted = {clip.name for clip in CLIPS if read_index(clips[clip.name]).is_counted}

    assert counted == {"h264.avi"}


def test_joined_recordings_with_clocks_of_their_own_are_counted(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    joined = tmp_path / "joined.ts"
    joined.write_bytes(clips["mpeg2.ts"].read_bytes() * 2)

    index = read_index(joined)

    assert index.is_counted
    assert index.end_s == pytest.approx(2 * 3.2, abs=0.2)


def test_the_end_under_longer_sound_is_the_end_of_the_sound_in_a_complete_mp4_only(
    clips: Mapping[str, Path],
) -> None:
    movie, stream = read_index(clips["b-frames.mp4"]), read_index(clips["transport.ts"])

    assert movie.end_s == pytest.approx(3.2)
    assert 3.2 <= movie.held_until_s < 3.3
    assert stream.held_until_s == stream.end_s == pytest.approx(3.2)


def test_a_changed_file_is_read_again(clips: Mapping[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    shutil.copy(clips["no-b-frames.mp4"], path)
    first = read_index(path)
    assert read_index(path) is first

    shutil.copy(clips["variable-rate.mp4"], path)
    os.utime(path, ns=(1, 1))

    assert len(read_index(path).pts) == 96
    assert read_index(path).end_s > first.end_s


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UnreadableVideo, match=r"missing\.mp4 cannot be read: there is no such"):
        read_index(Path("missing.mp4"))
