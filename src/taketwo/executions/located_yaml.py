"""YAML that remembers where everything stands, so that an error can name the line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from taketwo.benchmarks.careful_yaml import MOST_VALUES, CarefulLoader, yaml_fault
from taketwo.errors import RequestError

__all__ = ["LocatedYaml", "Place", "Problems", "read_located_yaml"]

Place = tuple[str | int, ...]

_TEXT_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


@dataclass(frozen=True, kw_only=True)
class LocatedYaml:
    """The values of a YAML file and, by place, the line (from 1) at which each stands."""

    path: Path
    data: dict[str, object]
    lines: Mapping[Place, int]
    duplicates: tuple[Place, ...]

    def line(self, place: Place) -> int:
        """Return the line of `place`, or of the nearest place around it that the file has."""
        known = place
        while known and known not in self.lines:
            known = known[:-1]
        return self.lines.get(known, 1)


class Problems:
    """What is wrong with a study file, collected so that all of it is told at once."""

    def __init__(self, source: LocatedYaml) -> None:
        self._source = source
        self._found: list[tuple[int, str]] = []
        self._places: set[Place] = set()

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, message: str) -> None:
        """Note that what stands at `place` is wrong; the same message twice is kept once."""
        line = self._source.line(place)
        where = f"{self._source.path.name}:{line} {'.'.join(map(str, place))}".rstrip()
        text = f"{where}: {message}"
        if (line, text) not in self._found:
            self._found.append((line, text))
            self._places.add(place)

    def touches(self, *names: str | int) -> bool:
        """Return whether something is wrong at a place that contains one of `names`."""
        return any(name in place for place in self._places for name in names)

    def is_inside(self, place: Place) -> bool:
        """Return whether something is wrong at `place` or inside it."""
        return any(found[: len(place)] == place for found in self._places)

    def raise_if_any(self) -> None:
        """Raise all problems as one error, in the order of their lines.

        Raises
        ------
        RequestError
            If anything was added.
        """
        if not self._found:
            return
        count = len(self._found)
        listed = "\n".join(f"  {text}" for _, text in sorted(self._found, key=lambda item: item[0]))
        raise RequestError(
            f"{self._source.path}: {count} problem{'s' if count > 1 else ''}, nothing was frozen\n"
            f"{listed}"
        )


def read_located_yaml(path: Path) -> LocatedYaml:
    """Read a YAML mapping and the line of every place in it.

    Raises
    ------
    RequestError
        If the file is missing, not UTF-8, not YAML (with line and column), or not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RequestError(f"{path}: no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    loader = CarefulLoader("")
    try:
        loader = CarefulLoader(text)
        node = loader.get_single_node()
        walk = _Walk(path, loader)
        if node is not None:
            walk.visit(node, (), 0)
        data = None if node is None else cast("object", loader.construct_document(node))  # pyright: ignore[reportUnknownMemberType] untyped in types-PyYAML
    except (yaml.YAMLError, RecursionError) as error:
        fault = yaml_fault(error, loader.line + 1)
        raise RequestError(f"{path}: not readable YAML: {fault}") from error
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        found = "nothing" if data is None else type(data).__name__
        raise RequestError(f"{path}: a study file is a mapping of settings, found {found}")
    return LocatedYaml(
        path=path,
        data=cast("dict[str, object]", data),
        lines=walk.lines,
        duplicates=tuple(walk.duplicates),
    )


class _Walk:
    """Collect lines and repeated keys; bounded, since aliases can make a small file huge."""

    def __init__(self, path: Path, loader: CarefulLoader) -> None:
        self._loader = loader
        self.lines: dict[Place, int] = {(): 1}
        self.duplicates: list[Place] = []
        self._path = path
        self._nodes = 0

    def visit(self, node: yaml.Node, place: Place, depth: int) -> None:
        self._nodes += 1
        if depth > 40 or self._nodes > MOST_VALUES:
            raise RequestError(
                f"{self._path}: line {node.start_mark.line + 1}: nested too deeply or expanded by "
                f"aliases beyond {MOST_VALUES} values; write it out plainly"
            )
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
                if name in seen and name != "<<":
                    self.duplicates.append((*place, name))
                seen.add(name)
                self.lines[*place, name] = key.start_mark.line + 1
                if isinstance(key, yaml.ScalarNode) and key.tag not in _TEXT_TAGS:
                    self._add_read_key(key, place)
                self.visit(value, (*place, name), depth + 1)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(cast("list[yaml.Node]", node.value)):
                self.lines[*place, index] = value.start_mark.line + 1
                self.visit(value, (*place, index), depth + 1)

    def _add_read_key(self, key: yaml.ScalarNode, place: Place) -> None:
        """Let a key that YAML reads as a number, a date or a truth value be found by that, too."""
        read = self._loader.construct_object(key)
        self.lines.setdefault((*place, str(read)), key.start_mark.line + 1)
