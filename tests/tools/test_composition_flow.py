from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from tests.tools.compositions import LOOK, changed, checked, shipped

from taketwo.tools.composition_flow import fingerprint, notation, stages

# Table 2 of the REPAIR paper, with the number of primitive calls.
PUBLISHED = {
    "visual_verbal": ("{Extract, Transcribe}", 2),
    "topic_speech": ("Ground -> Transcribe", 2),
    "visual_detail": ("Extract -> Analyze", 2),
    "mcq_evidence": ("{Extract, Transcribe} -> Analyze", 3),
    "event_detail": ("Ground -> Extract -> Analyze", 3),
}

BOTH: dict[str, Any] = {
    "name": "both",
    "description": "Both.",
    "guidance": "Both.",
    "parameters": {"window": {"type": "window", "required": False}},
    "steps": [
        {"id": "a", "do": "extract_video_parts", "with": {"window": "$window"}},
        {"id": "b", "do": "transcribe_speech", "with": {"window": "$window"}},
        {"id": "c", "do": "web_search", "with": {"query": "weather"}},
        {
            "id": "d",
            "do": "analyze",
            "with": {
                "focus": "doors",
                "frames": "$a.frames",
                "transcript": "$b.transcript",
                "notes": "$c.documents",
            },
        },
    ],
    "evidence": {"observations": "$d.observations"},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_shipped_tools_are_the_published_compositions(name: str) -> None:
    line, depth = PUBLISHED[name]

    assert notation(shipped(name)) == line
    assert len(shipped(name).steps) == depth == shipped(name).depth


def test_the_five_differ_in_their_flow() -> None:
    assert len({fingerprint(shipped(name)) for name in PUBLISHED}) == 5


def test_the_order_of_independent_steps_does_not_matter() -> None:
    first, rest = BOTH["steps"][:3], BOTH["steps"][3:]

    prints = {
        fingerprint(checked(changed(BOTH, steps=[*order, *rest]))) for order in permutations(first)
    }

    assert len(prints) == 1


def test_names_texts_and_literals_do_not_matter() -> None:
    other = changed(
        name="peer",
        description="Other words.",
        guidance="Other words.",
        parameters={
            "part": {"type": "window", "required": False},
            "event": {"type": "text", "description": "x", "max_length": 50},
        },
        steps=[
            {"id": "x", "do": "ground_event", "with": {"event": "$event", "window": "$part"}},
            {
                "id": "y",
                "do": "extract_video_parts",
                "with": {"window": "$x.window", "count": 9, "resolution": "high"},
            },
            {
                "id": "z",
                "do": "analyze",
                "with": {"focus": "$event", "frames": "$y.frames", "task": "List."},
            },
        ],
        evidence={"report": "$z.observations", "pictures": "$y.frames"},
    )

    assert fingerprint(checked(other)) == fingerprint(checked())


@pytest.mark.parametrize(
    "change",
    [
        {"steps__1__when": []},
        {"steps__2__when": ["$found.found"]},
        {"steps__2__when": ["$found.window", "$pictures.frames"]},
    ],
)
def test_a_condition_that_the_data_imply_does_not_matter(change: dict[str, Any]) -> None:
    assert fingerprint(checked(**change)) == fingerprint(checked())


@pytest.mark.parametrize(
    "change",
    [
        {"steps__0__with__event": "a door"},  # a fixed event instead of the caller's
        {"steps__1__with__window": "$window"},  # not only where it was found
        {"steps__2__with__focus": "$found.description"},
        {"steps__2__unless": ["$found.description"]},
        {"steps__1__with": {"count": 3}},  # the whole video
        {"steps__2__with__notes": "$found.description"},
        {"steps__2__with__frames": ["$pictures.frames", "$found.frames"]},
        {"parameters__thing__type": "texts", "steps__0__with__event": "a door"},
    ],
)
def test_another_flow_is_another_fingerprint(change: dict[str, Any]) -> None:
    assert fingerprint(checked(**change)) != fingerprint(checked())


def test_a_condition_that_decides_something_matters() -> None:
    plain = changed(BOTH)
    careful = changed(BOTH, steps__2__unless=["$b.transcript"])

    assert fingerprint(checked(plain)) != fingerprint(checked(careful))


def test_two_like_steps_are_told_apart_by_what_they_feed() -> None:
    extract = {"do": "extract_video_parts", "with": {"window": "$window"}}
    steps = [
        {"id": "a", **extract},
        {"id": "b", **extract},
        {"id": "c", "do": "analyze", "with": {"focus": "x", "frames": "$a.frames"}},
        {"id": "d", "do": "analyze", "with": {"focus": "x", "frames": "$b.frames"}},
    ]
    evidence = {"one": "$c.observations", "two": "$d.observations", "frames": "$b.frames"}
    apart = changed(BOTH, steps=steps, evidence=evidence)
    same = changed(apart, steps__3__with__frames="$a.frames")
    mirrored = changed(
        apart, steps__2__with__frames="$b.frames", steps__3__with__frames="$a.frames"
    )

    assert fingerprint(checked(apart)) != fingerprint(checked(same))
    assert fingerprint(checked(apart)) == fingerprint(checked(mirrored))


def test_a_repeated_operation_counts() -> None:
    twice = changed(
        LOOK,
        steps__3={
            "id": "again",
            "do": "analyze",
            "with": {"focus": "$thing", "frames": "$pictures.frames"},
        },
        evidence__more="$again.observations",
    )

    assert fingerprint(checked(twice)) != fingerprint(checked())
    assert notation(checked(twice)) == "Ground -> Extract -> {Analyze, Analyze}"


def test_a_step_stands_in_the_stage_after_the_last_one_that_it_needs() -> None:
    assert stages(checked(BOTH)) == (("a", "b", "c"), ("d",))
    assert stages(checked(changed(BOTH, steps__2__unless=["$b.transcript"]))) == (
        ("a", "b"),
        ("c",),
        ("d",),
    )
