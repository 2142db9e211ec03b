"""Calls of STAR's tools in a cell, for tests."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from tests.cells import StubWorkers, model_name, toolbox
from tests.scripted_model import Request, Step, requests_of

from taketwo.media.worker import JpegFrame
from taketwo.tools.star_frames import StarState, VisibleFrames
from taketwo.tools.star_toolset import star_tools
from taketwo.tools.toolbox import CallResult, Toolbox, ToolSettings

CORNERS = {
    "top left": (255, 0, 0),
    "top right": (0, 255, 0),
    "bottom left": (0, 0, 255),
    "bottom right": (255, 255, 0),
}


@dataclass
class CornerWorkers(StubWorkers):
    """Frames of 1600 x 800 with a colour in each corner, scaled down as asked."""

    sides: list[int | None] = field(default_factory=list["int | None"])

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> tuple[JpegFrame, ...]:
        self.sides.append(max_side)
        self.calls.append(tuple(times_s))
        return tuple(
            JpegFrame(time_s=time, requested_s=time, jpeg=corners(max_side), is_corrupt=False)
            for time in times_s
        )


def corners(max_side: int | None) -> bytes:
    picture = Image.new("RGB", (1600, 800))
    for number, colour in enumerate(CORNERS.values()):
        row, column = divmod(number, 2)
        picture.paste(colour, (column * 800, row * 400, column * 800 + 800, row * 400 + 400))
    if max_side is not None:
        picture.thumbnail((max_side, max_side))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=95)
    return file.getvalue()


def star_cell(
    folder: Path,
    observer: Sequence[Step] = (),
    *,
    start_frames: int = 16,
    max_frames: int = 64,
    seen: bool = False,
    **changes: Any,
) -> Toolbox:
    """Return a cell whose observer plays `observer`; it knows the question only where `seen`."""
    box = toolbox(folder, **({"observer": observer, "tools": star_tools()} | changes))
    box.settings = ToolSettings(observer_sees_question=seen, max_frames=96)
    box.state.put(StarState(start_frames=start_frames, max_frames=max_frames))
    return box


async def call(box: Toolbox, tool: str, text: str = "") -> CallResult:
    return await box.run_call(tool, {"input": text})


def visible(box: Toolbox) -> VisibleFrames:
    return box.state.get(StarState).frames


def times(box: Toolbox) -> list[float]:
    return [round(frame.time_s, 3) for frame in visible(box).all]


def asked(box: Toolbox) -> list[Request]:
    return requests_of(model_name(box, "observer"))


def answers(**said: str) -> str:
    """Return frame answers; `t12_5="red"` is an answer for 12.5 s."""
    return json.dumps({
        "answers": [
            {"time_s": float(name.removeprefix("t").replace("_", ".")), "answer": text}
            for name, text in said.items()
        ]
    })
