from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from taketwo.media.text_in_frames import read_text, reader_identity


@pytest.fixture(scope="module")
def sign() -> NDArray[np.uint8]:
    """A 640 x 360 frame with two lines of text at known places."""
    image = Image.new("RGB", (640, 360), (30, 60, 90))
    draw = ImageDraw.Draw(image)
    draw.text((80, 60), "EXIT 42", font=ImageFont.load_default(48), fill="white")
    draw.text((320, 250), "KLM-7", font=ImageFont.load_default(28), fill="yellow")
    return np.asarray(image)


def painted(text: str) -> NDArray[np.uint8]:
    image = Image.new("RGB", (640, 360), (30, 60, 90))
    ImageDraw.Draw(image).text((80, 60), text, font=ImageFont.load_default(48), fill="white")
    return np.asarray(image)


def test_lines_are_read_with_place_and_confidence(sign: NDArray[np.uint8]) -> None:
    upper, lower = read_text(sign)

    assert [upper.text, lower.text] == ["EXIT 42", "KLM-7"]
    assert min(upper.confidence, lower.confidence) > 0.9
    x0, y0, x1, y1 = upper.box
    assert (x0 * 640, y0 * 360) == (pytest.approx(80, abs=20), pytest.approx(70, abs=20))
    assert (x1 * 640, y1 * 360) == (pytest.approx(270, abs=25), pytest.approx(110, abs=25))


def test_colours_are_taken_as_rgb() -> None:
    """Red on blue of equal brightness in BGR reads differently from RGB only in its channels."""
    image = Image.new("RGB", (640, 200), (0, 0, 200))
    ImageDraw.Draw(image).text(
        (60, 60), "SIGNAL 9", font=ImageFont.load_default(60), fill=(255, 230, 0)
    )

    (line,) = read_text(np.asarray(image))

    assert line.text.replace(" ", "") == "SIGNAL9"


def test_a_frame_without_text_has_no_lines() -> None:
    assert read_text(np.full((120, 200, 3), 127, np.uint8)) == ()


def test_a_tiny_frame_is_no_error() -> None:
    assert read_text(np.zeros((4, 4, 3), np.uint8)) == ()


def test_threads_get_the_same_lines(sign: NDArray[np.uint8]) -> None:
    with ThreadPoolExecutor(3) as threads:
        found = set(threads.map(read_text, [sign] * 4))

    assert found == {read_text(sign)}


def test_the_identity_names_the_engine_and_its_version() -> None:
    assert reader_identity().startswith("rapidocr 3.")


def test_threads_that_read_at_the_same_time_read_what_one_would() -> None:
    words = ["HARBOR", "COPPER", "SUMMER", "BASKET", "WINTER", "PEPPER"]
    images = [painted(word) for word in words]
    alone = [read_text(image) for image in images]

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(read_text, images))

    assert together == alone
    assert [lines[0].text for lines in alone] == words
