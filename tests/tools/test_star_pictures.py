from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pytest
from PIL import Image
from tests.cells import LogTail, StubWorkers
from tests.tools.star_cells import (
    CORNERS,
    CornerWorkers,
    answers,
    asked,
    call,
    corners,
    star_cell,
    times,
    visible,
)

from taketwo.media.store import MediaStore
from taketwo.tools.budget import Limits
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_forms import Patch
from taketwo.tools.star_pictures import grid_picture, patch_picture

SELECT, GRID, ZOOM = (
    "image-grid-select-tool",
    "image-grid-qa-tool",
    "relevant-patch-zooming-tool",
)


def plain(
    time_s: float, colour: tuple[int, int, int], size: tuple[int, int] = (320, 180)
) -> SeenFrame:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "JPEG", quality=95)
    data = file.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    return SeenFrame(time_s=time_s, requested_s=time_s, jpeg=data, sha256=sha256)


def opened(frame: SeenFrame) -> Image.Image:
    return Image.open(io.BytesIO(frame.jpeg)).convert("RGB")


def near(found: object, wanted: tuple[int, int, int]) -> bool:
    assert isinstance(found, tuple)
    return all(abs(one - other) < 12 for one, other in zip(found, wanted, strict=True))


# Pictures


@pytest.mark.parametrize(
    ("frames", "size"),
    [(1, (640, 180)), (4, (640, 360)), (5, (960, 360)), (9, (960, 540)), (16, (1280, 720))],
)
def test_a_grid_has_two_to_four_tiles_a_row(
    tmp_path: Path, frames: int, size: tuple[int, int]
) -> None:
    tiles = [plain(float(n), (n * 15, 0, 0)) for n in range(frames)]

    grid = opened(grid_picture(tiles, MediaStore(tmp_path)))

    assert grid.size == size
    columns = size[0] // 320
    for number in range(frames):
        row, column = divmod(number, columns)
        assert near(grid.getpixel((column * 320 + 200, row * 180 + 100)), (number * 15, 0, 0))


def test_each_tile_has_a_badge_in_its_upper_left_corner(tmp_path: Path) -> None:
    grid = opened(grid_picture([plain(0.0, (200, 200, 200))] * 10, MediaStore(tmp_path)))

    for left, top in ((0, 0), (320, 0), (320, 360)):
        badge = grid.crop((left, top, left + 28, top + 28))
        darkest, brightest = badge.convert("L").getextrema()
        assert darkest < 20  # type: ignore[operator]
        assert brightest > 230  # type: ignore[operator]


def test_a_grid_of_more_than_sixteen_or_no_frames_is_refused(tmp_path: Path) -> None:
    for count in (0, 17):
        with pytest.raises(ValueError, match=f"a grid holds 1 to 16 frames, got {count}"):
            grid_picture([plain(0.0, (0, 0, 0))] * count, MediaStore(tmp_path))


@pytest.mark.parametrize("patch", CORNERS)
def test_a_patch_holds_its_corner_in_the_pixels_of_the_frame(tmp_path: Path, patch: Patch) -> None:
    data = corners(None)
    whole = SeenFrame(time_s=3.0, requested_s=3.0, jpeg=data, sha256="0" * 64)

    cut = patch_picture(whole, patch, MediaStore(tmp_path))

    picture = opened(cut)
    assert picture.size == (880, 440)
    assert near(picture.getpixel((440, 220)), CORNERS[patch])
    assert cut.time_s == 3.0
    assert MediaStore(tmp_path).image_path(cut.sha256).read_bytes() == cut.jpeg


def test_a_patch_of_a_tiny_or_a_huge_frame_has_at_least_one_and_at_most_1280_pixels(
    tmp_path: Path,
) -> None:
    store = MediaStore(tmp_path)

    assert opened(patch_picture(plain(0, (9, 9, 9), (1, 1)), "top left", store)).size == (1, 1)
    huge = patch_picture(plain(0, (9, 9, 9), (4000, 400)), "centre", store)
    assert opened(huge).size == (1280, 128)


# The grid tools


async def test_a_grid_question_is_one_picture_with_the_times_of_its_tiles(tmp_path: Path) -> None:
    reply = '{"analysis": "tile 1 is red", "answer": "it turns blue"}'
    box = star_cell(tmp_path, [reply], start_frames=3, workers=CornerWorkers())

    result = await call(box, GRID, "What changes?")

    (request,) = asked(box)
    assert len(request.images) == 1
    assert "Tiles: 1 at 0.00 s, 2 at 12.00 s, 3 at 24.00 s." in request.text
    assert result.reply.untrusted == {"answer": "it turns blue", "analysis": "tile 1 is red"}
    assert result.reply.fields == {"tiles": "3 frames from 0.0 s to 24.0 s"}
    assert all(not frame.answers and not frame.notes for frame in visible(box).all)


async def test_of_more_than_sixteen_frames_a_grid_shows_sixteen(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ['{"answer": "x"}'], start_frames=40, workers=CornerWorkers())

    await call(box, GRID, "What changes?")

    assert "16 at 24.00 s" in asked(box)[0].text
    assert "17 at" not in asked(box)[0].text


async def test_selecting_in_the_grid_focuses_and_destroys_nothing(tmp_path: Path) -> None:
    box = star_cell(
        tmp_path,
        [answers(t0="red", t8="red", t16="blue", t24="blue"), '{"start": 2, "end": 3}'],
        start_frames=4,
        workers=CornerWorkers(),
    )
    await call(box, "image-question-answering-tool", "Which colour?")

    result = await call(box, SELECT, "the change")

    assert result.reply.fields["chosen"] == "tiles 2 to 3, 8.0-16.0 s"
    assert result.reply.fields["new frames"] == "14"
    assert len(visible(box).focused) == 16
    assert (visible(box).focused[0].time_s, visible(box).focused[-1].time_s) == (8.0, 16.0)
    assert [frame.answers[0].answer for frame in visible(box).all if frame.answers] == [
        "red", "red", "blue", "blue",
    ]  # fmt: skip
    assert visible(box).focused[1].origin == "image-grid-select-tool, step 0"

    undone = await call(box, SELECT, "All frames.")

    assert len(visible(box).focused) == len(visible(box).all) == 18
    assert "on all frames again" in undone.message.text
    assert len(asked(box)) == 2


async def test_the_last_room_is_spread_over_the_selection(tmp_path: Path) -> None:
    box = star_cell(
        tmp_path,
        ['{"start": 1, "end": 4}'],
        start_frames=4,
        max_frames=6,
        workers=CornerWorkers(),
    )

    result = await call(box, SELECT, "the change")

    assert times(box) == [0.0, 1.6, 8.0, 16.0, 22.4, 24.0]
    assert result.reply.fields["note"] == "no room for further frames: 6 are visible"


@pytest.mark.parametrize(
    "reply", ['{"start": 3, "end": 2}', '{"start": 0, "end": 2}', '{"start": 1, "end": 9}', "x"]
)
async def test_a_span_that_is_none_leaves_the_focus_alone(tmp_path: Path, reply: str) -> None:
    box = star_cell(tmp_path, [reply] * 3, start_frames=4)

    result = await call(box, SELECT, "the change")

    assert result.failure is not None
    assert result.failure.code == "no_usable_reply"
    assert len(visible(box).focused) == len(visible(box).all) == 4


# The zoom


async def test_a_patch_is_cut_out_of_the_frame_decoded_at_full_size(tmp_path: Path) -> None:
    workers = CornerWorkers()
    choice = '{"analysis": "a sign", "patch": "bottom left"}'
    box = star_cell(tmp_path, [choice, answers(t12="EXIT")], start_frames=1, workers=workers)

    result = await call(box, ZOOM, "the sign")

    (frame,) = visible(box).all
    assert workers.sides == [640, None]
    assert opened(frame.shown).size == (880, 440)
    assert opened(frame.whole).size == (640, 320)
    assert near(opened(frame.shown).getpixel((300, 300)), CORNERS["bottom left"])
    assert result.reply.untrusted["parts"] == "[12.0 s] bottom left: a sign"
    assert [seen.sha256 for seen in result.reply.seen] == [frame.whole.sha256, frame.shown.sha256]

    await call(box, "image-question-answering-tool", "What is written?")

    assert "Enlarged patches, not whole frames: 12.00 s (bottom left)." in asked(box)[1].text
    assert frame.answers[0].view == "bottom left"

    await call(box, ZOOM, "whole frames")

    assert frame.shown is frame.whole
    assert frame.answers[0].answer == "EXIT"


async def test_a_patch_of_none_leaves_the_whole_frame(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ['{"patch": "none"}'], start_frames=1)

    result = await call(box, ZOOM, "the sign")

    assert visible(box).all[0].crop is None
    assert result.reply.fields == {"frames asked": "1 of 1", "enlarged": "0"}


async def test_at_most_eight_frames_are_enlarged_or_those_whose_times_are_named(
    tmp_path: Path,
) -> None:
    choice = '{"patch": "centre"}'
    box = star_cell(tmp_path, [choice] * 10, workers=CornerWorkers())

    await call(box, ZOOM, "the sign at 8 seconds and at 23 s")

    assert [f.time_s for f in visible(box).all if f.crop] == [8.0, 22.4]

    await call(box, ZOOM, "the sign")

    assert len(asked(box)) == 10


@pytest.mark.parametrize("reply", ['{"patch": "left"}', '{"patch": ["top left", "centre"]}', "?"])
async def test_an_unknown_patch_is_no_patch(tmp_path: Path, reply: str) -> None:
    box = star_cell(tmp_path, [reply] * 3, start_frames=1)

    result = await call(box, ZOOM, "the sign")

    assert result.failure is not None
    assert visible(box).all[0].crop is None


async def test_a_zoom_that_runs_out_keeps_what_it_has(tmp_path: Path) -> None:
    box = star_cell(
        tmp_path,
        ['{"patch": "centre"}'] * 4,
        start_frames=4,
        workers=CornerWorkers(),
        limits=Limits(frames=2),
    )
    log = LogTail()

    result = await call(box, ZOOM, "the sign")

    assert result.reply.fields["frames asked"] == "2 of 4"
    assert "the budget of frames is used up" in result.reply.fields["stopped"]
    assert [event["operation"] for event in log.of("primitive")] == [
        "extract_video_parts", "analyze", "extract_video_parts", "analyze", "extract_video_parts",
    ]  # fmt: skip


async def test_tools_that_look_refuse_an_empty_input(tmp_path: Path) -> None:
    box = star_cell(tmp_path, workers=StubWorkers())

    for tool in (GRID, SELECT, ZOOM):
        result = await call(box, tool)
        assert json.loads(result.message.text)["error"]["code"] == "invalid_arguments"
