from __future__ import annotations

import json
from typing import Annotated, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue

from taketwo.models.schema_fitting import fitted


class Span(BaseModel):
    start: float
    end: float | None
    label: Literal["seen", "heard"] = "seen"


class Everything(BaseModel):
    """One field of each kind that a form may have."""

    reasoning: str = Field(min_length=1, max_length=12)
    sufficient: bool
    confidence: float = Field(ge=0, le=1)
    number: int = Field(gt=2, lt=9)
    mode: Literal["uniform", "region"]
    level: Literal["high", "none"] | None
    regions: list[tuple[float, float]] = Field(max_length=2)
    spans: list[Span] = Field(min_length=1)
    by_name: dict[str, Span]
    note: str | None = None
    codes: Annotated[list[str], Field(min_length=2)]
    mixed: int | str


_PROPOSALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    given_fields=st.dictionaries(
        st.sampled_from(sorted(Everything.model_fields)), _PROPOSALS, max_size=12
    )
)
def test_whatever_is_proposed_the_value_fits_by_two_independent_checks(
    given_fields: dict[str, JsonValue],
) -> None:
    schema = Everything.model_json_schema()

    value = fitted(schema, given_fields)

    jsonschema.validate(value, schema)
    Everything.model_validate_json(json.dumps(value))


def test_what_fits_is_kept_as_it_is() -> None:
    proposal: JsonValue = {
        "reasoning": "seen",
        "sufficient": True,
        "confidence": 0.25,
        "number": 5,
        "mode": "region",
        "level": "high",
        "regions": [[1.0, 2.5]],
        "spans": [{"start": 1.0, "end": None, "label": "heard"}],
        "by_name": {"red circle": {"start": 0.0, "end": 2.0, "label": "seen"}},
        "codes": ["a", "b"],
        "mixed": "two",
    }

    assert fitted(Everything.model_json_schema(), proposal) == proposal


def test_what_nothing_is_known_of_is_neutral() -> None:
    assert fitted(Everything.model_json_schema(), None) == {
        "reasoning": "not known",
        "sufficient": False,
        "confidence": 0.0,
        "number": 3,
        "mode": "uniform",
        "level": None,
        "regions": [],
        "spans": [{"start": 0.0, "end": None}],
        "by_name": {},
        "codes": ["", ""],
        "mixed": 0,
    }


@pytest.mark.parametrize(
    ("schema", "proposal", "value"),
    [
        ({"type": "number", "maximum": 5}, 40, 5),
        ({"type": "integer", "minimum": 1}, 2.6, 3),
        ({"type": "number"}, float("nan"), 0.0),
        ({"type": "number"}, "0.5", 0.5),
        ({"type": "boolean"}, "false", False),
        ({"type": "string", "maxLength": 3}, "abcdef", "abc"),
        ({"enum": ["A", "B", None]}, "b", "B"),
        ({"enum": ["A", "B", None]}, "C", None),
        ({"enum": ["low", "unknown"]}, None, "unknown"),
        ({"type": "array", "maxItems": 2}, [1, 2, 3], [1, 2]),
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 1, 2], [1, 2]),
        ({"type": ["string", "null"]}, None, None),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x", "x"),
        ({"type": "object", "additionalProperties": False, "properties": {}}, {"a": 1}, {}),
    ],
)
def test_a_value_is_moved_into_its_bounds(
    schema: dict[str, JsonValue], proposal: JsonValue, value: JsonValue
) -> None:
    assert fitted(schema, proposal) == value


def test_a_schema_that_refers_to_itself_without_end_does_not_hang() -> None:
    schema: dict[str, JsonValue] = {
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/Node"}},
                "required": ["next"],
            }
        },
        "$ref": "#/$defs/Node",
    }
    circle: dict[str, JsonValue] = {"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}

    assert isinstance(fitted(schema, None), dict)
    assert fitted(circle, "x") == "x"
