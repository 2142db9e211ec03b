"""A model as a plan has it: its name, and what reaches its provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from taketwo.benchmarks.canonical import JsonValue

__all__ = ["ModelSpec"]


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model by inspect_ai name, with the endpoint and arguments that reach its provider."""

    name: str
    base_url: str | None = None
    args: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in a plan."""
        return {"name": self.name, "base_url": self.base_url, "args": dict(self.args)}

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> ModelSpec:
        """Read what `to_json` wrote."""
        return cls(
            name=cast("str", record["name"]),
            base_url=cast("str | None", record["base_url"]),
            args=cast("Mapping[str, JsonValue]", record["args"]),
        )
