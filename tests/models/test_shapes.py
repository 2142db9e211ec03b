from __future__ import annotations

import numpy as np
import pytest

from taketwo.models.shapes import COLOURS, SHAPES, background_colour, count_shapes, sharpness_of


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_shape_is_named_by_colour_and_kind(pictured, colour: str, shape: str) -> None:
    found = count_shapes(pictured(((colour, shape, 300, 150, 30),)))

    assert [(item.colour, item.shape, item.count) for item in found] == [(colour, shape, 1)]
    assert found[0].confidence > 0.6


def test_equal_shapes_are_counted_and_others_are_told_apart(pictured) -> None:
    picture = pictured((
        ("red", "circle", 60, 60, 22),
        ("red", "circle", 160, 60, 22),
        ("red", "circle", 260, 60, 22),
        ("red", "square", 360, 60, 24),
        ("blue", "circle", 60, 200, 22),
        ("green", "triangle", 200, 200, 30),
        ("green", "triangle", 320, 200, 30),
    ))

    found = {(item.colour, item.shape): item.count for item in count_shapes(picture)}

    assert found == {
        ("red", "circle"): 3,
        ("red", "square"): 1,
        ("blue", "circle"): 1,
        ("green", "triangle"): 2,
    }


def test_an_empty_picture_has_no_shapes(pictured) -> None:
    assert count_shapes(pictured()) == ()


def test_nothing_is_counted_inside_an_ignored_box(pictured) -> None:
    picture = pictured((("red", "circle", 100, 100, 25), ("red", "circle", 500, 100, 25)))

    found = count_shapes(picture, ignore=[(0.0, 0.0, 0.5, 1.0)])

    assert [item.count for item in found] == [1]


def test_specks_are_not_counted(pictured) -> None:
    assert count_shapes(pictured((("red", "circle", 100, 100, 3),))) == ()


def test_touching_shapes_of_one_colour_count_as_one(pictured) -> None:
    found = count_shapes(
        pictured((("red", "circle", 100, 100, 25), ("red", "circle", 140, 100, 25)))
    )

    assert sum(item.count for item in found) == 1


@pytest.mark.parametrize("name", ["black", "grey", "white", "blue", "purple"])
def test_the_rim_gives_the_background(pictured, name: str) -> None:
    assert background_colour(pictured((("red", "circle", 300, 150, 60),), background=name)) == name


def test_a_coloured_background_is_scenery_and_not_a_shape(pictured) -> None:
    picture = pictured((("yellow", "star", 300, 150, 40),), background="blue")

    assert [(item.colour, item.shape) for item in count_shapes(picture)] == [("yellow", "star")]


def test_a_flat_picture_has_no_sharpness_and_noise_has_much() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (90, 160, 3), dtype=np.uint8)

    assert sharpness_of(np.full((90, 160, 3), 70, np.uint8)) == 0.0
    assert sharpness_of(noise) > 1000
