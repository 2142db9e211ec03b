from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest
from tests.cells import LogTail, StubWorkers, grey_jpeg, model_name, subtitles, toolbox
from tests.scripted_model import requests_of, says

from taketwo.errors import DataError, UnreadableVideo
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.role_model import ProviderReplyError, RoleSettings


async def test_equal_frames_are_decoded_once_and_charged_alike(tmp_path: Path) -> None:
    workers, log = StubWorkers(), LogTail()
    first = toolbox(tmp_path, workers=workers)
    second = toolbox(tmp_path, workers=workers)

    made = await first.primitives.extract_video_parts([1.0, 2.0], max_side=640)
    found = await second.primitives.extract_video_parts([1.0, 2.0], max_side=640)

    assert made == found
    assert workers.calls == [(1.0, 2.0)]
    fresh, shared = log.of("primitive")
    assert (fresh["freshness"], shared["freshness"]) == ("fresh", "shared")
    assert shared["charged_s"] == pytest.approx(fresh["charged_s"], abs=1e-6)
    assert second.latency_s == pytest.approx(first.latency_s, abs=1e-6)


@pytest.mark.parametrize("change", [{"times": [1.0, 2.1]}, {"max_side": 320}, {"sha": "cd" * 32}])
async def test_other_seconds_size_or_video_are_other_frames(
    tmp_path: Path, change: dict[str, object]
) -> None:
    workers = StubWorkers()
    info = {"sha256": change["sha"]} if "sha" in change else {}
    await toolbox(tmp_path, workers=workers).primitives.extract_video_parts(
        [1.0, 2.0], max_side=640
    )

    await toolbox(tmp_path, workers=workers, info=info).primitives.extract_video_parts(
        change.get("times", [1.0, 2.0]),  # type: ignore[arg-type]
        max_side=change.get("max_side", 640),  # type: ignore[arg-type]
    )

    assert len(workers.calls) == 2


async def test_a_picture_lies_under_the_hash_that_names_it(tmp_path: Path) -> None:
    box = toolbox(tmp_path)

    (frame,) = await box.primitives.extract_video_parts([3.0], max_side=None)

    assert frame.sha256 == hashlib.sha256(grey_jpeg(3.0)).hexdigest()
    stored = tmp_path / "frames" / frame.sha256[:2] / f"{frame.sha256}.jpg"
    assert stored.read_bytes() == frame.jpeg


@pytest.mark.parametrize("damage", ["gone", "altered"])
async def test_a_picture_that_is_gone_or_altered_is_decoded_again(
    tmp_path: Path, damage: str
) -> None:
    workers = StubWorkers()
    (frame,) = await toolbox(tmp_path, workers=workers).primitives.extract_video_parts(
        [3.0], max_side=None
    )
    path = tmp_path / "frames" / frame.sha256[:2] / f"{frame.sha256}.jpg"
    path.unlink() if damage == "gone" else path.write_bytes(b"other")

    (again,) = await toolbox(tmp_path, workers=workers).primitives.extract_video_parts(
        [3.0], max_side=None
    )

    assert again == frame
    assert path.read_bytes() == frame.jpeg


async def test_decoding_does_not_hold_up_the_event_loop(tmp_path: Path) -> None:
    workers = StubWorkers()

    await toolbox(tmp_path, workers=workers).primitives.extract_video_parts([3.0], max_side=None)

    assert threading.get_ident() not in workers.threads


async def test_a_failed_operation_was_attempted(tmp_path: Path) -> None:
    log = LogTail()
    box = toolbox(tmp_path, subtitles_path=tmp_path / "missing.srt")

    with pytest.raises(DataError, match=r"missing\.srt"):
        await box.primitives.transcribe_speech(0, 5)

    (event,) = log.of("primitive")
    assert event["succeeded"] is False
    assert "missing.srt" in event["error"]
    assert isinstance(box.failure, DataError)


async def test_an_operation_past_the_budget_is_not_attempted(tmp_path: Path) -> None:
    workers, log = StubWorkers(), LogTail()
    box = toolbox(tmp_path, workers=workers, limits=Limits(primitive_ops=0))

    with pytest.raises(BudgetExhausted, match="primitive_ops budget is used up: 0 of 0"):
        await box.primitives.extract_video_parts([1.0], max_side=None)

    assert (workers.calls, log.of("primitive")) == ([], [])


async def test_subtitles_are_read_once_and_cut_to_the_window(tmp_path: Path) -> None:
    log = LogTail()
    path = subtitles(tmp_path, (1, 2, "one"), (10, 11, "two"))
    box = toolbox(tmp_path, subtitles_path=path)

    early = await box.primitives.transcribe_speech(0, 5)
    late = await box.primitives.transcribe_speech(9, 24)

    assert [segment.text for segment in early.segments] == ["one"]
    assert [segment.text for segment in late.segments] == ["two"]
    assert [event["freshness"] for event in log.of("primitive")] == ["fresh", "shared"]


async def test_a_hearing_model_is_asked_in_parts_and_its_times_are_moved(tmp_path: Path) -> None:
    reply = json.dumps({"segments": [{"start": 1, "end": 2.5, "text": " hello\nthere "}]})
    log = LogTail()
    box = toolbox(
        tmp_path, transcriber=[reply, f"```json\n{reply}\n```"], info={"duration_s": 400.0}
    )

    speech = await box.primitives.transcribe_speech(0, 400)

    assert [(s.start_s, s.end_s, s.text) for s in speech.segments] == [
        (1.0, 2.5, "hello there"),
        (201.0, 202.5, "hello there"),
    ]
    assert speech.source == model_name(box, "transcriber")
    assert len(requests_of(model_name(box, "transcriber"))) == 2
    (event,) = log.of("primitive")
    assert event["model_calls"] == 2
    assert event["tokens"] == 30


@pytest.mark.parametrize(
    "reply", ["I hear nothing", '{"segments": 3}', '{"segments": [{"start": 1}]}']
)
async def test_a_transcript_that_is_none_fails_the_cell(tmp_path: Path, reply: str) -> None:
    box = toolbox(tmp_path, transcriber=[says(reply)])

    with pytest.raises(ProviderReplyError, match="malformed"):
        await box.primitives.transcribe_speech(0, 5)

    assert isinstance(box.failure, ProviderReplyError)


async def test_offline_speech_is_made_once_for_all_cells(tmp_path: Path) -> None:
    log = LogTail()
    settings = RoleSettings(role="transcriber", model="taketwo/offline-transcriber")
    boxes = [toolbox(tmp_path, extra_roles={"transcriber": settings}) for _ in range(2)]

    made, found = [await box.primitives.transcribe_speech(0, 24) for box in boxes]

    assert made == found
    assert made.segments == ()
    fresh, shared = log.of("primitive")
    assert (fresh["freshness"], shared["freshness"]) == ("fresh", "shared")
    assert shared["charged_s"] == pytest.approx(fresh["charged_s"], abs=1e-6)
    assert (fresh["model_calls"], fresh["tokens"]) == (0, None)


async def test_no_frame_at_all_is_an_unreadable_video(tmp_path: Path) -> None:
    box = toolbox(tmp_path, workers=StubWorkers(gives=0))

    with pytest.raises(UnreadableVideo, match="none of 2 frames could be decoded"):
        await box.primitives.extract_video_parts([1.0, 2.0], max_side=None)

    assert isinstance(box.failure, UnreadableVideo)
