"""A grid of factors, expanded to one arm per combination of levels."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from taketwo.executions.located_yaml import Problems
from taketwo.executions.sections import sections_of
from taketwo.executions.study_file import ArmSection

__all__ = ["FACTOR_FIELDS", "expand_matrix"]

FACTOR_FIELDS: Mapping[str, tuple[str, ...]] = {
    "agent": ("agent",),
    "orchestrator": ("models", "orchestrator"),
    "observer": ("models", "observer"),
    "transcriber": ("models", "transcriber"),
    "reasoning": ("generate", "orchestrator", "reasoning_effort"),
    "temperature": ("generate", "orchestrator", "temperature"),
}
"""Where the level of a factor goes in an arm, for factors that are known by name."""

_MOST_ARMS = 1_000
_LONGEST_NAME = 32


@dataclass(frozen=True, kw_only=True)
class _Level:
    name: str
    fragment: Mapping[str, object]


def expand_matrix(
    matrix: Mapping[str, object], problems: Problems
) -> Iterator[tuple[str, ArmSection, Mapping[str, str]]]:
    """Yield name, settings and factor levels of every combination of a grid's levels.

    A factor is a list of levels, where its name says which setting of an arm it is (a name of
    `FACTOR_FIELDS`, or a dotted setting: `options.frames`, `limits.turns`, `generate.top_p`), or a
    mapping from level to a part of an arm. Names are made of the agent and the levels of the other
    factors that vary, and are shortened with a hash where they exceed 32 characters or clash.
    """
    if not matrix:
        return
    factors: dict[str, list[_Level]] = {}
    for factor, value in matrix.items():
        levels = _levels(factor, value, problems)
        if levels:
            factors[factor] = levels
    total = 1
    for levels in factors.values():
        total *= len(levels)
    if total > _MOST_ARMS:
        problems.add(("matrix",), f"{total} arms; a matrix makes at most {_MOST_ARMS}")
        return
    if len(factors) < len(matrix):
        return
    taken: set[str] = set()
    for combination in itertools.product(*factors.values()):
        levels = dict(zip(factors, combination, strict=True))
        named = [
            level.name
            for factor, level in levels.items()
            if factor == "agent" or len(factors[factor]) > 1
        ]
        name = _name(named or [level.name for level in combination], taken)
        taken.add(name)
        data: dict[str, object] = {}
        for factor, level in levels.items():
            _merge(data, level.fragment, factor, (), problems)
        section = sections_of(ArmSection, data, ("matrix",), problems)
        if section.agent is None:
            problems.add(("matrix",), "no agent; add a factor agent: [...]")
            return
        yield name, section, {factor: level.name for factor, level in levels.items()}


def _levels(factor: str, value: object, problems: Problems) -> list[_Level]:
    place = ("matrix", factor)
    field = FACTOR_FIELDS.get(factor) or _dotted(factor)
    if isinstance(value, list) and value:
        if field is None:
            problems.add(
                place,
                f"no setting is called so; known factors are {', '.join(FACTOR_FIELDS)}, "
                "options.NAME, limits.NAME and generate.NAME; any other needs a mapping from "
                "level to the part of an arm that it sets",
            )
            return []
        levels = [
            _Level(name=_level_name(item), fragment=_nested(field, item))
            for item in cast("list[object]", value)
        ]
    elif isinstance(value, dict) and value:
        levels = _mapped(factor, cast("dict[object, object]", value), field, problems)
    else:
        problems.add(place, f"must be a list or a mapping of levels, found {value!r}")
        return []
    names = [level.name for level in levels]
    if len(set(names)) < len(names):
        problems.add(place, f"a level is given twice: {', '.join(names)}")
        return []
    return levels


def _mapped(
    factor: str,
    parts: Mapping[object, object],
    field: tuple[str, ...] | None,
    problems: Problems,
) -> list[_Level]:
    """Return levels that say themselves what they set; a known factor also sets its own field."""
    levels: list[_Level] = []
    for name, part in parts.items():
        if not isinstance(part, dict):
            problems.add(
                ("matrix", factor, str(name)),
                f"must be a part of an arm (a mapping), found {part!r}",
            )
            continue
        fragment = _copied(cast("dict[str, object]", part))
        if field is not None and not _is_set(fragment, field):
            _merge(fragment, _nested(field, name), factor, (), problems)
        levels.append(_Level(name=_level_name(name), fragment=fragment))
    return levels


def _is_set(fragment: Mapping[str, object], field: tuple[str, ...]) -> bool:
    inside: object = fragment
    for part in field:
        if not isinstance(inside, dict) or part not in inside:
            return False
        inside = cast("dict[str, object]", inside)[part]  # pyright: ignore[reportUnnecessaryCast] else partly unknown
    return True


def _dotted(factor: str) -> tuple[str, ...] | None:
    parts = tuple(factor.split("."))
    known = {"options", "limits", "generate", "models"}
    return parts if len(parts) > 1 and parts[0] in known and all(parts) else None


def _nested(field: tuple[str, ...], value: object) -> dict[str, object]:
    inner = value
    for part in reversed(field):
        inner = {part: inner}
    return cast("dict[str, object]", inner)


def _level_name(value: object) -> str:
    if isinstance(value, dict) and "name" in value:
        return str(cast("dict[str, object]", value)["name"])
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _merge(
    data: dict[str, object],
    part: Mapping[str, object],
    factor: str,
    at: tuple[str, ...],
    problems: Problems,
) -> None:
    for key, value in part.items():
        if key not in data:
            data[key] = (
                _copied(cast("dict[str, object]", value)) if isinstance(value, dict) else value
            )
        elif isinstance(value, dict) and isinstance(data[key], dict):
            inside = cast("dict[str, object]", data[key])
            _merge(inside, cast("dict[str, object]", value), factor, (*at, key), problems)
        else:
            setting = ".".join((*at, key))
            problems.add(("matrix", factor), f"another factor sets {setting!r} as well; keep one")


def _copied(part: dict[str, object]) -> dict[str, object]:
    return {
        key: _copied(cast("dict[str, object]", value)) if isinstance(value, dict) else value
        for key, value in part.items()
    }


def _name(levels: list[str], taken: set[str]) -> str:
    parts = [
        re.sub(r"[^a-z0-9_]+", "-", level.lower().rsplit("/", 1)[-1]).strip("-") for level in levels
    ]
    name = "-".join(part for part in parts if part)
    if not re.match(r"[a-z]", name):
        name = f"a-{name}".rstrip("-")
    if len(name) <= _LONGEST_NAME and name not in taken:
        return name
    digest = hashlib.sha256(json.dumps(levels).encode()).hexdigest()[:6]
    return f"{name[: _LONGEST_NAME - 7].rstrip('-')}-{digest}"
