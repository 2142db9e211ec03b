"""What a study knows of an agent: its roles, options, tools, prompts, limits, presets, and how to build it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ValidationError

from taketwo.agents.answer import Answer
from taketwo.agents.preset import Preset
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError, UnknownName
from taketwo.tools.budget import Limits
from taketwo.tools.catalog import resolved_tools
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.role_model import ModelRole
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_tool import VideoTool

__all__ = ["Agent", "AgentSpec"]


class Agent(Protocol):
    """What answers: the question as it may be seen, and the toolbox as the only way to the world."""

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer to `question`."""
        ...


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """An agent as a study names it.

    `roles` are the models that it needs, `limits` its own budget with default options. The four
    functions take checked options and say which tools the orchestrator sees (by name, or tools
    themselves where an option shapes them), which prompt templates are in use (by role), what the
    budget is, and give the agent itself. `presets` are published or recommended settings by name.
    `work_of` says what one cell will ask of the models, which the plan prices before the first paid
    call; without it a plan assumes a rough number of turns and looks.
    """

    name: str
    summary: str
    roles: tuple[ModelRole, ...]
    options: type[BaseModel]
    limits: Limits
    tools_of: Callable[[BaseModel], tuple[str | VideoTool, ...]]
    prompts_of: Callable[[BaseModel], Mapping[str, str]]
    build_from: Callable[[BaseModel], Agent]
    roles_of: Callable[[BaseModel], tuple[ModelRole, ...]] | None = None
    limits_of: Callable[[BaseModel], Limits] = field(default=lambda _: Limits())
    presets: Mapping[str, Preset] = field(default_factory=dict[str, Preset])
    work_of: Callable[[BaseModel], ExpectedWork] | None = None

    def checked(self, options: Mapping[str, object]) -> BaseModel:
        """Return `options` in their types.

        Raises
        ------
        RequestError
            If one is unknown or does not fit; all of them are named.
        """
        try:
            return self.options.model_validate(dict(options))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}, found {item['input']!r:.60}"
                for item in error.errors(include_url=False)
            )
            known = ", ".join(sorted(self.options.model_fields)) or "none"
            raise RequestError(
                f"agent {self.name!r} cannot be built: {problems}; its options are {known}"
            ) from error

    def preset(self, name: str) -> Preset:
        """Return the preset called `name`.

        Raises
        ------
        UnknownName
            If the agent has none of that name; the message lists near names.
        """
        if name not in self.presets:
            raise UnknownName.among(f"preset of agent {self.name!r}", name, self.presets)
        return self.presets[name]

    def tools(self, options: BaseModel) -> tuple[VideoTool, ...]:
        """Return the tools that the orchestrator sees, sorted by name."""
        return resolved_tools(self.tools_of(options))

    def prompts(self, options: BaseModel) -> Mapping[str, str]:
        """Return the texts of the prompt templates by role."""
        return self.prompts_of(options)

    def roles_for(self, options: BaseModel) -> tuple[ModelRole, ...]:
        """Return the roles that the agent needs with these options."""
        return self.roles if self.roles_of is None else self.roles_of(options)

    def limits_for(self, options: BaseModel) -> Limits:
        """Return the agent's own budget with these options."""
        return self.limits.tightened_by(self.limits_of(options))

    def work_for(self, options: BaseModel) -> ExpectedWork | None:
        """Return what one cell is expected to ask of the models; None is not declared."""
        return None if self.work_of is None else self.work_of(options)

    def build(self, options: BaseModel) -> Agent:
        """Return the agent."""
        return self.build_from(options)
