"""Values that fit a JSON Schema: what is proposed is kept as far as it fits, what is missing is neutral.

Covered is what pydantic writes for forms: references, alternatives, enums, bounds, lists, tuples,
objects with named and with free keys. A pattern is met only by what is proposed or by a default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue

__all__ = ["Schema", "fitted", "resolved"]

Schema = Mapping[str, JsonValue]

_NOTHING = ("none", "unknown", "uncertain", "n/a", "other")
_DEEPEST = 24


def resolved(schema: Schema, root: Schema) -> Schema:
    """Return `schema` with a reference at its top, and parts that must all hold, written out."""
    seen = 0
    while ("$ref" in schema or "allOf" in schema) and seen < _DEEPEST:
        seen += 1
        rest = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
        parts: list[Schema] = []
        parts += [part for part in _list(schema.get("allOf")) if isinstance(part, Mapping)]
        if isinstance(reference := schema.get("$ref"), str):
            parts.append(_target(reference, root))
        schema = {name: value for part in parts for name, value in part.items()} | rest
    return schema


def _target(reference: str, root: Schema) -> Schema:
    found: JsonValue = cast("JsonValue", root)
    for part in reference.removeprefix("#").strip("/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _parts_by_name(value: JsonValue) -> Mapping[str, Schema]:
    if not isinstance(value, Mapping):
        return {}
    return {name: part for name, part in value.items() if isinstance(part, Mapping)}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else []


def fitted(schema: Schema, proposal: JsonValue, root: Schema | None = None) -> JsonValue:
    """Return a value that fits `schema`, taken from `proposal` as far as that fits.

    Parameters
    ----------
    proposal
        What one would like to say; None says nothing, and then the value is null where the schema
        has it, a default, or neutral: false, the number nearest to 0, an empty text or list.
    root
        The schema that references point into; `schema` itself where it is left out.
    """
    return _fit(schema, proposal, schema if root is None else root, 0)


def _fit(schema: Schema, proposal: JsonValue, root: Schema, depth: int) -> JsonValue:
    schema = resolved(schema, root)
    if depth > _DEEPEST:
        return None
    alternatives = [
        part
        for key in ("anyOf", "oneOf")
        for part in _list(schema.get(key))
        if isinstance(part, Mapping)
    ]
    if alternatives:
        chosen = _alternative(alternatives, proposal, root)
        return _fit(chosen, proposal, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if choices := _list(schema.get("enum")):
        return _choice(choices, proposal)
    if proposal is None and "default" in schema:
        proposal = schema["default"]
    kind = _kind(schema, proposal)
    if kind == "object":
        return _object(schema, proposal, root, depth)
    if kind == "array":
        return _array(schema, proposal, root, depth)
    if kind == "string":
        return _string(schema, proposal)
    if kind in {"integer", "number"}:
        return _number(schema, proposal, whole=kind == "integer")
    if kind == "boolean":
        return _truth(proposal)
    return None if kind == "null" else proposal


def _kinds(schema: Schema) -> tuple[str, ...]:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return tuple(str(kind) for kind in kinds)
    if isinstance(kinds, str):
        return (kinds,)
    if "properties" in schema or "additionalProperties" in schema:
        return ("object",)
    return ("array",) if "items" in schema or "prefixItems" in schema else ()


def _kind_of(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _kind(schema: Schema, proposal: JsonValue) -> str | None:
    """Return the type to give, None where the schema leaves it open."""
    kinds = _kinds(schema)
    if not kinds:
        return None
    given = _kind_of(proposal)
    if given in kinds:
        return given
    if given in {"integer", "number"} and {"integer", "number"} & set(kinds):
        return "number" if "number" in kinds else "integer"
    return next((kind for kind in kinds if kind != "null"), "null")


def _alternative(parts: Sequence[Schema], proposal: JsonValue, root: Schema) -> Schema:
    """Return the alternative that `proposal` is of, else the first that is not null."""
    whole = [resolved(part, root) for part in parts]
    given = _kind_of(proposal)
    near = {given, "number"} if given == "integer" else {given}
    for part in whole:
        if near & set(_kinds(part)) or proposal in _list(part.get("enum")):
            return part
        if "const" in part and part["const"] == proposal:
            return part
    return next((part for part in whole if _kinds(part) != ("null",)), whole[0])


def _choice(choices: Sequence[JsonValue], proposal: JsonValue) -> JsonValue:
    if proposal in choices:
        return proposal
    wanted = str(proposal).strip().lower()
    for choice in choices:
        if proposal is not None and str(choice).lower() == wanted:
            return choice
    neutral = [choice for choice in choices if choice is None or str(choice).lower() in _NOTHING]
    return neutral[0] if neutral else choices[0]


def _object(schema: Schema, proposal: JsonValue, root: Schema, depth: int) -> JsonValue:
    given = proposal if isinstance(proposal, Mapping) else {}
    properties = _parts_by_name(schema.get("properties"))
    required = {str(name) for name in _list(schema.get("required"))}
    made: dict[str, JsonValue] = {}
    for name, part in properties.items():
        value = given.get(name)
        if value is not None or name in required:
            made[name] = _fit(part, value, root, depth + 1)
    free = schema.get("additionalProperties", True)
    for name in required - set(properties):
        made[name] = given.get(name)
    if free is False:
        return made
    most = schema.get("maxProperties")
    for name, value in given.items():
        is_room = not isinstance(most, int) or len(made) < most
        if name not in properties and is_room:
            made[name] = _fit(free, value, root, depth + 1) if isinstance(free, Mapping) else value
    return made


def _array(schema: Schema, proposal: JsonValue, root: Schema, depth: int) -> JsonValue:
    given = proposal if isinstance(proposal, list) else [] if proposal is None else [proposal]
    firsts = [part for part in _list(schema.get("prefixItems")) if isinstance(part, Mapping)]
    items = schema.get("items")
    least, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(most, int):
        given = given[:most]
    wanted = max(len(given), least if isinstance(least, int) else 0)
    made: list[JsonValue] = []
    for number in range(wanted):
        value = given[number] if number < len(given) else None
        if number < len(firsts):
            made.append(_fit(firsts[number], value, root, depth + 1))
        elif items is not False:
            made.append(
                _fit(items, value, root, depth + 1) if isinstance(items, Mapping) else value
            )
    if schema.get("uniqueItems") is True:
        made = [item for number, item in enumerate(made) if item not in made[:number]]
    return made


def _string(schema: Schema, proposal: JsonValue) -> str:
    text = proposal if isinstance(proposal, str) else "" if proposal is None else str(proposal)
    pattern, default = schema.get("pattern"), schema.get("default")
    if isinstance(pattern, str) and isinstance(default, str) and not _matches(pattern, text):
        text = default
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(text) < least:
        text = (text or "not known").ljust(least, ".")
    return text[:most] if isinstance(most, int) else text


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True  # a pattern of another dialect rules nothing out


def _finite(proposal: JsonValue) -> float:
    """Return the number that is proposed, also in digits; 0 for none."""
    if isinstance(proposal, (int, float)):
        number = float(proposal)
    else:
        try:
            number = float(proposal) if isinstance(proposal, str) else 0.0
        except ValueError:
            number = 0.0
    return number if math.isfinite(number) else 0.0


def _number(schema: Schema, proposal: JsonValue, *, whole: bool) -> int | float:
    number = _finite(proposal)
    # An open end is kept away from by a whole step, or by a thousandth.
    step = 1.0 if whole else 0.001
    bounds = {name: schema.get(name) for name in ("minimum", "maximum")}
    low = bounds["minimum"] if isinstance(bounds["minimum"], (int, float)) else -math.inf
    high = bounds["maximum"] if isinstance(bounds["maximum"], (int, float)) else math.inf
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(above, (int, float)):
        low = max(low, above + step)
    if isinstance(below, (int, float)):
        high = min(high, below - step)
    number = min(max(number, low), high)
    if not whole:
        return number
    nearest = round(number)
    return math.ceil(low) if nearest < low else math.floor(high) if nearest > high else nearest


def _truth(proposal: JsonValue) -> bool:
    if isinstance(proposal, str):
        return proposal.strip().lower() in {"true", "yes", "1"}
    return bool(proposal)
