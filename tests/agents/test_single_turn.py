from __future__ import annotations

from pathlib import Path

import pytest
from tests.cells import COLOURS, LogTail, model_name, subtitles, toolbox
from tests.scripted_model import HttpError, Step, requests_of, says

from taketwo.agents.single_turn import SingleTurn, SingleTurnOptions
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import Limits


def agent(**options: object) -> SingleTurn:
    return SingleTurn(options=SingleTurnOptions.model_validate(options))


async def test_one_generation_sees_frames_over_the_whole_video(tmp_path: Path) -> None:
    box, log = toolbox(tmp_path, orchestrator=["It is blue.\nFINAL ANSWER: B"], tools=()), LogTail()

    answer = await agent(frames=4)(COLOURS, box)

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, False)
    (request,) = requests_of(model_name(box, "orchestrator"))
    assert len(request.images) == 4
    labels = [line for line in request.text.splitlines() if line.startswith("[frame at")]
    assert labels == [
        "[frame at 0.00 s]",
        "[frame at 8.00 s]",
        "[frame at 16.00 s]",
        "[frame at 24.00 s]",
    ]
    assert (
        "Question: Which colour is the circle?\nOptions:\nA. red\nB. blue\nC. green" in request.text
    )
    assert "Video length: 24.0 s" in request.text
    assert "FINAL ANSWER: <label of one option" in request.text
    assert "transcript" not in request.text.lower()
    assert request.tools == []
    assert [event["operation"] for event in log.of("primitive")] == ["extract_video_parts"]
    assert log.of("model")[0]["frames"] == 4


async def test_the_transcript_is_added_where_it_is_wanted(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2.5, "turn left"))
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: A"], subtitles_path=speech)

    await agent(transcript=True)(COLOURS, box)

    (request,) = requests_of(model_name(box, "orchestrator"))
    assert "<<<UNTRUSTED transcript\n[1.0-2.5 s] turn left\n>>>UNTRUSTED" in request.text


@pytest.mark.parametrize(
    ("reply", "status"),
    [("I am not sure.", "unparsed"), ("FINAL ANSWER: none", "abstained")],
)
async def test_no_answer_is_made_up(tmp_path: Path, reply: Step, status: str) -> None:
    box = toolbox(tmp_path, orchestrator=[reply])

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.option_index) == (status, None)
    assert len(requests_of(model_name(box, "orchestrator"))) == 1


async def test_an_open_question_is_answered_in_words(tmp_path: Path) -> None:
    question = VisibleQuestion(question_id="q", text="What?", options=(), video_duration_s=24.0)
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: a red door"], question=question)

    answer = await agent()(question, box)

    assert (answer.status, answer.text) == ("answered", "a red door")


async def test_a_small_budget_of_frames_gives_fewer_frames_and_a_note(tmp_path: Path) -> None:
    log = LogTail()
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: A"], limits=Limits(frames=3))

    answer = await agent(frames=16)(COLOURS, box)

    assert answer.status == "answered"
    assert log.of("model")[0]["frames"] == 3
    assert log.of("note") == [{"text": "3 frames instead of 16: the budget of frames"}]


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(frames=0), "frames"),
        (Limits(turns=0), "turns"),
        (Limits(primitive_ops=0), "primitive_ops"),
    ],
)
async def test_no_budget_is_a_limit(tmp_path: Path, limits: Limits, resource: str) -> None:
    box = toolbox(tmp_path, orchestrator=[says("FINAL ANSWER: A")], limits=limits)

    answer = await agent()(COLOURS, box)

    assert (answer.status, answer.limit) == ("limit", resource)


async def test_a_failing_provider_is_no_answer(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[HttpError(500)] * 2)

    with pytest.raises(HttpError, match="500"):
        await agent()(COLOURS, box)
