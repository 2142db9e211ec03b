"""Cells for tests: a toolbox over a stub decoder, and what it wrote into the log."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from inspect_ai.event import InfoEvent
from inspect_ai.log import transcript
from numpy.typing import NDArray
from PIL import Image
from tests.scripted_model import Step, script

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.store import MediaStore
from taketwo.media.video import VideoInfo
from taketwo.media.worker import JpegFrame
from taketwo.tools.budget import Limits
from taketwo.tools.primitives import CellMedia
from taketwo.tools.role_model import ModelRole, RoleSettings, SeedOf
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_tool import VideoTool
from taketwo.tools.web import Web

COLOURS = VisibleQuestion(
    question_id="q1",
    text="Which colour is the circle?",
    options=("red", "blue", "green"),
    video_duration_s=24.0,
)


@dataclass
class StubWorkers:
    """Decode nothing: the picture of second t is a square whose grey tells the second."""

    error: Exception | None = None
    gives: int | None = None
    calls: list[tuple[float, ...]] = field(default_factory=list[tuple[float, ...]])
    threads: set[int] = field(default_factory=set[int])

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> tuple[JpegFrame, ...]:
        self.calls.append(tuple(times_s))
        self.threads.add(threading.get_ident())
        if self.error is not None:
            raise self.error
        return tuple(
            JpegFrame(time_s=time, requested_s=time, jpeg=grey_jpeg(time), is_corrupt=False)
            for time in times_s[: self.gives]
        )

    def audio(self, path: Path, start_s: float | None, end_s: float | None) -> NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        return np.zeros(1600, dtype=np.float32)


def grey_jpeg(time_s: float) -> bytes:
    file = io.BytesIO()
    grey = int(time_s * 10) % 256
    Image.new("RGB", (16, 16), (grey, grey, grey)).save(file, "JPEG")
    return file.getvalue()


def video_info(path: Path, **changes: Any) -> VideoInfo:
    facts: dict[str, Any] = {
        "path": path,
        "sha256": "ab" * 32,
        "size_bytes": 1000,
        "duration_s": 24.0,
        "fps": 25.0,
        "width": 640,
        "height": 360,
        "rotation": 0,
        "codec": "h264",
        "container": "mp4",
        "frames": 600,
        "has_audio": True,
        "audio_codec": "aac",
        "problems": (),
    }
    return VideoInfo(**(facts | changes))


def subtitles(folder: Path, *lines: tuple[float, float, str]) -> Path:
    """Write an SRT file of `(start, end, text)` cues; times below one minute."""
    cues = [
        f"{number}\n00:00:{start:06.3f} --> 00:00:{end:06.3f}\n{text}\n".replace(".", ",", 2)
        for number, (start, end, text) in enumerate(lines, start=1)
    ]
    path = folder / "speech.srt"
    path.write_text("\n".join(cues), encoding="utf-8")
    return path


def toolbox(
    folder: Path,
    *,
    orchestrator: Sequence[Step] | None = None,
    observer: Sequence[Step] | None = None,
    transcriber: Sequence[Step] | None = None,
    question: VisibleQuestion = COLOURS,
    tools: Sequence[str | VideoTool] = ("analyze_video", "get_transcript"),
    limits: Limits | None = None,
    workers: StubWorkers | None = None,
    subtitles_path: Path | None = None,
    retries: int = 1,
    seed_of: SeedOf | None = None,
    info: Mapping[str, Any] | None = None,
    extra_roles: Mapping[ModelRole, RoleSettings] | None = None,
    web: Web | None = None,
) -> Toolbox:
    """Return a toolbox whose models play scripts; `model_names` of it tells their names."""
    scripts: dict[ModelRole, Sequence[Step] | None] = {
        "orchestrator": orchestrator,
        "observer": observer,
        "transcriber": transcriber,
    }
    roles = {
        role: RoleSettings(role=role, model=script(steps), retries=retries, seed_of=seed_of)
        for role, steps in scripts.items()
        if steps is not None
    }
    roles |= extra_roles or {}
    media = CellMedia(
        path=folder / "video.mp4",
        info=video_info(folder / "video.mp4", **(info or {})),
        workers=workers or StubWorkers(),
        frames=MediaStore(folder / "frames"),
        derived=MediaStore(folder / "media"),
        slots=anyio.CapacityLimiter(1),
        subtitles=subtitles_path,
    )
    return Toolbox(
        question=question, tools=tools, roles=roles, limits=limits or Limits(), media=media, web=web
    )


def model_name(box: Toolbox, role: ModelRole) -> str:
    return box.model(role).settings.name


class LogTail:
    """The info events that were written since it was made."""

    def __init__(self) -> None:
        self._before = len(transcript().events)

    def of(self, source: str) -> list[dict[str, Any]]:
        """Return the data of the events of `taketwo.<source>`, in order."""
        return [
            event.data  # type: ignore[misc]
            for event in transcript().events[self._before :]
            if isinstance(event, InfoEvent) and event.source == f"taketwo.{source}"
        ]
