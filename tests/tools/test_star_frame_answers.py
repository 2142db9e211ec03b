from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cells import LogTail
from tests.tools.star_cells import CornerWorkers, answers, asked, call, star_cell, visible

from taketwo.tools.budget import Limits
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_counting import Detection, object_tracking_tool

ASK = "image-question-answering-tool"
COUNT = "object-tracking-tool"


async def test_every_frame_is_asked_in_batches_of_eight_and_keeps_its_answer(
    tmp_path: Path,
) -> None:
    first = answers(t0="red", t1_6="red", t3_2="red", t4_8="red", t6_4="red", t8="red", t9_6="red")
    first = first[:-2] + ', {"time_s": 11.2, "answer": "blue"}]}'
    second = answers(
        t12_8="blue", t14_4="blue", t16="blue", t17_6="", t19_2="blue", t20_8="blue", t22_4="blue",
        t24="blue",
    )  # fmt: skip
    box = star_cell(tmp_path, [first, second, answers(t17_6="green")])

    result = await call(box, ASK, "Which colour?")

    assert [len(request.images) for request in asked(box)] == [8, 8, 1]
    assert result.reply.fields == {"frames asked": "16", "answered": "16"}
    assert result.reply.untrusted["answers"] == (
        "[0.0-9.6 s, 7 frames] red\n[11.2-16.0 s, 4 frames] blue\n[17.6 s] green\n"
        "[19.2-24.0 s, 4 frames] blue"
    )
    assert [frame.answers[0].answer for frame in visible(box).all][10:13] == [
        "blue",
        "green",
        "blue",
    ]
    assert "<<<UNTRUSTED focus\nWhich colour?\n>>>UNTRUSTED" in asked(box)[0].text
    assert "Which colour is the circle?" not in asked(box)[0].text


async def test_the_question_stands_before_the_observer_only_where_it_may_be_seen(
    tmp_path: Path,
) -> None:
    box = star_cell(tmp_path, [answers(t12="red")], start_frames=1, seen=True)

    await call(box, ASK, "Which colour?")

    assert "Question: Which colour is the circle?" in asked(box)[0].text


async def test_a_frame_left_out_is_asked_once_more_and_then_stays_open_for_a_later_call(
    tmp_path: Path,
) -> None:
    box = star_cell(
        tmp_path, [answers(t0="red"), '{"answers": []}', answers(t24="blue")], start_frames=2
    )

    first = await call(box, ASK, "Which colour?")
    again = await call(box, ASK, "Which colour?")

    assert [len(request.images) for request in asked(box)] == [2, 1, 1]
    assert first.reply.fields["note"] == "frames without an answer: 1"
    assert again.reply.fields["answered before"] == "1; not asked again"
    assert again.reply.untrusted["answers"] == "[24.0 s] blue"


async def test_when_all_have_answered_no_model_is_asked(tmp_path: Path) -> None:
    box = star_cell(tmp_path, [answers(t12="red")], start_frames=1)

    await call(box, ASK, "Which colour?")
    again = await call(box, ASK, "Which colour?")

    assert len(asked(box)) == 1
    assert "every frame in focus has answered exactly this" in again.message.text


@pytest.mark.parametrize(
    ("time_s", "answered"),
    [(12.0, 1), (12.4, 1), ("0:12", 1), (12.6, 0), (-3, 0), (1e300, 0)],
)
async def test_an_answer_belongs_to_the_nearest_frame_within_half_a_second(
    tmp_path: Path, time_s: object, answered: int
) -> None:
    reply = json.dumps({"answers": [{"time_s": time_s, "answer": "red"}]})
    box = star_cell(tmp_path, [reply], start_frames=1)

    result = await call(box, ASK, "Which colour?")

    assert result.reply.fields["answered"] == str(answered)
    if not answered:
        assert result.reply.fields["note"] == "frames without an answer: 1"


@pytest.mark.parametrize(
    "reply",
    ["I see red.", '{"answers": "red"}', '{"answers": [{"time_s": NaN, "answer": "red"}]}', "{}"],
)
async def test_replies_outside_the_form_are_an_error_of_the_tool(
    tmp_path: Path, reply: str
) -> None:
    box = star_cell(tmp_path, [reply] * 3, start_frames=1)

    result = await call(box, ASK, "Which colour?")

    assert result.failure is not None
    assert result.failure.code == "no_usable_reply"
    assert "the observer gave no usable reply in 3 tries" in result.failure.message
    assert box.failure is None


async def test_a_later_batch_that_fails_keeps_the_earlier_answers(tmp_path: Path) -> None:
    said = answers(t0="a", t1_6="a", t3_2="a", t4_8="a", t6_4="a", t8="a", t9_6="a", t11_2="a")
    box = star_cell(tmp_path, [said, "?", "?", "?"])

    result = await call(box, ASK, "Which colour?")

    assert result.reply.fields["answered"] == "8"
    assert "frames without an answer: 8; the observer gave no usable reply" in result.message.text
    assert result.reply.truncated
    assert len(result.reply.seen) == 16


async def test_a_budget_of_frames_bounds_a_batch_and_stops_the_tool(tmp_path: Path) -> None:
    said = answers(t0="a", t1_6="a", t3_2="a", t4_8="a", t6_4="a")
    box = star_cell(tmp_path, [said], limits=Limits(frames=5))

    result = await call(box, ASK, "Which colour?")

    assert len(asked(box)[0].images) == 5
    assert result.reply.fields["answered"] == "5"
    assert "the budget of frames is used up" in result.reply.fields["note"]


async def test_an_empty_question_is_refused_before_anything_is_decoded(tmp_path: Path) -> None:
    box, log = star_cell(tmp_path), LogTail()

    result = await call(box, ASK, "  ")

    assert result.failure is not None
    assert (
        "the input is empty; it must be a question that one frame can answer" in result.message.text
    )
    assert log.of("primitive") == []


async def test_a_huge_answer_is_cut(tmp_path: Path) -> None:
    box = star_cell(tmp_path, [answers(t12="z" * 100_000)], start_frames=1)

    result = await call(box, ASK, "Which colour?")

    assert result.reply.untrusted["answers"] == f"[12.0 s] {'z' * 600}"


async def test_captions_are_kept_once_for_each_view(tmp_path: Path) -> None:
    box = star_cell(tmp_path, [answers(t12="a red hall")], start_frames=1)

    await call(box, "image-caption-tool", "the hall")
    again = await call(box, "image-caption-tool")

    assert visible(box).all[0].notes == {"description of whole frame": "a red hall"}
    assert "Look especially at:\n<<<UNTRUSTED focus\nthe hall" in asked(box)[0].text
    assert "every frame in focus is described already" in again.message.text


async def test_counts_by_the_observer_are_of_low_trust_and_kept_for_every_class(
    tmp_path: Path,
) -> None:
    replies = [json.dumps({"counts": [{"time_s": 12, "count": n}]}) for n in (3, 0)]
    box = star_cell(tmp_path, replies, start_frames=1)

    first = await call(box, COUNT, "ball")
    await call(box, COUNT, "dog")

    assert first.reply.fields["mode"].startswith("degraded: counts are the observer's estimates")
    assert visible(box).all[0].notes == {
        "count of ball": "3, low trust",
        "count of dog": "0, low trust",
    }


@pytest.mark.parametrize("count", ["-1", '"many"', "2.5", "null"])
async def test_counts_that_are_no_counts_are_not_used(tmp_path: Path, count: str) -> None:
    reply = f'{{"counts": [{{"time_s": 12, "count": {count}}}]}}'
    box = star_cell(tmp_path, [reply] * 3, start_frames=1)

    result = await call(box, COUNT, "ball")

    assert result.failure is not None
    assert visible(box).all[0].notes == {}


class Reds:
    """A detector that finds two things in the first frame, one of them doubtful."""

    identity = "reds 1.0"

    def detect(self, frames: Sequence[SeenFrame], label: str) -> Sequence[Detection]:
        box = (0.0, 0.0, 0.5, 0.5)
        first = frames[0].time_s
        return [
            Detection(time_s=first, label=label, box=box, confidence=0.9),
            Detection(time_s=first, label=label, box=box, confidence=0.1),
        ]


async def test_a_detector_counts_without_the_observer_and_undegraded(tmp_path: Path) -> None:
    tool = object_tracking_tool(Reds())
    box = star_cell(tmp_path, start_frames=2, tools=[tool], workers=CornerWorkers())

    result = await call(box, COUNT, "red thing")

    assert [frame.notes for frame in visible(box).all] == [
        {"count of red thing": "1"},
        {"count of red thing": "0"},
    ]
    assert "mode" not in result.reply.fields
    assert tool.prompts == {"detector": "reds 1.0"}
    assert asked(box) == []
