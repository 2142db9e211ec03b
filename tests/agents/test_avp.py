from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.agents.avp_replies import plan, report, review, sent, verdict
from tests.cells import COLOURS, LogTail, StubWorkers, subtitles, toolbox
from tests.media.clips import X264, Clip, barcode, truth_of, write
from tests.scripted_model import HttpError, Request, Step, empty, says

from taketwo.agents.answer import Answer
from taketwo.agents.avp import SPEC
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.worker import MediaWorkers
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ProviderReplyError
from taketwo.tools.toolbox import Toolbox

SEEN = report("a blue circle", (3, 5, "blue"))
FAITHFUL = {"faithful": True}
MEDIUM = {"spatial_token_rate": "medium"}


def cell(
    folder: Path,
    orchestrator: Sequence[Step],
    observer: Sequence[Step],
    options: Mapping[str, object] = FAITHFUL,
    **more: Any,
) -> Toolbox:
    tools = SPEC.tools(SPEC.checked(options))
    given = {"info": {"has_audio": False}, **more}
    return toolbox(folder, orchestrator=orchestrator, observer=observer, tools=tools, **given)


async def answered(
    box: Toolbox,
    options: Mapping[str, object] = FAITHFUL,
    question: VisibleQuestion = COLOURS,
) -> Answer:
    return await SPEC.build(SPEC.checked(options))(question, box)


def order(log: LogTail) -> str:
    """The roles of the generations in order: `o` for the orchestrator, `V` for the observer."""
    return "".join("o" if event["role"] == "orchestrator" else "V" for event in log.of("model"))


def images(request: Request) -> list[np.ndarray[Any, Any]]:
    return [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB"))
        for uri in request.images
    ]


async def test_a_review_that_settles_the_question_ends_after_three_calls(tmp_path: Path) -> None:
    box, log = cell(tmp_path, [plan(), review(True, 0.7, "B")], [SEEN]), LogTail()

    answer = await answered(box)

    assert (answer.status, answer.option_index, answer.forced) == ("answered", 1, False)
    assert answer.reasoning == "the circle at 3 s\nfrom the report"
    assert order(log) == "oVo"
    assert sent(box)[0].tools == []
    assert "a blue circle\n- 3.0-5.0 s: blue" in sent(box)[1].text


async def test_three_rounds_are_nine_calls_and_the_last_round_is_not_reviewed(
    tmp_path: Path,
) -> None:
    unsure = review(False, 0.4)
    box = cell(
        tmp_path,
        [plan(), unsure, plan(fps=2), unsure, plan(fps=3), verdict("C")],
        [report("one"), report("two"), report("three")],
    )
    log = LogTail()

    answer = await answered(box)

    assert order(log) == "oVooVooVo"
    assert (answer.option_index, answer.forced, answer.limit) == (2, True, "rounds")
    assert log.of("note") == [{"text": "forced answer: the budget of rounds is used up"}]
    assert box.budget.used("visible_calls") == 3
    assert box.budget.used("turns") == 6
    last = sent(box)[-1].text
    assert [last.index(f"[Round {n};") for n in (1, 2, 3)] == sorted(
        last.index(f"[Round {n};") for n in (1, 2, 3)
    )
    assert "look between 10 s and 12 s" in sent(box)[2].text


async def test_what_is_sent_as_system_prompt_does_not_depend_on_the_question(
    tmp_path: Path,
) -> None:
    systems: list[list[str]] = []
    for name, options in (("mcq", ("red", "blue")), ("open", ())):
        question = VisibleQuestion(
            question_id="q", text=name, options=options, video_duration_s=24.0
        )
        (tmp_path / name).mkdir()
        box = cell(
            tmp_path / name,
            [plan(), review(False, 0.1), plan(), verdict("A" if options else None, "red")],
            [SEEN, SEEN],
            question=question,
        )
        await answered(box, {**FAITHFUL, "rounds": 2}, question)
        systems.append([request.messages[0].text for request in sent(box)])

    assert systems[0] == systems[1]
    assert len(set(systems[0])) == 3


@pytest.mark.parametrize(
    ("first", "settles"),
    [
        (review(True, 0.69, "B"), False),
        (review(False, 0.99, "B"), False),
        (review("true", "0.8", "B"), True),
    ],
)
async def test_a_stop_needs_sufficient_and_confidence(
    tmp_path: Path, first: str, settles: bool
) -> None:
    rest = [] if settles else [plan(), review(True, 1, "C")]
    box = cell(tmp_path, [plan(), first, *rest], [SEEN, SEEN])

    answer = await answered(box)

    assert answer.option_index == (1 if settles else 2)


async def test_two_regions_in_two_rounds_show_different_pictures(tmp_path: Path) -> None:
    box = cell(
        tmp_path,
        [
            plan(load_mode="region", regions=[[3, 5]]),
            review(False, 0.2),
            plan(load_mode="region", regions=[[11, 13]]),
            review(True, 0.9, "A"),
        ],
        [report("nothing"), SEEN],
    )
    log = LogTail()

    await answered(box)

    first, second = sent(box, "observer")
    assert "Shown here: 3.0-5.0 s" in first.text
    assert "Shown here: 11.0-13.0 s" in second.text
    assert [int(image.mean()) for image in images(first)] == [30, 40, 50]
    assert [int(image.mean()) for image in images(second)] == [110, 120, 130]
    assert [event["frame_times_s"] for event in log.of("tool")] == [
        [3.0, 4.0, 5.0],
        [11.0, 12.0, 13.0],
    ]


async def test_a_cut_between_keyframes_starts_at_the_second_that_was_asked_for(
    tmp_path: Path,
) -> None:
    clip = Clip(name="video.mp4", codec="libx264", options=X264, frames=180, gop=150)
    path = write(clip, tmp_path)
    truth = truth_of(path)
    with MediaWorkers(1) as workers:
        box = cell(
            tmp_path,
            [plan(load_mode="region", regions=[[3.5, 4.5]], fps=2), review(True, 0.9, "B")],
            [SEEN],
            workers=workers,
            info={"duration_s": truth.end_s, "has_audio": False, "width": 320, "height": 192},
        )

        await answered(box)

    (request,) = sent(box, "observer")
    shown = [barcode(image) for image in images(request)]
    assert shown == [truth.shown_at(time_s) for time_s in (3.5, 4.0, 4.5)]
    assert shown == [105, 120, 135]


async def test_regions_at_both_ends_are_not_widened_to_the_whole_video(tmp_path: Path) -> None:
    box = cell(
        tmp_path,
        [plan(load_mode="region", regions=[[0, 2], [22, 24]]), review(True, 0.9, "B")],
        [SEEN],
    )
    log = LogTail()

    await answered(box)

    (call,) = log.of("tool")
    assert call["frame_times_s"] == [0.0, 1.0, 2.0, 22.0, 23.0, 24.0]
    assert "Shown here: 0.0-2.0 s, 22.0-24.0 s of the video" in sent(box, "observer")[0].text


@pytest.mark.parametrize(("count", "label", "index"), [(26, "Z", 25), (30, "27", 26), (2, "A", 0)])
async def test_any_number_of_options_can_be_chosen(
    tmp_path: Path, count: int, label: str, index: int
) -> None:
    question = VisibleQuestion(
        question_id="q",
        text="Which?",
        options=tuple(f"thing {number}" for number in range(count)),
        video_duration_s=24.0,
    )
    options = {**FAITHFUL, "rounds": 2}
    box = cell(
        tmp_path,
        [plan(), review(False, 0.1), plan(), verdict(label)],
        [SEEN, SEEN],
        question=question,
    )

    answer = await answered(box, options, question)

    assert (answer.status, answer.option_index) == ("answered", index)
    form = json.loads(sent(box)[-1].text.splitlines()[-1])
    assert form["properties"]["selected_option"]["enum"] == [*question.labels, None]
    assert sent(box)[-1].text.count("thing 1\n") == 1


@pytest.mark.parametrize(
    "reply",
    [
        "I really cannot say.",
        '{"selected_option": "Z", "reasoning": "some would say\nthe answer is A\nwhich is wrong"}',
        '{"selected_option": ["A", "B"]}',
        '{"selected_option": "A or B"}',
        "{" * 50,
    ],
)
async def test_what_cannot_be_read_is_unparsed_and_never_an_a(tmp_path: Path, reply: str) -> None:
    options = {**FAITHFUL, "rounds": 1, "asks": 1}
    box = cell(tmp_path, [plan(), reply, reply], [SEEN])

    answer = await answered(box, options)

    assert (answer.status, answer.option_index, answer.text) == ("unparsed", None, reply)
    assert (answer.forced, answer.limit) == (True, "rounds")
    assert sent(box)[-1].messages[-1].text.startswith("Your reply does not fit: ")


@pytest.mark.parametrize(
    ("reply", "status", "index"),
    [
        (verdict("b"), "answered", 1),
        (verdict("B. blue"), "answered", 1),
        (verdict("blue"), "answered", 1),
        (verdict(None, "green"), "answered", 2),
        (verdict(None, None), "abstained", None),
        (verdict("none", "nothing fits"), "abstained", None),
        (verdict("A", "blue"), "unparsed", None),
        ("The evidence is thin.\nFINAL ANSWER: C", "answered", 2),
    ],
)
async def test_an_option_may_be_named_in_any_way_that_names_one(
    tmp_path: Path, reply: str, status: str, index: int | None
) -> None:
    box = cell(tmp_path, [plan(), reply], [SEEN])

    answer = await answered(box, {**FAITHFUL, "rounds": 1, "asks": 0})

    assert (answer.status, answer.option_index) == (status, index)


async def test_a_review_that_stops_without_an_option_is_followed_by_the_synthesiser(
    tmp_path: Path,
) -> None:
    box, log = cell(tmp_path, [plan(), review(True, 0.9), verdict("C")], [SEEN]), LogTail()

    answer = await answered(box)

    assert (answer.option_index, answer.forced, answer.limit) == (2, False, None)
    assert order(log) == "oVoo"


async def test_an_open_question_is_answered_in_words(tmp_path: Path) -> None:
    question = VisibleQuestion(question_id="q", text="What?", options=(), video_duration_s=24.0)
    box = cell(
        tmp_path,
        [plan(), review(True, 0.9, "A", "a red door")],
        [report("a door")],
        question=question,
    )

    answer = await answered(box, question=question)

    assert (answer.status, answer.text, answer.option_index) == ("answered", "a red door", None)
    assert '"enum": [null]' in sent(box)[-1].text
    assert "Options:" not in sent(box)[0].text


async def test_an_open_question_without_an_answer_is_an_abstention(tmp_path: Path) -> None:
    question = VisibleQuestion(question_id="q", text="What?", options=(), video_duration_s=24.0)
    box = cell(tmp_path, [plan(), verdict(None)], [report("fog")], question=question)

    answer = await answered(box, {**FAITHFUL, "rounds": 1}, question)

    assert (answer.status, answer.option_index) == ("abstained", None)


@pytest.mark.parametrize(
    "reply",
    [
        "Let us look everywhere.",
        '{"reasoning": "r", "steps": []}',
        plan(fps=float("nan")),
        plan(load_mode="everything"),
        plan(regions=[[1, 2, 3]], load_mode="region"),
    ],
)
async def test_what_is_no_plan_becomes_a_slow_coarse_look_at_everything(
    tmp_path: Path, reply: str
) -> None:
    box, log = cell(tmp_path, [reply] * 3 + [review(True, 0.9, "B")], [SEEN]), LogTail()

    answer = await answered(box)

    assert answer.option_index == 1
    (call,) = log.of("tool")
    assert call["frame_times_s"] == [2.0 * step for step in range(13)]
    assert "resolution low" in sent(box)[-1].text
    assert log.of("note")[0]["text"].startswith("no plan in the planner's reply (")


async def test_a_look_that_cannot_be_made_is_told_to_the_planner(tmp_path: Path) -> None:
    box = cell(
        tmp_path,
        [plan(load_mode="region", regions=[[90, 95]]), plan(), review(True, 0.9, "B")],
        [SEEN],
    )
    log = LogTail()

    answer = await answered(box)

    assert answer.option_index == 1
    assert order(log) == "ooVo"
    assert "The look could not be made: nothing of the video, which runs" in sent(box)[1].text
    assert [event["error"] for event in log.of("tool")] == ["invalid_window", None]


async def test_rates_out_of_bounds_and_long_videos_are_thinned_with_a_remark(
    tmp_path: Path,
) -> None:
    workers = StubWorkers()
    options = {**FAITHFUL, "frames_low": 60}
    box = cell(
        tmp_path,
        [plan(fps=40), review(True, 0.9, "B")],
        [SEEN],
        options,
        workers=workers,
        info={"duration_s": 600.0, "has_audio": False},
    )

    await answered(box, options)

    (times_s,) = workers.calls
    assert (len(times_s), times_s[0], times_s[-1]) == (60, 0.0, 600.0)


@pytest.mark.parametrize(("rate", "frames"), [("low", 512), ("medium", 128)])
async def test_the_published_frames_of_a_look_go_by_resolution(
    tmp_path: Path, rate: str, frames: int
) -> None:
    box, log = (
        cell(
            tmp_path,
            [plan(fps=5, spatial_token_rate=rate), review(True, 0.9, "B")],
            [SEEN],
            info={"duration_s": 600.0, "has_audio": False},
        ),
        LogTail(),
    )

    await answered(box)

    assert len(log.of("tool")[0]["frames"]) == frames


async def test_frames_are_bounded_by_tokens_where_not_faithful(tmp_path: Path) -> None:
    options = {"observation_tokens": 3080, "second_look": False}
    box, log = (
        cell(
            tmp_path,
            [plan(fps=5, **MEDIUM), review(True, 0.9, "B")],
            [SEEN],
            options,
        ),
        LogTail(),
    )

    await answered(box, options)

    # 640 x 360 pixels are 307.2 tokens, so 308.
    assert len(log.of("tool")[0]["frames"]) == 10


async def test_the_same_replies_give_the_same_trajectory(tmp_path: Path) -> None:
    def without_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {
                name: value
                for name, value in event.items()
                if name not in {"latency_s", "seconds", "charged_s", "call_id", "freshness"}
            }
            for event in events
        ]

    seen: list[object] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        box = cell(
            tmp_path / name,
            [plan(), review(False, 0.3), plan(fps=2), review(True, 0.9, "B")],
            [report("haze"), SEEN],
        )
        log = LogTail()
        answer = await answered(box)
        seen.append((
            answer,
            [request.text for role in ("orchestrator", "observer") for request in sent(box, role)],
            [without_times(log.of(source)) for source in ("model", "tool", "primitive", "note")],
        ))

    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("limits", "resource", "steps", "calls"),
    [
        (Limits(turns=1), "turns", [verdict("C")], "o"),
        (Limits(turns=2), "turns", [plan(), verdict("C")], "oVo"),
        (Limits(turns=3), "turns", [plan(), review(False, 0.1), verdict("C")], "oVoo"),
        (Limits(visible_calls=1), "visible_calls", [plan(), verdict("C")], "oVo"),
        (Limits(visible_calls=0), "visible_calls", [verdict("C")], "o"),
        (Limits(primitive_ops=2), "primitive_ops", [plan(), verdict("C")], "oVo"),
        (Limits(model_calls=3), "model_calls", [plan(), verdict("C")], "oVo"),
        (Limits(model_calls=2), "model_calls", [plan(), verdict("C")], "oo"),
        (Limits(frames=25), "frames", [plan(), verdict("C")], "oVo"),
    ],
)
async def test_a_budget_that_ends_forces_an_answer_from_what_is_known(
    tmp_path: Path, limits: Limits, resource: str, steps: list[Step], calls: str
) -> None:
    box, log = cell(tmp_path, steps, [SEEN], limits=limits), LogTail()

    answer = await answered(box)

    assert (answer.status, answer.option_index) == ("answered", 2)
    assert (answer.forced, answer.limit) == (True, resource)
    assert log.of("note")[-1] == {"text": f"forced answer: the budget of {resource} is used up"}
    assert order(log) == calls


async def test_asking_again_leaves_the_turn_of_the_answer(tmp_path: Path) -> None:
    box = cell(tmp_path, ["?", "?", verdict("C")], [SEEN], limits=Limits(turns=3))

    answer = await answered(box)

    assert (answer.option_index, answer.limit) == (2, "turns")
    assert len(sent(box)) == 3


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        (Limits(tokens=20), "tokens"),
        (Limits(latency_s=0.5), "latency_s"),
        (Limits(turns=0), "turns"),
    ],
)
async def test_what_leaves_no_call_for_an_answer_is_a_limit(
    tmp_path: Path, limits: Limits, resource: str
) -> None:
    seen = says(SEEN)
    seen.metadata = {"charged_s": 1.0}
    box = cell(tmp_path, [plan(), review(True, 0.9, "B")], [seen], limits=limits)

    answer = await answered(box)

    assert (answer.status, answer.option_index, answer.limit) == ("limit", None, resource)


@pytest.mark.parametrize("role", ["orchestrator", "observer"])
async def test_a_failing_provider_is_never_an_answer(tmp_path: Path, role: str) -> None:
    failure = HttpError(500)
    fails = [failure] * 2
    box = cell(
        tmp_path,
        [plan(), *(fails if role == "orchestrator" else [verdict("A")])],
        [SEEN] if role == "orchestrator" else fails,
    )

    with pytest.raises(HttpError):
        await answered(box)

    assert box.failure is failure


async def test_an_empty_reply_is_never_an_answer(tmp_path: Path) -> None:
    box = cell(tmp_path, [plan(), empty(), empty()], [SEEN])

    with pytest.raises(ProviderReplyError):
        await answered(box)


@pytest.mark.parametrize("faithful", [True, False])
async def test_the_goal_of_the_plan_reaches_the_observer_only_where_not_faithful(
    tmp_path: Path, faithful: bool
) -> None:
    options = {"faithful": faithful, "second_look": False}
    box = cell(tmp_path, [plan(), review(True, 0.9, "B")], [SEEN], options)

    await answered(box, options)

    assert ("find the circle" in sent(box, "observer")[0].text) is not faithful


async def test_a_video_of_one_second_can_be_looked_at(tmp_path: Path) -> None:
    box, log = (
        cell(
            tmp_path,
            [plan(load_mode="region", regions=[[0, 30]]), review(True, 0.9, "B")],
            [report("blue", (0, 5, "blue"))],
            info={"duration_s": 1.0, "has_audio": False},
        ),
        LogTail(),
    )

    answer = await answered(box)

    assert answer.option_index == 1
    assert log.of("tool")[0]["frame_times_s"] == [0.0, 1.0]
    assert "- 0.0-1.0 s: blue" in sent(box)[-1].text


async def test_speech_stands_before_the_observer_where_frames_are_silent(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1, 2.5, "turn left"), (9, 10, "go on"), (20, 21, "the end"))
    options = {"second_look": False}
    box = cell(
        tmp_path,
        [plan(load_mode="region", regions=[[0, 5], [12, 15]]), review(True, 0.9, "B")],
        [SEEN],
        options,
        subtitles_path=speech,
        info={},
    )
    log = LogTail()

    await answered(box, options)

    told = sent(box, "observer")[0].text
    assert "The frames are silent. What is said in these parts, as a machine heard it" in told
    assert "[1.0-2.5 s] turn left" in told
    assert "go on" not in told
    assert "the end" not in told
    assert [event["operation"] for event in log.of("primitive")] == [
        "extract_video_parts",
        "transcribe_speech",
        "analyze",
    ]


async def test_without_a_transcript_the_observer_is_told_that_it_hears_nothing(
    tmp_path: Path,
) -> None:
    box = cell(tmp_path, [plan(), review(True, 0.9, "B")], [SEEN], info={})

    await answered(box)

    told = sent(box, "observer")[0].text
    assert "The frames are silent: you hear nothing of what is said" in told
    assert SPEC.roles_for(SPEC.checked(FAITHFUL)) == ("orchestrator", "observer")
    assert "transcriber" in SPEC.roles_for(SPEC.checked({}))
