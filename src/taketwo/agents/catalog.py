"""The agents by name, and agents of others by `module:callable`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from taketwo.agents.answer import Answer
from taketwo.agents.single_turn import (
    SINGLE_TURN_LIMITS,
    SingleTurn,
    SingleTurnOptions,
    single_turn_prompts,
)
from taketwo.agents.video_react import (
    VIDEO_REACT_LIMITS,
    VIDEO_REACT_TOOLS,
    VideoReact,
    VideoReactOptions,
    video_react_prompts,
)
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError, UnknownName
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ModelRole
from taketwo.tools.toolbox import Toolbox

__all__ = ["AGENT_NAMES", "Agent", "AgentSpec", "OwnAgentOptions", "agent_spec"]


class Agent(Protocol):
    """What answers: the question as it may be seen, and the toolbox as the only way to the world."""

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer to `question`."""
        ...


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """An agent as a study names it.

    `roles` are the models that it needs, `limits` its own budget with default options. The four
    functions take checked options and say which tools the orchestrator sees, which prompt
    templates are in use (by role), what the budget is, and give the agent itself.
    """

    name: str
    summary: str
    roles: tuple[ModelRole, ...]
    options: type[BaseModel]
    limits: Limits
    tools_of: Callable[[BaseModel], tuple[str, ...]]
    prompts_of: Callable[[BaseModel], Mapping[str, str]]
    build_from: Callable[[BaseModel], Agent]
    roles_of: Callable[[BaseModel], tuple[ModelRole, ...]] | None = None
    limits_of: Callable[[BaseModel], Limits] = field(default=lambda _: Limits())

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

    def tools(self, options: BaseModel) -> tuple[str, ...]:
        """Return the names of the tools that the orchestrator sees, sorted."""
        return tuple(sorted(self.tools_of(options)))

    def prompts(self, options: BaseModel) -> Mapping[str, str]:
        """Return the texts of the prompt templates by role."""
        return self.prompts_of(options)

    def roles_for(self, options: BaseModel) -> tuple[ModelRole, ...]:
        """Return the roles that the agent needs with these options."""
        return self.roles if self.roles_of is None else self.roles_of(options)

    def limits_for(self, options: BaseModel) -> Limits:
        """Return the agent's own budget with these options."""
        return self.limits.tightened_by(self.limits_of(options))

    def build(self, options: BaseModel) -> Agent:
        """Return the agent."""
        return self.build_from(options)


def _single_turn_roles(options: BaseModel) -> tuple[ModelRole, ...]:
    wants_speech = cast("SingleTurnOptions", options).transcript
    return ("orchestrator", "transcriber") if wants_speech else ("orchestrator",)


def _video_react_limits(options: BaseModel) -> Limits:
    chosen = cast("VideoReactOptions", options)
    return Limits(turns=chosen.max_turns, visible_calls=chosen.max_calls)


_SPECS: Mapping[str, AgentSpec] = MappingProxyType({
    "single_turn": AgentSpec(
        name="single_turn",
        summary="One model sees evenly spread frames, and the speech if wanted, and answers once.",
        roles=("orchestrator",),
        roles_of=_single_turn_roles,
        options=SingleTurnOptions,
        limits=SINGLE_TURN_LIMITS,
        tools_of=lambda _: (),
        prompts_of=lambda _: single_turn_prompts(),
        build_from=lambda options: SingleTurn(options=cast("SingleTurnOptions", options)),
    ),
    "video_react": AgentSpec(
        name="video_react",
        summary="A planner that sees no pixels calls an observer and the transcript in turns.",
        roles=("orchestrator", "observer", "transcriber"),
        options=VideoReactOptions,
        limits=VIDEO_REACT_LIMITS,
        limits_of=_video_react_limits,
        tools_of=lambda _: VIDEO_REACT_TOOLS,
        prompts_of=lambda _: video_react_prompts(),
        build_from=lambda options: VideoReact(options=cast("VideoReactOptions", options)),
    ),
})

AGENT_NAMES: tuple[str, ...] = tuple(sorted(_SPECS))


def agent_spec(name: str) -> AgentSpec:
    """Return the agent called `name`; `module:callable` is an agent of the user's own.

    Raises
    ------
    UnknownName
        If there is none; the message lists near names.
    RequestError
        If `module:callable` cannot be imported or is no agent.
    """
    if ":" in name:
        return _own_agent(name)
    if name not in _SPECS:
        raise UnknownName.among("agent", name, _SPECS)
    return _SPECS[name]


class OwnAgentOptions(BaseModel):
    """Options of an agent of the user's own: whatever its callable takes by keyword."""

    model_config = ConfigDict(extra="allow", frozen=True)


@dataclass(frozen=True, kw_only=True)
class _Bound:
    """An agent's callable with its options."""

    function: Callable[..., object]
    options: Mapping[str, object]

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        answer = self.function(question, toolbox, **self.options)
        if inspect.isawaitable(answer):
            answer = await answer
        if not isinstance(answer, Answer):
            raise TypeError(
                f"an agent returns a taketwo Answer, this one returned {type(answer).__name__}"
            )
        return answer


def _own_agent(name: str) -> AgentSpec:
    module_name, _, attribute = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise RequestError(
            f"agent {name!r} cannot be loaded: {error}; it must be importable as "
            "module:callable from where taketwo runs"
        ) from error
    if isinstance(found, AgentSpec):
        return found
    if not callable(found):
        raise RequestError(
            f"agent {name!r} is a {type(found).__name__}; it must be an AgentSpec or a callable "
            "(question, toolbox) -> Answer"
        )
    return _spec_of(name, found)


def _spec_of(name: str, function: Callable[..., object]) -> AgentSpec:
    """Return the record of a plain callable; attributes of it may say more than the defaults."""
    roles = cast("tuple[ModelRole, ...]", tuple(getattr(function, "roles", ("orchestrator",))))
    tools = tuple(cast("tuple[str, ...]", getattr(function, "tools", ())))
    prompts = dict(cast("Mapping[str, str]", getattr(function, "prompts", {})))
    if not prompts:
        # Without templates of its own the code stands for them, so that a change does not go unseen.
        prompts = {"code": _source_of(name, function)}
    summary = (inspect.getdoc(function) or name).splitlines()[0]
    return AgentSpec(
        name=name,
        summary=summary,
        roles=roles,
        options=cast("type[BaseModel]", getattr(function, "options", OwnAgentOptions)),
        limits=cast("Limits", getattr(function, "limits", Limits())),
        tools_of=lambda _: tools,
        prompts_of=lambda _: prompts,
        build_from=lambda options: _Bound(function=function, options=options.model_dump()),
    )


def _source_of(name: str, function: Callable[..., object]) -> str:
    is_plain = inspect.isroutine(function) or inspect.isclass(function)
    try:
        return inspect.getsource(function if is_plain else type(function))
    except (OSError, TypeError) as error:
        raise RequestError(
            f"agent {name!r} has neither `prompts` nor readable source ({error}), so a change of it "
            "could not be noticed; give it an attribute `prompts`, texts by role"
        ) from error
