from __future__ import annotations

import pytest

from taketwo.errors import DataError
from taketwo.media.store import MediaStore
from taketwo.models import perception
from taketwo.models.perception import facts_of, motion_between


def test_text_shapes_and_background_are_measured_in_one_frame(painted) -> None:
    jpeg = painted(
        (("red", "circle", 100, 80, 25), ("red", "circle", 200, 80, 25)), "EXIT 42", "black"
    )

    facts, seconds = facts_of(jpeg, 12.5, None)

    assert facts.time_s == 12.5
    assert [box.text.upper() for box in facts.texts] == ["EXIT 42"]
    assert [(item.count, item.colour, item.shape) for item in facts.shapes] == [
        (2, "red", "circle")
    ]
    assert facts.background == "black"
    assert seconds > 0


def test_a_stored_frame_is_not_read_again_and_charged_at_the_recorded_seconds(
    painted, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MediaStore(tmp_path)
    jpeg = painted((), "LAMP")
    first, fresh_s = facts_of(jpeg, 1.0, store)

    def unexpected(image: object) -> None:
        raise AssertionError("text was read twice")

    monkeypatch.setattr(perception, "read_text", unexpected)
    second, shared_s = facts_of(jpeg, 7.0, store)

    assert second.texts == first.texts
    assert second.time_s == 7.0
    assert shared_s == pytest.approx(fresh_s, abs=1e-5)


def test_bytes_that_are_no_picture_are_refused() -> None:
    with pytest.raises(DataError, match="a frame of 5 bytes is not a picture"):
        facts_of(b"hello", 0.0, None)
    with pytest.raises(DataError, match="a frame of 0 bytes is not a picture"):
        facts_of(b"", 0.0, None)


def test_motion_is_the_share_of_the_picture_that_changed(painted) -> None:
    still, covered = painted(), painted((("white", "square", 160, 180, 200),))

    assert motion_between(still, still) == 0.0
    assert 0.15 < motion_between(still, covered) < 0.6
