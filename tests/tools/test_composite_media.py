"""Composite tools on real files: silent, without speech, one second long, a single frame, damaged."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.cells import LogTail
from tests.media.clips import X264, Clip, barcode, truth_of, without_packet, write
from tests.tools.compositions import call, shipped

from taketwo.errors import UnreadableVideo
from taketwo.media.transcript import OFFLINE_TRANSCRIBER
from taketwo.media.video import probe
from taketwo.media.worker import MediaWorkers
from taketwo.tools.role_model import RoleSettings
from taketwo.tools.toolbox import CallResult

TONE = Clip(name="video.mp4", codec="libx264", options=X264, b_frames=2, sound=True)
SILENT = replace(TONE, sound=False)
CALLS: dict[str, dict[str, object]] = {
    "visual_verbal": {},
    "topic_speech": {"shown": "bands"},
    "visual_detail": {"subject": "bands"},
    "mcq_evidence": {"options": ["bands", "dots"]},
    "event_detail": {"event": "bands move"},
}


@pytest.fixture(scope="module")
def workers() -> Iterator[MediaWorkers]:
    with MediaWorkers(1, time_limit_s=60) as pool:
        yield pool


async def looked(
    folder: Path,
    workers: MediaWorkers,
    name: str,
    arguments: dict[str, object] | None = None,
    observer: list[str] | None = None,
) -> CallResult:
    info = probe(folder / "video.mp4")
    facts: dict[str, Any] = {
        "sha256": info.sha256,
        "duration_s": info.duration_s,
        "has_audio": info.has_audio,
        "width": info.width,
        "height": info.height,
    }
    hearing = RoleSettings(role="transcriber", model=OFFLINE_TRANSCRIBER)
    result, _ = await call(
        folder,
        shipped(name),
        CALLS[name] | (arguments or {}),
        ["seen"] if observer is None else observer,
        workers=workers,
        info=facts,
        extra_roles={"transcriber": hearing},
    )
    return result


def found(start_s: float, end_s: float) -> str:
    return f'{{"found": true, "start_s": {start_s}, "end_s": {end_s}, "description": "bands"}}'


def barcodes(result: CallResult) -> list[int]:
    pictures = [Image.open(io.BytesIO(frame.jpeg)) for frame in result.reply.frames]
    return [barcode(np.asarray(picture)) for picture in pictures]


async def test_frames_are_those_of_the_seconds_that_are_said(
    tmp_path: Path, workers: MediaWorkers
) -> None:
    truth = truth_of(write(TONE, tmp_path))

    result = await looked(tmp_path, workers, "visual_detail", {"start_time": 1.0, "end_time": 2.0})

    evidence: Any = result.reply.data["evidence"]
    times_s = evidence["frames"]["frame_times_s"]
    assert times_s == pytest.approx([frame.time_s for frame in result.reply.frames])
    assert barcodes(result) == [truth.shown_at(time_s) for time_s in times_s]
    assert barcodes(result) == [30, 33, 36, 40, 43, 46, 50, 53, 56, 60]


async def test_an_event_is_shown_where_it_was_found_and_a_second_around_it(
    tmp_path: Path, workers: MediaWorkers
) -> None:
    write(TONE, tmp_path)

    result = await looked(
        tmp_path, workers, "event_detail", observer=[found(1.5, 1.5), "bands move"]
    )

    shown = barcodes(result)
    assert (shown[0], shown[-1], len(shown)) == (15, 75, 10)
    assert "where: 1.5 s" in result.message.text


@pytest.mark.parametrize("name", ["visual_verbal", "topic_speech", "mcq_evidence"])
async def test_sound_without_words_is_no_speech(
    tmp_path: Path, workers: MediaWorkers, name: str
) -> None:
    write(TONE, tmp_path)
    log = LogTail()

    result = await looked(
        tmp_path, workers, name, observer=[found(1, 2) if name == "topic_speech" else "seen"]
    )

    assert result.failure is None
    assert "transcript: no speech in" in result.message.text
    assert not result.reply.truncated
    assert [event["succeeded"] for event in log.of("primitive")] == [True] * len(
        shipped(name).steps
    )


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("frames", [1, 3, 30])
async def test_a_silent_video_of_a_second_or_a_frame_is_gone_through(
    tmp_path: Path, workers: MediaWorkers, name: str, frames: int
) -> None:
    write(replace(SILENT, frames=frames, b_frames=0), tmp_path)
    grounded = name in {"topic_speech", "event_detail"}

    result = await looked(
        tmp_path, workers, name, observer=[*([found(0, 0)] if grounded else []), "seen"]
    )

    assert result.failure is None
    assert "incomplete" not in result.message.text
    steps = len(shipped(name).steps)
    assert f"steps: {steps} of {steps} done" in result.message.text
    if name != "topic_speech":
        assert 1 <= len({*barcodes(result)}) <= min(frames, 10)
        assert min(barcodes(result)) == 0


@pytest.mark.parametrize("name", ["topic_speech", "event_detail"])
async def test_nothing_is_looked_at_closer_that_was_not_found(
    tmp_path: Path, workers: MediaWorkers, name: str
) -> None:
    write(SILENT, tmp_path)
    log = LogTail()

    result = await looked(tmp_path, workers, name, observer=['{"found": false}'])

    assert result.failure is None
    assert result.reply.frames == ()
    assert [event["operation"] for event in log.of("primitive")] == ["ground_event"]


async def test_a_damaged_frame_is_said_to_be_one(tmp_path: Path, workers: MediaWorkers) -> None:
    path = write(replace(SILENT, gop=1, b_frames=0), tmp_path)
    path.write_bytes(without_packet(path, 45))

    result = await looked(tmp_path, workers, "visual_verbal", {"start_time": 1.4, "end_time": 1.6})

    assert result.failure is None
    assert len(result.reply.frames) >= 1


async def test_a_file_that_is_no_video_ends_the_cell_as_a_media_error(
    tmp_path: Path, workers: MediaWorkers
) -> None:
    write(SILENT, tmp_path)
    info = probe(tmp_path / "video.mp4")
    (tmp_path / "video.mp4").write_bytes(b"this is no video")

    with pytest.raises(UnreadableVideo):
        await call(
            tmp_path,
            shipped("visual_detail"),
            {"subject": "x"},
            ["seen"],
            workers=workers,
            info={"duration_s": info.duration_s, "has_audio": False},
        )
