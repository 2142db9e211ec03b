from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from tests.cells import COLOURS, LogTail, subtitles
from tests.tools.star_cells import answers, asked, call, star_cell, times, visible

from taketwo.tools.budget import Limits
from taketwo.tools.star_frames import StarState

EXTRACT, GROUND = "frame-extraction-tool", "temporal-grounding-tool"
TELL, REFER, SPEECH = "temporal-qa-tool", "temporal-referring-tool", "transcript-tool"


def found(start_s: float, end_s: float) -> str:
    return json.dumps({
        "found": True,
        "start_s": start_s,
        "end_s": end_s,
        "description": "it falls",
    })


# Frame extraction


async def test_chosen_segments_get_a_frame_a_second_between_their_ends(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ['{"analysis": "a", "segments": [2]}'], start_frames=4)

    result = await call(box, EXTRACT, "the fall")

    assert times(box) == [0.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 24.0]
    assert result.reply.fields == {
        "chosen segments": "8.0-16.0 s",
        "new frames": "7",
        "times": "9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0 s",
    }
    (request,) = asked(box)
    assert request.images == []
    assert "Unseen segments:\n1: 0.0-8.0 s\n2: 8.0-16.0 s\n3: 16.0-24.0 s" in request.text
    assert "What is looked for:\n<<<UNTRUSTED focus\nthe fall\n>>>UNTRUSTED" in request.text
    assert box.state.get(StarState).ranges == [(8.0, 16.0)]


async def test_what_is_known_of_frames_stands_before_the_choice(tmp_path: Path) -> None:
    box = star_cell(
        tmp_path,
        [answers(t0="red", t24="blue"), '{"segments": []}'],
        start_frames=2,
    )
    await call(box, "image-question-answering-tool", "Which colour?")

    result = await call(box, EXTRACT, "the change")

    assert "Asked: Which colour?\n  [0.0 s] red\n  [24.0 s] blue" in asked(box)[1].text
    assert result.reply.fields["chosen segments"] == "none"
    assert len(times(box)) == 2


@pytest.mark.parametrize(("max_frames", "added"), [(102, 50), (22, 16), (7, 5)])
async def test_one_call_takes_half_of_the_room_and_at_least_sixteen_where_they_fit(
    tmp_path: Path, max_frames: int, added: int
) -> None:
    box = star_cell(
        tmp_path,
        ['{"segments": [1, 1]}'],
        start_frames=2,
        max_frames=max_frames,
        info={"duration_s": 1000.0},
    )

    result = await call(box, EXTRACT, "x")

    assert result.reply.fields["new frames"] == f"{added} of 999 at one a second"
    found = times(box)
    assert (len(found), found[1], found[-2]) == (2 + added, 1.0, 999.0)


async def test_at_the_cap_no_model_is_asked_and_the_reason_is_said(tmp_path: Path) -> None:
    box = star_cell(tmp_path, start_frames=2, max_frames=2)

    result = await call(box, EXTRACT, "x")

    assert "no room: 2 frames are visible, which is all that may be" in result.message.text
    assert asked(box) == []


async def test_without_unseen_seconds_no_model_is_asked(tmp_path: Path) -> None:
    box = star_cell(tmp_path, info={"duration_s": 5.0})

    result = await call(box, EXTRACT, "x")

    assert "no second of the video is unseen" in result.message.text
    assert asked(box) == []


@pytest.mark.parametrize(
    "reply", ['{"segments": [4]}', '{"segments": [0]}', '{"segments": "1"}', "1"]
)
async def test_segments_that_do_not_exist_add_nothing(tmp_path: Path, reply: str) -> None:
    box = star_cell(tmp_path, [reply] * 3, start_frames=4)

    result = await call(box, EXTRACT, "x")

    assert result.failure is not None
    assert result.failure.code == "no_usable_reply"
    assert len(times(box)) == 4


# Grounding


async def test_a_grounded_event_becomes_visible_and_the_tool_says_it_is_degraded(
    tmp_path: Path,
) -> None:
    box = star_cell(tmp_path, [found(9.0, 12.0), found(9.2, 12.4)], start_frames=2)
    log = LogTail()

    result = await call(box, GROUND, "a ball falls")

    assert result.reply.fields["mode"].startswith(
        "degraded: found by the observer on sampled frames"
    )
    assert result.reply.fields["found"] == "yes"
    event = result.reply.fields["event"]
    start_s, end_s = (float(part) for part in event.removesuffix(" s").split("-"))
    added = [time for time in times(box) if time not in {0.0, 24.0}]
    assert (added[0], added[-1]) == (start_s, end_s)
    assert all(after - before <= 1.0 for before, after in pairwise(added))
    assert result.reply.untrusted == {"description": "it falls"}
    assert len(asked(box)[0].images) == 49
    assert [e["operation"] for e in log.of("primitive")][1] == "ground_event"


async def test_an_event_that_is_not_seen_adds_nothing(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ['{"found": false, "description": "a wall"}'], start_frames=2)

    result = await call(box, GROUND, "a ball falls")

    assert result.reply.fields["found"] == "no"
    assert times(box) == [0.0, 24.0]


async def test_a_long_video_is_searched_with_at_most_96_frames(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ['{"found": false}'], start_frames=2, info={"duration_s": 1800.0})

    await call(box, GROUND, "a ball falls")

    assert len(asked(box)[0].images) == 96


async def test_a_found_event_returns_into_the_focus(tmp_path: Path) -> None:
    box = star_cell(
        tmp_path, ['{"start": 1, "end": 2}', found(16.0, 24.0)], start_frames=4, max_frames=4
    )
    await call(box, "image-grid-select-tool", "the start")
    assert [frame.time_s for frame in visible(box).focused] == [0.0, 8.0]

    result = await call(box, GROUND, "the end")

    assert [frame.time_s for frame in visible(box).focused] == [0.0, 8.0, 16.0, 24.0]
    assert result.reply.fields["room"] == "none left: 4 frames are visible"


# Stretches


async def test_a_stretch_that_is_named_is_looked_at_with_32_frames(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ["A ball falls at 5.0 s."])

    result = await call(box, TELL, "What happens from 4 to 8 seconds?")

    (request,) = asked(box)
    assert len(request.images) == 32
    assert "[frame at 4.00 s]" in request.text
    assert "[frame at 8.00 s]" in request.text
    assert result.reply.fields["looked at"] == "4.0-8.0 s"
    assert result.reply.fields["mode"].startswith("degraded: answered by the observer")
    assert result.reply.untrusted == {"answer": "A ball falls at 5.0 s."}
    assert len(visible(box).all) == 16
    assert not any(frame.answers or frame.notes for frame in visible(box).all)


async def test_without_a_stretch_the_visible_frames_are_looked_at(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ["It turns."], start_frames=40)

    result = await call(box, TELL, "What happens?")

    assert len(asked(box)[0].images) == 32
    assert result.reply.fields["looked at"] == "visible frames from 0.0 s to 24.0 s"


async def test_a_referred_second_is_looked_at_from_eight_seconds_around(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ["It falls.", "It lies."])

    first = await call(box, REFER, "What happens at 12 seconds?")
    last = await call(box, REFER, "What happens at 24 seconds?")

    assert first.reply.fields["looked at"] == "4.0-20.0 s"
    assert last.reply.fields["looked at"] == "16.0-24.0 s"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What happens?", "invalid_arguments"),
        ("", "invalid_arguments"),
        ("What happens at 900 seconds?", "invalid_window"),
        ("from 100 to 200 seconds", "invalid_window"),
    ],
)
async def test_a_second_that_is_none_of_the_video_is_refused(
    tmp_path: Path, text: str, code: str
) -> None:
    box = star_cell(tmp_path)

    result = await call(box, REFER, text)

    assert result.failure is not None
    assert result.failure.code == code
    assert box.failure is None


async def test_a_long_report_is_cut_and_says_so(tmp_path: Path) -> None:
    box = star_cell(tmp_path, ["z" * 9000])

    result = await call(box, TELL, "What happens?")

    assert result.reply.truncated
    assert "cut after 6000 of 9000 characters" in result.message.text


async def test_a_spent_budget_of_frames_is_an_error_of_the_tool(tmp_path: Path) -> None:
    box = star_cell(tmp_path, limits=Limits(frames=0))

    for tool, text in ((TELL, "what?"), (REFER, "at 3 seconds"), (GROUND, "a fall")):
        result = await call(box, tool, text)
        assert result.failure is not None
        assert result.failure.code == "budget_exhausted"


# Speech


async def test_speech_is_returned_for_the_stretch_that_is_named(tmp_path: Path) -> None:
    spoken = subtitles(tmp_path, (1.0, 2.0, "hello"), (10.0, 12.0, "the red one"))
    box = star_cell(tmp_path, subtitles_path=spoken)

    whole = await call(box, SPEECH, "red")
    part = await call(box, SPEECH, "from 0 to 5 seconds")
    nothing = await call(box, SPEECH, "from 15 to 20 seconds")

    assert whole.reply.untrusted["transcript"] == "[1.0-2.0 s] hello\n[10.0-12.0 s] the red one"
    assert part.reply.untrusted["transcript"] == "[1.0-2.0 s] hello"
    assert nothing.reply.fields["note"] == "nothing is said there"


async def test_of_long_speech_the_segments_with_the_words_are_returned(tmp_path: Path) -> None:
    lines = [(n * 0.5, n * 0.5 + 0.4, f"word{n} " + "filler " * 20) for n in range(100)]
    lines[40] = (20.0, 20.4, "the score is seven " + "filler " * 20)
    box = star_cell(tmp_path, subtitles_path=subtitles(tmp_path, *lines), info={"duration_s": 60.0})

    result = await call(box, SPEECH, "score")

    shown = result.reply.untrusted["transcript"].splitlines()
    assert [line.split("]")[0] for line in shown] == [
        "[19.5-19.9 s",
        "[20.0-20.4 s",
        "[20.5-20.9 s",
    ]
    assert result.reply.truncated
    assert result.reply.fields["shown"].startswith("1 segments that have most words")


async def test_a_silent_video_has_no_transcript_tool(tmp_path: Path) -> None:
    box = star_cell(tmp_path, info={"has_audio": False})

    result = await call(box, SPEECH, "red")

    assert SPEECH not in {tool.name for tool in box.working_tools()}
    assert result.failure is not None
    assert result.failure.code == "unavailable"


async def test_the_first_frames_become_visible_with_the_first_tool_whoever_calls_it(
    tmp_path: Path,
) -> None:
    box = star_cell(tmp_path, ["nothing"], question=COLOURS)

    await call(box, TELL, "What happens?")

    assert len(times(box)) == 16
    assert (times(box)[0], times(box)[-1]) == (0.0, 24.0)
    assert {frame.origin for frame in visible(box).all} == {"start"}
