from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from tests.cells import StubWorkers
from tests.tools.star_cells import call, star_cell, visible

from taketwo.media.text_in_frames import TextBox
from taketwo.media.worker import JpegFrame
from taketwo.tools import star_reading
from taketwo.tools.star_reading import text_reading_tool

READ = "text-reading-tool"


def boxes(*said: tuple[str, float]) -> tuple[TextBox, ...]:
    return tuple(TextBox(text=text, confidence=c, box=(0, 0, 1, 1)) for text, c in said)


async def test_all_text_is_kept_with_the_frames_and_read_once(tmp_path: Path) -> None:
    reads: list[tuple[int, ...]] = []

    def reader(image: NDArray[np.uint8]) -> Sequence[TextBox]:
        reads.append(image.shape)
        return boxes(('EXIT "42"', 0.9), ("blur", 0.2), ("A  B", 0.8)) if len(reads) == 1 else ()

    box = star_cell(tmp_path, tools=[text_reading_tool(reader)], start_frames=3)

    first = await call(box, READ, "whatever")
    again = await call(box, READ)

    assert first.reply.untrusted["text on screen"] == (
        '[0.0 s] text "EXIT \'42\'"; text "A B"\n[12.0-24.0 s, 2 frames] no text'
    )
    assert visible(box).all[1].notes == {"text on screen, whole frame": "no text"}
    assert len(reads) == 3
    assert reads[0] == (16, 16, 3)
    assert again.reply.fields["frames read"] == "0, 3 read before"
    assert again.reply.untrusted == first.reply.untrusted


async def test_a_flood_of_text_is_cut_and_says_so(tmp_path: Path) -> None:
    tool = text_reading_tool(lambda _: boxes(("x" * 10_000, 1.0)))
    box = star_cell(tmp_path, tools=[tool], start_frames=1)

    result = await call(box, READ)

    assert result.reply.truncated
    assert len(result.reply.untrusted["text on screen"]) == 6000
    assert "cut after 6000 of" in result.reply.fields["note"]


async def test_without_text_recognition_the_tool_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(star_reading, "find_spec", lambda _: None)
    box = star_cell(tmp_path)

    result = await call(box, READ)

    assert READ not in {tool.name for tool in box.working_tools()}
    assert "no text recognition is installed (extra: offline)" in result.message.text


class SignWorkers(StubWorkers):
    """One frame with a sign."""

    def jpegs(
        self, path: Path, times_s: Sequence[float], max_side: int | None, quality: int = 85
    ) -> tuple[JpegFrame, ...]:
        picture = Image.new("RGB", (640, 360), "white")
        ImageDraw.Draw(picture).text((120, 120), "EXIT 42", fill="black", font_size=72)
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=95)
        return tuple(
            JpegFrame(time_s=time, requested_s=time, jpeg=file.getvalue(), is_corrupt=False)
            for time in times_s
        )


async def test_a_sign_is_read_by_the_recogniser_that_is_shipped(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    box = star_cell(tmp_path, workers=SignWorkers(), start_frames=1)

    result = await call(box, READ)

    assert "EXIT 42" in result.message.text
