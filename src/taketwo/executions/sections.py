"""A mapping out of a file, read as a model: what is wrong is left out and told, all of it."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from taketwo.executions.located_yaml import Place, Problems

__all__ = ["Section", "sections_of"]


class Section(BaseModel):
    """A part of a file in which every key is known and no value is bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


def sections_of(
    model: type[Model], data: Mapping[str, object], at: Place, problems: Problems
) -> Model:
    """Return what is valid of `data` as `model`; what is not is left out and added to `problems`.

    `at` is the place of `data` in the file. The model must accept an empty mapping.
    """
    rest = copy.deepcopy(dict(data))
    while True:
        try:
            return model.model_validate(rest)
        except ValidationError as error:
            items = error.errors(include_url=False)
            wrong = [_deepest(rest, item["loc"]) for item in items]
            for item in items:
                problems.add((*at, *_place(item)), _message(model, item))
            for holder in wrong:
                if holder is None:
                    rest.clear()
                else:
                    holder[0].pop(holder[1], None)


def _place(item: ErrorDetails) -> Place:
    """Return the place of a fault; a key that is no text stands there as the text of what it is."""
    place = tuple(part for part in item["loc"] if part != "[key]")
    return (*place[:-1], str(item["input"])) if _is_key(item) else place


def _is_key(item: ErrorDetails) -> bool:
    return item["type"] == "invalid_key" or (
        item["type"] == "string_type" and "[key]" in item["loc"]
    )


def _deepest(data: dict[str, object], place: Place) -> tuple[dict[object, object], object] | None:
    """Return the innermost mapping and key of `data` on the way to `place`.

    A key that is no text stands in a place as its text, or as itself.
    """
    inside: object = data
    found: tuple[dict[object, object], object] | None = None
    for part in place:
        if not isinstance(inside, dict):
            break
        table = cast("dict[object, object]", inside)
        keys = [key for key in table if key == part] or [
            key for key in table if not isinstance(key, str) and str(key) == str(part)
        ]
        if not keys:
            break
        found = (table, keys[0])
        inside = table[keys[0]]
    return found


def _message(model: type[BaseModel], item: ErrorDetails) -> str:
    found = item["input"]
    if _is_key(item):
        return (
            f"a name must be text, but YAML reads this one as {found!r} "
            f"({type(found).__name__}); put it in quotes"
        )
    if item["type"] == "extra_forbidden":
        known = sorted(_fields_at(model, item["loc"][:-1]))
        near = get_close_matches(str(item["loc"][-1]), known, n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "known here are"
        return f"no such setting; {hint}" + ("" if near else f" {', '.join(known)}")
    text = item["msg"][0].lower() + item["msg"][1:]
    text = text.replace("input should be", "must be").replace("string should", "must")
    if item["type"] == "literal_error":
        known = re.findall(r"'([^']+)'", str(item.get("ctx", {}).get("expected", "")))
        near = get_close_matches(str(found), known, n=1, cutoff=0.5)
        text += f"; did you mean {near[0]!r}?" if near else ""
    shown = repr(found)
    if item["type"] == "string_pattern_mismatch":
        text = _PATTERNS.get(str(item["loc"][-1]), text)
    text += f"; found {shown if len(shown) <= 80 else shown[:77] + '...'}"
    if isinstance(found, bool) and item["type"] in {"string_type", "literal_error"}:
        text += " (YAML reads yes, no, on and off as true and false: put it in quotes)"
    return text


_PATTERNS: Mapping[str, str] = {
    "study": "must be 1 to 64 characters out of a-z 0-9 . _ -, a letter or digit first",
    "name": "must be provider/model, for example openai/gpt-4o or taketwo/offline-observer",
    "date": "must be a day as YYYY-MM-DD",
}


def _fields_at(model: type[BaseModel], place: Sequence[str | int]) -> set[str]:
    """Return the settings that `model` knows at `place`."""
    here: type[BaseModel] | None = model
    kind: object = model
    for part in place:
        field = here.model_fields.get(str(part)) if here else None
        kind = field.annotation if field else _element_of(kind)
        here = _model_in(kind)
    return set(here.model_fields) if here else set()


def _element_of(kind: object) -> object:
    arguments = get_args(kind)
    return arguments[-1] if arguments else None


def _model_in(kind: object) -> type[BaseModel] | None:
    """Return the model that a field holds directly, through Optional and Annotated only."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    if get_origin(kind) in {dict, list}:
        return None
    found = (_model_in(argument) for argument in get_args(kind))
    return next((model for model in found if model is not None), None)
