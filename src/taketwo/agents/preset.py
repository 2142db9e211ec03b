"""Published or recommended settings of an agent, under a name that a study can write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ModelRole

__all__ = ["Preset"]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Settings that an arm takes where it says nothing itself.

    `source` cites the publication, or says that it is our own choice. `options` are the agent's;
    `options_by_model` adds those that follow from the orchestrator's name. `models` are model names
    by role, `sampling` fields of a role's sampling (`sampling_by_model` adds what follows from the
    orchestrator's name), `limits` tightens the agent's own budget.
    """

    summary: str
    source: str
    options: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    options_by_model: Callable[[str], Mapping[str, JsonValue]] = field(default=lambda _: {})
    models: Mapping[ModelRole, str] = field(default_factory=dict[ModelRole, str])
    sampling: Mapping[ModelRole, Mapping[str, JsonValue]] = field(
        default_factory=dict[ModelRole, Mapping[str, JsonValue]]
    )
    sampling_by_model: Callable[[str], Mapping[ModelRole, Mapping[str, JsonValue]]] = field(
        default=lambda _: {}
    )
    limits: Limits = field(default_factory=Limits)

    def options_for(self, orchestrator: str | None) -> dict[str, JsonValue]:
        """Return the options for an orchestrator by its full name."""
        return {
            **self.options,
            **({} if orchestrator is None else self.options_by_model(orchestrator)),
        }

    def sampling_for(self, orchestrator: str | None) -> dict[ModelRole, Mapping[str, JsonValue]]:
        """Return the sampling by role for an orchestrator by its full name."""
        sampling: dict[ModelRole, Mapping[str, JsonValue]] = dict(self.sampling)
        if orchestrator is not None:
            for role, fields in self.sampling_by_model(orchestrator).items():
                sampling[role] = {**sampling.get(role, {}), **fields}
        return sampling
