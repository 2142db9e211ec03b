from __future__ import annotations

import gc
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.tools.compositions import LOOK, changed, checked, library_text, shipped

from taketwo.errors import DataError, UnknownName
from taketwo.tools.aliases import ALIASES, canonical_name
from taketwo.tools.catalog import TOOLS, tool_prompts
from taketwo.tools.composite_tool import composite_tool
from taketwo.tools.library import (
    SHIPPED_LIBRARIES,
    library_of,
    load_library,
    read_library,
)

PUBLISHED = {
    "VisualVerbal": "_extract_visual_and_verbal_details",
    "TopicSpeech": "_transcribe_topic_related_speech",
    "VisualDetail": "_reason_over_visual_details",
    "McqEvidence": "_aggregate_evidence_for_multiple_choice",
    "EventDetail": "_identify_and_describe_event",
}
YAML = """\
format: taketwo.library/1
name: own
compositions:
  - name: look
    description: Look at a thing.
    guidance: Use it to look.
    parameters:
      thing: {type: text, description: What to look at}
    steps:
      - {id: pictures, do: extract_video_parts, with: {count: 3}}
      - {id: report, do: analyze, with: {focus: $thing, frames: $pictures.frames}}
    evidence: {observations: $report.observations}
"""


def test_the_library_that_is_shipped_holds_the_five_published_tools() -> None:
    library = load_library("composites")

    assert SHIPPED_LIBRARIES == ("composites",)
    assert [tool.name for tool in library.tools()] == [
        "event_detail",
        "mcq_evidence",
        "topic_speech",
        "visual_detail",
        "visual_verbal",
    ]
    for paper, code in PUBLISHED.items():
        assert library.composition(paper) is library.composition(code)


@pytest.mark.parametrize("name", [*PUBLISHED, *PUBLISHED.values()])
def test_a_call_by_a_published_name_reaches_the_tool_where_it_is_registered(name: str) -> None:
    composition = shipped(name)

    assert ALIASES[name] == composition.name
    assert canonical_name(name, [composition.name]) == composition.name
    assert canonical_name(name, ["analyze"]) == name


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_shipped_tool_takes_no_question_and_has_no_place_for_a_verdict(name: str) -> None:
    tool = composite_tool(shipped(name))
    schema: Any = tool.schema()["parameters"]

    assert "question" not in json.dumps(schema).lower()
    assert not re.search(r"answer|candidate|verdict", " ".join(shipped(name).evidence))
    assert "candidate_answer" not in tool.prompts["composition"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_tool_says_what_it_is_and_how_it_is_called(name: str) -> None:
    tool = composite_tool(shipped(name))
    schema: Any = tool.schema()["parameters"]

    jsonschema.Draft7Validator.check_schema(schema)
    assert all(entry["description"] for entry in schema["properties"].values())
    assert schema["additionalProperties"] is False
    assert "video_path" not in schema["properties"]
    start = re.match(r"`(\w+)\(([^)]*)\)`: ", tool.guidance)
    assert start is not None
    assert start[1] == tool.name
    assert sorted(start[2].split(", ")) == sorted(schema["properties"])


def test_speech_by_topic_says_that_it_looks_and_does_not_listen() -> None:
    assert "found by the pictures alone" in composite_tool(shipped("TopicSpeech")).guidance


def test_prompts_of_several_tools_are_joined_and_each_stands_once() -> None:
    prompts = tool_prompts([*load_library("composites").tools(), "analyze", "ground_event"])

    assert set(prompts) == {"composition", "observer"}
    assert len(prompts["composition"].split("\f")) == 5
    templates = prompts["observer"].split("\n\f\n")
    assert len(templates) == len(set(templates)) == 3


def test_what_a_composition_does_is_hashed_with_the_tool() -> None:
    tool, other = composite_tool(checked()), composite_tool(checked(steps__1__with__count=4))

    assert tool.schema() == other.schema()
    assert tool.guidance == other.guidance
    assert tool.prompts["composition"] != other.prompts["composition"]
    assert tool.prompts["observer"] == other.prompts["observer"]


def test_the_same_composition_is_the_same_tool() -> None:
    before = None
    for _ in range(3):
        tool = composite_tool(checked())
        assert before is None or tool is before
        before = tool
    gc.collect()
    assert composite_tool(checked()).arguments is tool.arguments  # type: ignore[possibly-undefined]


def test_yaml_and_json_are_the_same_library(tmp_path: Path) -> None:
    library = read_library(YAML, "own.yaml")
    path = tmp_path / "own.json"
    path.write_text(json.dumps(library.to_json()), encoding="utf-8")

    again = load_library(str(path))

    assert again == library
    assert again.sha256 == library.sha256
    assert library_of(library.to_json()) == library


def test_a_hash_of_a_library_is_that_of_what_it_does() -> None:
    library = read_library(library_text(LOOK), "a")

    assert read_library(library_text(LOOK, description="Other."), "b").sha256 == library.sha256
    assert (
        read_library(library_text(changed(steps__1__with__count=4)), "c").sha256 != library.sha256
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "library x.yaml: holds NoneType, not a mapping"),
        ("- a", "library x.yaml: holds list, not a mapping"),
        ("[1, 2]", "library x.yaml: holds list, not a mapping"),
        ("a: [", "library x.yaml: line 1, column 5: "),
        ('{"a": 1,', "library x.yaml: no JSON that can be used: "),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice in one object"),
        ("name: 2026-99-99", "is not a valid one; put it in quotes"),
        (YAML.replace("library/1", "library/2"), "this version reads 'taketwo.library/1'"),
        (YAML.replace("name: own", "name: own\nname: mine"), "line 3: the key 'name' stands twice"),
        (
            YAML.replace("with: {count: 3}", "with: &x {count: 3}").replace(
                "with: {focus: $thing, frames: $pictures.frames}", "with: *x"
            ),
            r"is referred to by an alias \(\*\); write it out",
        ),
        (YAML.replace("name: look", "name: analyze"), "a tool is called 'analyze' already"),
        (YAML.replace("name: look", "name: get_transcript"), "a tool is called 'get_transcript'"),
        (
            YAML.replace("    description", "    aliases: [ground_event]\n    description"),
            "a tool is called 'ground_event' already",
        ),
        (
            YAML + YAML.split("compositions:\n")[1],
            r"compositions\.1 \(look\): 'look' is also a name of 'look'",
        ),
        (
            YAML.replace("    guidance: Use it to look.\n", ""),
            r"\(look\)\.guidance: Field required",
        ),
        (YAML + "code: import os", "code: Extra inputs are not permitted, found 'import os'"),
        ("a: " + "[" * 5000, "nested too deeply|line 1"),
        ("{" * 100_000, "x.yaml"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as raised:
        read_library(text, "x.yaml")

    assert str(raised.value).startswith("library x.yaml: ")


def test_a_fault_of_the_only_composition_is_told_once() -> None:
    with pytest.raises(DataError) as raised:
        read_library(library_text(changed(steps__0__do="watch")), "x.json")

    assert len(str(raised.value).splitlines()) == 2


def test_many_faults_are_counted_and_the_first_shown() -> None:
    records = [changed(name=f"look{n}", steps__1__with__count=0) for n in range(30)]

    with pytest.raises(DataError) as raised:
        read_library(library_text(*records), "x.json")

    lines = str(raised.value).splitlines()
    assert lines[0] == "library x.json: 30 problems, none of it is used"
    assert lines[-1] == "  and 10 more"
    assert len(lines) == 22


def test_a_near_name_is_suggested_and_a_path_is_not_a_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown library 'composits': did you mean 'composites'"):
        load_library("composits")
    with pytest.raises(DataError, match=r"gone\.yaml cannot be read: .*No such file"):
        load_library(str(tmp_path / "gone.yaml"))
    with pytest.raises(UnknownName, match="unknown composition of library 'composites' 'event'"):
        load_library("composites").composition("event")


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot be read"):
        load_library(str(path))
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(DataError, match="has more than 1048576 bytes"):
        load_library(str(path))
    with pytest.raises(DataError, match="cannot be read"):
        load_library(f"{tmp_path}/")


def test_no_tool_of_the_catalogue_is_named_like_a_shipped_composition() -> None:
    names = {one.name for one in load_library("composites").compositions}

    assert names & set(TOOLS) == set()
