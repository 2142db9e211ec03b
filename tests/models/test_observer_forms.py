"""What the offline observer writes into the forms of the agents' tools."""

from __future__ import annotations

import json

import pytest
from inspect_ai.model import ChatMessageUser, Content, ContentText
from pydantic import BaseModel, JsonValue
from tests.models.conftest import frame_parts
from tests.models.forms_of_agents import COUNT, EVIDENCE, FRAMES, WORD, Asking, asked

from taketwo.media.store import MediaStore
from taketwo.models.grid_tiles import apart
from taketwo.models.request_media import SentFrame
from taketwo.tools.analyze import Judgement
from taketwo.tools.avp_evidence import ObservationForm
from taketwo.tools.clip_index import ClipCaption, SubjectRegistry
from taketwo.tools.fencing import fence
from taketwo.tools.grounding import Grounding
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_forms import (
    FrameAnswers,
    FrameCounts,
    GridAnswer,
    PatchChoice,
    grid_span,
    segment_choice,
)
from taketwo.tools.star_pictures import grid_picture
from taketwo.tools.structured import form_request

EVERY = tuple(FRAMES)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    return Asking(store=tmp_path_factory.mktemp("measured"))


def test_an_observation_lists_what_was_measured_and_the_stretches_that_matter(ask: Asking) -> None:
    seen = ask.in_form("observer", ObservationForm, asked(COUNT), times_s=EVERY)

    assert '[0.0-2.0 s] text "EXIT"' in seen.detailed_response
    assert "[4.0-6.0 s] 2 red circles" in seen.detailed_response
    assert "people, actions, objects and places are not seen" in seen.detailed_response
    assert (4.0, 6.0, "2 red circles") in {
        (one.timestamp_start, one.timestamp_end, one.description) for one in seen.key_evidence
    }
    assert seen.reasoning.startswith("Measured in 5 frames:")


def test_an_observation_reports_its_own_frames_and_not_the_reports_of_others(ask: Asking) -> None:
    earlier = fence("earlier reports", '[20.0 s] text "TABLE"')

    seen = ask.in_form("observer", ObservationForm, f"{asked(WORD)}\n\n{earlier}", times_s=(8.0,))

    assert "TABLE" not in seen.model_dump_json()
    assert [one.description for one in seen.key_evidence] == ['text "STONE"']


def test_where_nothing_bears_on_the_question_the_observer_says_so(ask: Asking) -> None:
    question = "Question: What does the man in the hat carry?"

    seen = ask.in_form("observer", ObservationForm, question, times_s=(0.0,))

    assert seen.key_evidence == []
    assert seen.detailed_response.startswith("Nothing here bears on the question")


@pytest.mark.parametrize(
    ("event", "span"),
    [
        ("the word LAMP is on screen", (4.0, 6.0)),
        ("two red circles can be seen", (4.0, 6.0)),
        ("STONE", (8.0, 8.0)),
        ("a dog runs over the beach", None),
        ("blue circles", None),
    ],
)
def test_an_event_is_where_its_words_and_shapes_are_seen(
    ask: Asking, event: str, span: tuple[float, float] | None
) -> None:
    text = f"Event:\n{fence('event', event)}\n\nThe frames come from 0.0 s to 8.0 s."

    found = ask.in_form("observer", Grounding, text, times_s=EVERY)

    assert found.found == (span is not None)
    if span is not None:
        assert (found.start_s, found.end_s) == span
    else:
        assert (found.start_s, found.end_s) == (None, None)
        assert found.description.startswith("not recognised in 5 frames; seen instead:")


def test_single_frames_answer_for_themselves(ask: Asking) -> None:
    text = f"What is asked of each frame:\n{fence('input', 'How many red circles can be seen?')}"

    told = ask.in_form("observer", FrameAnswers, text, times_s=EVERY)

    assert [one.time_s for one in told.answers] == list(EVERY)
    assert told.answers[0].answer == "not visible"
    assert told.answers[2].answer.startswith("2 red circles (confidence ")


def test_single_frames_are_counted_in(ask: Asking) -> None:
    text = f"What to count:\n{fence('input', 'red circle')}"

    counted = ask.in_form("observer", FrameCounts, text, times_s=EVERY)

    assert [(one.time_s, one.count) for one in counted.counts] == [
        (0.0, 0), (2.0, 0), (4.0, 2), (6.0, 2), (8.0, 0),
    ]  # fmt: skip


def test_what_cannot_be_recognised_is_counted_as_none(ask: Asking) -> None:
    text = f"What to count:\n{fence('input', 'dog')}"

    counted = ask.in_form("observer", FrameCounts, text, times_s=(4.0,))

    assert [one.count for one in counted.counts] == [0]


def test_a_patch_is_chosen_by_where_the_text_stands(ask: Asking) -> None:
    wanted = f"What is looked for:\n{fence('input', 'the word EXIT')}"
    other = f"What is looked for:\n{fence('input', 'a red ball')}"

    assert ask.in_form("observer", PatchChoice, wanted, times_s=(0.0,)).patch == "bottom left"
    assert ask.in_form("observer", PatchChoice, other, times_s=(0.0,)).patch == "none"


def test_a_judgement_answers_a_question_only_by_what_was_seen(ask: Asking) -> None:
    count = f"Request:\n{fence('request', 'How many red circles are shown?')}"
    theme = f"Request:\n{fence('request', 'the man in the hat')}"

    seen = ask.in_form("observer", Judgement, count, times_s=(4.0, 6.0))
    unseen = ask.in_form("observer", Judgement, theme, times_s=(4.0, 6.0))

    assert (seen.answerable, seen.final_answer) == (True, "2")
    assert (unseen.answerable, unseen.final_answer) == (False, None)


def test_a_caption_names_the_subjects_and_writes_lines_that_can_be_read_back(ask: Asking) -> None:
    text = f"Clip 1 of 3, from 00:00:00 (0.0 s) to 00:00:10 (10.0 s).\n\n{fence('speech', '-')}"

    clip = ask.in_form("observer", ClipCaption, text, times_s=EVERY)

    assert (clip.clip_start_time, clip.clip_end_time) == ("00:00:00", "00:00:10")
    assert '[8.0 s] text "STONE"' in clip.clip_description.splitlines()
    circle = clip.subject_registry["red_circle"]
    assert (circle.name, circle.appearance, circle.first_seen) == (
        "red circle",
        ["2 red circles"],
        "00:00:04",
    )


def test_registries_are_merged_by_name_and_nothing_is_added(ask: Asking) -> None:
    first: dict[str, JsonValue] = {
        "a": {"name": "EXIT", "appearance": ["white"], "first_seen": "00:00:04"}
    }
    second: dict[str, JsonValue] = {
        "a": {"name": "LAMP", "appearance": [], "identity": ["sign"], "first_seen": "00:00:12"},
        "b": {"name": "EXIT", "appearance": [], "identity": [], "first_seen": "00:00:02"},
    }
    listed = fence("registries", f"{json.dumps(first)}\n{json.dumps(second)}")

    merged = ask.in_form("observer", SubjectRegistry, f"2 registries, one a line:\n{listed}")

    assert {one.name: one.first_seen for one in merged.subject_registry.values()} == {
        "EXIT": "00:00:02",
        "LAMP": "00:00:12",
    }


def test_segments_are_chosen_by_the_place_that_the_question_names(ask: Asking) -> None:
    text = "\n\n".join([
        f"What is looked for:\n{fence('input', 'the next word')}",
        f"What is known of them:\n{fence('known', EVIDENCE)}",
        "Unseen segments:\n1: 0.0-3.0 s\n2: 3.0-6.0 s\n3: 12.0-24.0 s",
        f"For context:\n{asked(WORD)}",
    ])

    # After EXIT, which ends at 2 s, means up to 6 s later.
    assert ask.in_form("observer", segment_choice(3), text).segments == [1, 2]


def test_an_observer_without_frames_reports_what_the_texts_say_about_the_request(
    ask: Asking,
) -> None:
    clips = f"[00:00:00-00:00:10] {EVIDENCE.partition(chr(10))[2]}\nSaid: the boat leaves at noon"
    text = f"Request:\n{fence('query', 'red circles')}\n\n{fence('clips', clips)}"

    said = ask.says("observer", [ChatMessageUser(content=text)]).splitlines()

    assert said[:2] == ["[4.0-6.0 s] 2 red circles", "[4.0-7.0 s] 2 red circles"]
    assert '[8.0 s] text "STONE"' in said
    assert "[0.0-10.0 s] the boat leaves at noon" in said


def grid_request(wanted: str) -> str:
    tiles = ", ".join(f"{number} at {time:.2f} s" for number, time in enumerate(EVERY, start=1))
    return f"What is looked for:\n{fence('input', wanted)}\n\nTiles: {tiles}."


def in_grid(ask: Asking, form: type[BaseModel], wanted: str, picture: bytes) -> dict[str, object]:
    content: list[Content] = [
        ContentText(text=f"{grid_request(wanted)}\n\n{form_request(form)}"),
        *frame_parts(0.0, picture),
    ]
    return json.loads(ask.says("observer", [ChatMessageUser(content=content)]))


def test_a_grid_is_taken_apart_into_its_tiles_and_their_times(ask: Asking, grid: bytes) -> None:
    span = in_grid(ask, grid_span(5), "red circles", grid)
    told = in_grid(ask, GridAnswer, "red circles", grid)

    assert (span["start"], span["end"]) == (3, 4)
    assert told["answer"] == "[4.0-6.0 s] 2 red circles"


def test_a_grid_in_which_nothing_is_found_is_chosen_as_a_whole(ask: Asking, grid: bytes) -> None:
    span = in_grid(ask, grid_span(5), "a dog", grid)

    assert (span["start"], span["end"]) == (1, 5)


def test_a_list_of_tiles_inside_a_fence_takes_nothing_apart() -> None:
    frame = SentFrame(
        time_s=0.0, data=FRAMES[0.0], sha256="0" * 64, media_type="image/jpeg", message_index=0
    )
    text = grid_request("x")

    assert apart([frame], fence("notes", text)) == [frame]
    assert apart([frame], text.replace("2 at", "7 at")) == [frame]
    assert len(apart([frame], text)) == 5


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    frames = [
        SeenFrame(time_s=time, requested_s=time, jpeg=jpeg, sha256="0" * 64, is_corrupt=False)
        for time, jpeg in FRAMES.items()
    ]
    return grid_picture(frames, MediaStore(tmp_path_factory.mktemp("grid"))).jpeg
