"""Libraries of composite tools: files of compositions, checked as a whole, and the tools that they become.

A library is data (YAML or JSON, `taketwo.library/1`). It is read, checked and hashed; nothing of it is
executed but primitives. Every problem is told with its file and place before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import cast, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.benchmarks.careful_yaml import CarefulLoader, yaml_fault
from taketwo.errors import DataError, UnknownName
from taketwo.tools.catalog import TOOLS
from taketwo.tools.composite_tool import composite_tool
from taketwo.tools.composition import Composition, Name
from taketwo.tools.composition_check import problems_of
from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.video_tool import VideoTool

__all__ = [
    "LIBRARY_FORMAT",
    "SHIPPED_LIBRARIES",
    "Library",
    "library_of",
    "load_library",
    "read_library",
]

LIBRARY_FORMAT = "taketwo.library/1"
_MOST_BYTES = 1 << 20
_SHOWN = 20


def _shipped() -> tuple[str, ...]:
    folder = files("taketwo.tools") / "libraries"
    return tuple(sorted(item.name.removesuffix(".yaml") for item in folder.iterdir()))


SHIPPED_LIBRARIES: tuple[str, ...] = _shipped()
"""The libraries that come with Take Two, by name."""


class _LibraryFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: str
    name: Name
    description: str = Field(default="", max_length=2000)
    compositions: tuple[Composition, ...] = Field(min_length=1, max_length=64)


@dataclass(frozen=True, kw_only=True)
class Library:
    """Checked compositions under a name, sorted by their names."""

    name: str
    description: str
    compositions: tuple[Composition, ...]

    def composition(self, name: str) -> Composition:
        """Return the composition called `name`, by its name or one of its aliases.

        Raises
        ------
        UnknownName
            If there is none; the message lists near names.
        """
        for one in self.compositions:
            if name == one.name or name in one.aliases:
                return one
        known = [name for one in self.compositions for name in (one.name, *one.aliases)]
        raise UnknownName.among(f"composition of library {self.name!r}", name, known)

    def tools(self) -> tuple[VideoTool, ...]:
        """Return the compositions as tools, sorted by name."""
        return tuple(composite_tool(one) for one in self.compositions)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the library as `read_library` reads it."""
        return {
            "format": LIBRARY_FORMAT,
            "name": self.name,
            "description": self.description,
            "compositions": [
                one.model_dump(mode="json", by_alias=True, exclude_defaults=True)
                for one in self.compositions
            ],
        }

    @property
    def sha256(self) -> str:
        """Return the hash of what the compositions do and of what is said of them."""
        return sha256_of([one.canonical() for one in self.compositions])


def load_library(name: str, *, folder: Path | None = None) -> Library:
    """Return a library that comes with Take Two by its name, any other by its path.

    A text with a slash, or that ends in `.yaml`, `.yml` or `.json`, is a path; a relative one starts
    at `folder`, else at the working directory.

    Raises
    ------
    UnknownName
        If it is no path and no library has this name.
    DataError
        If the file cannot be used; every problem is listed with its place.
    """
    if "/" in name or Path(name).suffix in {".yaml", ".yml", ".json"}:
        return _library_at(name, Path() if folder is None else folder)
    if name not in SHIPPED_LIBRARIES:
        raise UnknownName.among("library", name, SHIPPED_LIBRARIES)
    text = (files("taketwo.tools") / "libraries" / f"{name}.yaml").read_text(encoding="utf-8")
    return read_library(text, f"{name}.yaml")


def library_of(value: str | Mapping[str, object], *, folder: Path | None = None) -> Library:
    """Return a library by its name or path, or the one that a mapping holds.

    Raises
    ------
    UnknownName, DataError
        As `load_library`.
    """
    if isinstance(value, str):
        return load_library(value, folder=folder)
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"the library that is written out is no JSON: {error}") from error
    return read_library(text, "that is written out")


@lru_cache(maxsize=64)
def read_library(text: str, where: str) -> Library:
    """Return the library that a YAML or JSON text holds; `where` names it in messages.

    Raises
    ------
    DataError
        If it cannot be used; every problem is listed with its place.
    """
    record = _record(text, where)
    found = record.get("format")
    if found != LIBRARY_FORMAT:
        raise DataError(
            f"library {where}: format is {found!r}, this version reads {LIBRARY_FORMAT!r}; "
            "write the one that the file was made for, or update Take Two"
        )
    try:
        library = _LibraryFile.model_validate(record)
    except ValidationError as error:
        raise _refused(where, _explained(error.errors(), record)) from error
    problems = [
        *_name_problems(library.compositions),
        *(
            f"compositions.{number} ({one.name}).{problem}"
            for number, one in enumerate(library.compositions)
            for problem in problems_of(one)
        ),
    ]
    if problems:
        raise _refused(where, problems)
    return Library(
        name=library.name,
        description=library.description,
        compositions=tuple(sorted(library.compositions, key=lambda one: one.name)),
    )


def _library_at(name: str, folder: Path) -> Library:
    path = folder / name
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"library {name}: {path} cannot be read: {error}") from error
    if len(data) > _MOST_BYTES:
        raise DataError(f"library {name}: has more than {_MOST_BYTES} bytes; this is no library")
    return read_library(text, name)


def _record(text: str, where: str) -> dict[str, object]:
    try:
        record: object = json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{") and isinstance(error, ValueError):
            raise DataError(f"library {where}: no JSON that can be used: {error}") from error
        record = _yaml_record(text, where)
    if not isinstance(record, dict):
        raise DataError(f"library {where}: holds {type(record).__name__}, not a mapping")
    return cast("dict[str, object]", record)


def _distinct(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object; remove one")
    return record


def _yaml_record(text: str, where: str) -> object:
    loader = CarefulLoader(text)
    try:
        node = loader.get_single_node()
        for problem in _node_problems(node, set()):
            raise DataError(f"library {where}: {problem}")
        if node is None:
            return None
        return cast("object", loader.construct_document(node))  # pyright: ignore[reportUnknownMemberType] untyped in types-PyYAML
    except (yaml.YAMLError, RecursionError) as error:
        raise DataError(f"library {where}: {yaml_fault(error, loader.line + 1)}") from error
    finally:
        loader.dispose()


def _node_problems(node: yaml.Node | None, seen: set[int]) -> Iterator[str]:
    """Yield keys that stand twice, and references to other parts of the file, which could multiply it."""
    if node is None or isinstance(node, yaml.ScalarNode):
        return
    if id(node) in seen:
        yield f"line {node.start_mark.line + 1}: is referred to by an alias (*); write it out"
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if str(key.value) in keys:
                yield f"line {key.start_mark.line + 1}: the key {key.value!r} stands twice; remove one"
            keys.add(str(key.value))
            yield from _node_problems(value, seen)
    else:
        for value in node.value:
            yield from _node_problems(value, seen)


def _name_problems(compositions: Iterable[Composition]) -> Iterator[str]:
    reserved = {*TOOLS, *get_args(PrimitiveKind)}
    taken: dict[str, str] = {}
    for number, one in enumerate(compositions):
        place = f"compositions.{number} ({one.name})"
        for name in (one.name, *one.aliases):
            if name in reserved:
                yield f"{place}: a tool is called {name!r} already; rename the composition"
            elif name in taken:
                yield f"{place}: {name!r} is also a name of {taken[name]!r}; rename one of them"
            taken[name] = one.name


def _explained(errors: Sequence[ErrorDetails], record: dict[str, object]) -> list[str]:
    """Return one line a place: the path to it, compositions and steps with their names, and what is wrong."""
    found: dict[str, str] = {}
    for error in errors:
        location = list(error["loc"])
        inside = [other for other in errors if list(other["loc"][: len(location)]) == location]
        if error["type"] == "too_short" and len(inside) > 1:
            continue  # what pydantic says of a list whose items were all refused
        message = f"{error['msg']}, found {error['input']!r:.60}"
        if "with" in location[:-2]:
            # One of the kinds of a binding; all of them would be listed.
            del location[location.index("with") + 2 :]
            message = (
                "must be a text, a number, a reference or a list of references, "
                f"found {error['input']!r:.60}"
            )
        found.setdefault(_place(location, record), message)
    return [f"{place}: {message}" for place, message in found.items()]


def _place(location: Sequence[str | int], record: object) -> str:
    parts: list[str] = []
    here = record
    for part in location:
        if isinstance(part, int):
            items = cast("list[object]", here) if isinstance(here, list) else []
            here = items[part] if part < len(items) else None
        else:
            here = cast("dict[str, object]", here).get(part) if isinstance(here, dict) else None
        own = cast("dict[str, object]", here) if isinstance(here, dict) else {}
        name = own.get("name", own.get("id")) if isinstance(part, int) else None
        parts.append(f"{part} ({name})" if isinstance(name, str) else str(part))
    return ".".join(parts) or "the library"


def _refused(where: str, problems: Sequence[str]) -> DataError:
    shown = "\n".join(f"  {problem}" for problem in problems[:_SHOWN])
    more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return DataError(f"library {where}: {count}, none of it is used\n{shown}{more}")
