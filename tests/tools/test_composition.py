from __future__ import annotations

from typing import Any

import pytest
from tests.tools.compositions import DROP, LOOK, changed, checked, library_text

from taketwo.errors import DataError
from taketwo.tools.composition import Reference
from taketwo.tools.composition_forms import OPERATIONS, operations_text
from taketwo.tools.library import read_library


def test_a_composition_without_a_fault_is_read() -> None:
    look = checked()

    assert look.operations == ("ground_event", "extract_video_parts", "analyze")
    assert look.type_of(Reference(name="thing")) == "text"
    assert look.type_of(Reference(name="found", field="window")) == "window"
    assert look.type_of(Reference(name="found", field="frame")) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"steps__0__do": "watch"},
            r"steps\.0 \(found\)\.do: Input should be 'extract_video_parts'",
        ),
        ({"steps__0__id": "Found"}, r"steps\.0 \(Found\)\.id: String should match pattern"),
        ({"steps__1__speed": 2}, r"steps\.1 \(pictures\)\.speed: Extra inputs are not permitted"),
        ({"steps": []}, r"steps: .*at least 1 item"),
        ({"description": ""}, r"description: String should have at least 1 character"),
        ({"name": "Look"}, r"name: String should match pattern"),
        (
            {"steps__1__with__count": {"a": 1}},
            r"steps\.1 \(pictures\)\.with\.count: must be a text, a number, a reference",
        ),
        ({"steps__1__with__count": True}, r"steps\.1 \(pictures\)\.with\.count: must be a"),
        ({"parameters__thing__type": "question"}, r"parameters\.thing\.type: Input should be 'wi"),
        ({"steps__0__with__event": DROP}, r"steps\.0 \(found\)\.with: ground_event needs 'event'"),
        (
            {"steps__0__with__when": "x"},
            r"steps\.0 \(found\)\.with\.when: ground_event takes event",
        ),
        (
            {"steps__1__with__window": "$found.windw"},
            r"there is no \$found\.windw; known are \$window, \$thing, \$found\.found, \$found\.wi",
        ),
        ({"steps__1__with__window": "$thing"}, r"\$thing is text, wanted is window"),
        (
            {"steps__0__with__window": "$pictures.window"},
            r"\$pictures\.window is not known yet; a step can use earlier steps only",
        ),
        ({"steps__0__with__window": "$found.window"}, r"is not known yet"),
        ({"steps__1__with__window": "0-10"}, r"takes a reference to window, found '0-10'"),
        ({"steps__0__with__event": "$thing!"}, r"'\$thing!' is no reference; write \$parameter"),
        ({"steps__1__with__count": "$thing"}, r"is written out, not referred to; found '\$thing'"),
        ({"steps__1__with__count": 65}, r"with\.count: must be a whole number from 1 to 64"),
        ({"steps__1__with__count": 2.5}, r"with\.count: must be a whole number from 1 to 64"),
        ({"steps__1__with__margin_s": -1}, r"margin_s: must be a number from 0 to 60, found -1"),
        ({"steps__1__with__margin_s": 1e9}, r"margin_s: must be a number from 0 to 60"),
        ({"steps__1__with__resolution": "4k"}, r"must be one of low, medium, high, found '4k'"),
        ({"steps__0__with__event": "a" * 301}, r"has 301 characters, at most 300 are allowed"),
        ({"steps__0__with__event": "a\nb"}, r"with\.event: must stand on one line"),
        ({"steps__1__with__window": ["$window"]}, r"takes one value, found a list"),
        ({"steps__2__with__frames": []}, r"with\.frames: the list is empty"),
        ({"steps__2__with__frames": DROP}, r"needs at least one of frames, transcript, notes"),
        ({"steps__1__when": ["found"]}, r"when: 'found' is no reference such as \$step\.field"),
        ({"steps__1__when": ["$found.seen"]}, r"when: there is no \$found\.seen"),
        ({"steps__1__unless": ["$found.found"]}, r"stands under when and unless, so the step neve"),
        ({"steps__1__id": "found"}, r"an earlier step has the same id"),
        ({"steps__0__id": "thing"}, r"a parameter has the same name; rename the step"),
        ({"evidence": {}}, r"evidence: .*at least 1 item"),
        ({"evidence__observations": "$thing"}, r"'\$thing' is no result of a step"),
        ({"evidence__observations": "$report.text"}, r"evidence\.observations: there is no \$repo"),
        (
            {"evidence__observations": "$found.found"},
            r"steps\.2 \(report\): no evidence depends on",
        ),
        ({"parameters__more": {"type": "text", "description": "x"}}, r"more: no step uses it"),
        ({"parameters__thing__description": ""}, r"parameters\.thing: has no description"),
        ({"depth": 2}, r"depth: says 2, the composition has 3 primitive steps"),
        (
            {
                "parameters__start_time": {"type": "text", "description": "x"},
                "steps__2__with__focus": "$start_time",
            },
            r"parameters\.start_time: its argument 'start_time' is also one of 'window'",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_library(library_text(changed(**changes)), "own.json")

    assert str(raised.value).startswith("library own.json: ")


@pytest.mark.parametrize("name", ["question", "user_question", "query", "the_query", "q", "prompt"])
def test_no_parameter_takes_the_question(name: str) -> None:
    record = changed(
        **{f"parameters__{name}": {"type": "text", "description": "What to find"}},
        parameters__thing=DROP,
        steps__0__with__event=f"${name}",
        steps__2__with__focus=f"${name}",
    )

    with pytest.raises(DataError, match=rf"parameters\.{name}: a composite tool does not take the"):
        read_library(library_text(record), "own.json")


@pytest.mark.parametrize(
    "description", ["The user's question", "A question to answer", "the full question text"]
)
def test_no_description_asks_for_the_question(description: str) -> None:
    with pytest.raises(DataError, match="its description asks for the question"):
        checked(parameters__thing__description=description)


@pytest.mark.parametrize(
    "task",
    [
        "Say which option is right.",
        "Give the final answer.",
        "Report the most likely option.",
        "Choose one of the items.",
        "Answer the question from the frames.",
        "End with a verdict.",
    ],
)
def test_no_step_asks_for_a_verdict(task: str) -> None:
    with pytest.raises(
        DataError, match=r"with\.task: asks for a verdict \('.+'\); ask for observa"
    ):
        checked(steps__2__with__task=task)


@pytest.mark.parametrize(
    "task",
    [
        "Report how a person picks up the cup.",
        "List what speaks for each item and what against it.",
    ],
)
def test_a_task_for_observations_is_allowed(task: str) -> None:
    assert checked(steps__2__with__task=task).steps[2].literal("task") == task


@pytest.mark.parametrize("name", ["answer", "candidate_answer", "best_option", "verdict"])
def test_no_evidence_is_named_like_a_verdict(name: str) -> None:
    with pytest.raises(DataError, match=rf"evidence\.{name}: is named like a verdict"):
        checked(evidence={name: "$report.observations"})


def test_every_fault_is_told_at_once() -> None:
    record = changed(steps__1__with__count=0, evidence__answer="$report.observations", depth=8)

    with pytest.raises(DataError) as raised:
        read_library(library_text(record), "own.json")

    assert str(raised.value).splitlines() == [
        "library own.json: 3 problems, none of it is used",
        "  compositions.0 (look).steps.1 (pictures).with.count: must be a whole number from 1 to 64, "
        "found 0",
        "  compositions.0 (look).depth: says 8, the composition has 3 primitive steps; correct it or "
        "leave it out",
        "  compositions.0 (look).evidence.answer: is named like a verdict; name it for what it holds",
    ]


def test_the_canonical_form_writes_defaults_out_and_leaves_names_elsewhere_out() -> None:
    plain = checked()
    spelled = checked(
        aliases=["Look"],
        depth=3,
        steps__1__with__resolution="medium",
        steps__1__with__margin_s=0.0,
        parameters__thing__max_length=300,
    )

    assert spelled.canonical() == plain.canonical()
    assert spelled.sha256 == plain.sha256


@pytest.mark.parametrize(
    "change",
    [
        {"steps__1__with__count": 4},
        {"guidance": "Use it to see."},
        {"steps__1__when": []},
        {"evidence__frames": "$pictures.frames"},
        {"parameters__thing__max_length": 200},
        {"steps__2__with__task": "List colours."},
    ],
)
def test_whatever_changes_the_tool_changes_its_hash(change: dict[str, Any]) -> None:
    assert checked(**change).sha256 != checked().sha256


def test_the_table_for_writers_names_every_port_and_field() -> None:
    text = operations_text()

    for name, form in OPERATIONS.items():
        assert f"{name} gives" in text
        for part in (*form.ports, *form.fields):
            assert part in text
    assert (
        '  resolution: size of the frames; "low" or "medium" or "high"; default \'medium\'' in text
    )


def test_more_steps_than_are_allowed_are_refused() -> None:
    steps = [changed(LOOK["steps"][0], id=f"s{number}") for number in range(9)]

    with pytest.raises(DataError, match=r"steps: .*at most 8 items"):
        checked(steps=steps)
