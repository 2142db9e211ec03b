from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from tests.media.clips import (
    CLIPS,
    HEIGHT,
    WIDTH,
    Clip,
    barcode,
    truth_of,
    without_packet,
    write,
)

from taketwo.errors import UnreadableVideo
from taketwo.media.decoding import Decoder
from taketwo.media.frames import encode_jpeg, frames_at
from taketwo.media.packet_index import read_index

SECONDS_PER_CLIP = 24


def test_the_barcodes_of_the_clips_are_what_was_painted(clips: Mapping[str, Path]) -> None:
    read = {clip.name: list(truth_of(clips[clip.name], clip.turn).barcodes) for clip in CLIPS}

    assert read == {clip.name: list(range(clip.first, clip.frames)) for clip in CLIPS}


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_random_seconds_give_the_frame_shown_then(clips: Mapping[str, Path], clip: Clip) -> None:
    path = clips[clip.name]
    truth = truth_of(path, clip.turn)
    rng = np.random.default_rng([2, CLIPS.index(clip)])
    seconds = sorted(rng.uniform(0, truth.end_s, SECONDS_PER_CLIP))

    found = [(frame.requested_s, barcode(frame.image)) for frame in frames_at(path, seconds)]

    assert found == [(second, truth.shown_at(second)) for second in seconds]


def test_the_clips_add_up_to_500_seconds_in_12_kinds_of_file() -> None:
    assert SECONDS_PER_CLIP * len(CLIPS) >= 500
    assert len({(clip.codec, Path(clip.name).suffix) for clip in CLIPS}) >= 12


def test_seconds_in_any_order_and_twice_are_answered_in_order_of_time(
    clips: Mapping[str, Path],
) -> None:
    found = list(frames_at(clips["b-frames.mp4"], [2.0, 0.5, 2.0, 0.501]))

    assert [(f.requested_s, barcode(f.image)) for f in found] == [
        (0.5, 15),
        (0.501, 15),
        (2.0, 60),
        (2.0, 60),
    ]
    assert found[0].time_s == pytest.approx(0.5)


def test_a_frame_stamped_less_than_a_millisecond_late_counts_as_shown(
    clips: Mapping[str, Path],
) -> None:
    early, late = frames_at(clips["b-frames.mp4"], [0.0985, 0.0995])

    assert [barcode(early.image), barcode(late.image)] == [2, 3]


def test_no_seconds_give_no_frames(clips: Mapping[str, Path]) -> None:
    assert list(frames_at(clips["b-frames.mp4"], [])) == []


def test_the_last_frame_answers_up_to_the_end_and_not_beyond(clips: Mapping[str, Path]) -> None:
    path = clips["no-b-frames.mp4"]

    (last,) = frames_at(path, [3.2])
    assert barcode(last.image) == 95
    with pytest.raises(UnreadableVideo, match=r"has no frame at 3\.250 s: it ends at 3\.200 s"):
        frames_at(path, [0.0, 3.25])
    with pytest.raises(UnreadableVideo, match=r"has no frame at -1\.0 s: a video starts at 0 s"):
        frames_at(path, [-1.0])
    with pytest.raises(UnreadableVideo, match="has no frame at nan s"):
        frames_at(path, [float("nan")])


def test_frames_are_scaled_down_to_the_longer_side_and_never_up(clips: Mapping[str, Path]) -> None:
    def shape(name: str, side: int | None) -> tuple[int, ...]:
        return next(iter(frames_at(clips[name], [1.0], max_side=side))).image.shape

    assert shape("b-frames.mp4", 100) == (60, 100, 3)
    assert shape("turned.mp4", 100) == (60, 100, 3)
    assert shape("b-frames.mp4", 1000) == shape("b-frames.mp4", None) == (HEIGHT, WIDTH, 3)
    with pytest.raises(ValueError, match="max_side is a number of pixels of at least 1, got 0"):
        frames_at(clips["b-frames.mp4"], [1.0], max_side=0)


def test_scaling_averages_and_does_not_drop_pixels(clips: Mapping[str, Path]) -> None:
    (whole,) = frames_at(clips["b-frames.mp4"], [1.0])
    (small,) = frames_at(clips["b-frames.mp4"], [1.0], max_side=WIDTH // 4)
    blocks = whole.image.reshape(HEIGHT // 4, 4, WIDTH // 4, 4, 3).mean(axis=(1, 3))

    assert np.abs(small.image - blocks).mean() < 6


def test_frames_are_handed_out_while_decoding(clips: Mapping[str, Path]) -> None:
    stream = frames_at(clips["b-frames.mp4"], [0.0, 1.0, 2.0])

    assert barcode(next(stream).image) == 0
    assert barcode(next(stream).image) == 30
    stream.close()


def test_a_file_cut_anywhere_gives_the_right_frame_or_an_error(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    moov_first = tmp_path / "moov-first.mp4"
    write(replace(CLIPS[0], name=moov_first.name, muxer={"movflags": "faststart"}), tmp_path)
    answered = refused = marked = 0
    sources = [moov_first, *(clips[n] for n in ("matroska.mkv", "transport.ts", "fragmented.mp4"))]
    for source in sources:
        truth, data = truth_of(source), source.read_bytes()
        for share in (0.35, 0.6, 0.83, 0.97):
            cut = tmp_path / f"cut{source.suffix}"
            cut.write_bytes(data[: int(share * len(data))])
            for second in np.arange(0.012, 3.2, 1 / 30):
                try:
                    (frame,) = frames_at(cut, [second])
                except UnreadableVideo:
                    refused += 1
                    continue
                answered += 1
                is_right = barcode(frame.image) == truth.shown_at(second)
                assert is_right or frame.is_corrupt, (source.name, share, second)
                marked += not is_right
    assert answered > 300
    assert refused > 300
    assert marked <= 2  # The half packet at the end of a transport stream.


def test_damaged_packets_are_marked_and_never_replaced_in_silence(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    source = clips["no-b-frames.mp4"]
    truth, data = truth_of(source), bytearray(source.read_bytes())
    rng = np.random.default_rng(5)
    start, size = data.index(b"mdat") + 2000, data.index(b"moov") - 3000
    for at in rng.integers(start, size, 30):
        data[at : at + 48] = rng.bytes(48)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(data)

    frames = list(frames_at(damaged, np.arange(0, 3.2, 0.05).tolist()))

    assert len(frames) == 64
    assert any(frame.is_corrupt for frame in frames)
    for frame in frames:
        assert frame.is_corrupt or frame.time_s == pytest.approx(
            truth.seconds[truth.shown_at(frame.requested_s)]
        )


def test_a_frame_that_cannot_be_decoded_is_stood_in_for_by_the_one_before(
    clips: Mapping[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "hole.mp4"
    path.write_bytes(without_packet(clips["no-b-frames.mp4"], 40))

    before, hole = frames_at(path, [39 / 30, 40 / 30])

    assert (barcode(before.image), before.is_corrupt) == (39, False)
    assert hole.is_corrupt
    assert hole.time_s == pytest.approx(39 / 30)
    assert barcode(hole.image) == 39


def test_jpeg_bytes_depend_on_the_picture_and_the_quality_only(clips: Mapping[str, Path]) -> None:
    (frame,) = frames_at(clips["b-frames.mp4"], [1.0])
    (again,) = frames_at(clips["b-frames.mp4"], [1.01])

    jpeg = encode_jpeg(frame.image)

    assert jpeg == encode_jpeg(again.image)
    assert len(encode_jpeg(frame.image, quality=30)) < len(jpeg)
    with Image.open(io.BytesIO(jpeg)) as image:
        assert barcode(np.asarray(image)) == 30


def test_a_recording_cut_at_an_open_group_begins_at_its_first_decodable_frame(
    tmp_path: Path,
) -> None:
    """Its first frames are shown before the keyframe and refer to frames that were cut away."""
    whole = write(next(clip for clip in CLIPS if clip.name == "open-gop.ts"), tmp_path)
    with av.open(str(whole)) as container:
        keys = [p.pos for p in container.demux(video=0) if p.size and p.is_keyframe]
    assert keys[1] is not None
    path = tmp_path / "cut.ts"
    tables = whole.read_bytes()[: 188 * 3]
    path.write_bytes(tables + whole.read_bytes()[keys[1] :])
    truth = truth_of(path)

    found = [barcode(frame.image) for frame in frames_at(path, truth.seconds)]

    assert found == list(truth.barcodes)
    assert len(found) > 60
    assert len(read_index(path).pts) == len(found)


def test_a_landing_too_late_is_repeated_from_an_earlier_point(
    clips: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some containers seek to a later place than asked for; the packets tell, and it is mended."""
    path = clips["b-frames.mp4"]
    seek = Decoder._seek
    asked: list[int] = []

    def late(decoder: Decoder, offset: int) -> None:
        asked.append(offset)
        seek(decoder, offset + 2 * int(decoder._index.key_pts[1]))

    monkeypatch.setattr(Decoder, "_seek", late)

    found = [barcode(frame.image) for frame in frames_at(path, [0.5, 1.0, 2.5])]

    assert found == [15, 30, 75]
    assert len(asked) > 2


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="asks the scheduler of Linux")
@pytest.mark.usefixtures("clips")
def test_making_clips_leaves_the_process_scheduled_as_others_are() -> None:
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
