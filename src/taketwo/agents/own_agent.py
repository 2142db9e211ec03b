"""Agents of the user's own, `module:callable`: an AgentSpec, or a callable with the agent's signature."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import BaseModel, ConfigDict

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork
from taketwo.tools.role_model import ModelRole
from taketwo.tools.toolbox import Toolbox

__all__ = ["OwnAgentOptions", "own_agent"]


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


def own_agent(name: str) -> AgentSpec:
    """Return the record of the agent at `module:callable`.

    Raises
    ------
    RequestError
        If it cannot be imported or is no agent.
    """
    module_name, _, attribute = name.partition(":")
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise RequestError(
            f"agent {name!r} cannot be loaded: {error}; it must be importable as "
            "module:callable: install its package, or put its folder into PYTHONPATH"
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
    work = cast("ExpectedWork | None", getattr(function, "work", None))
    return AgentSpec(
        name=name,
        summary=summary,
        roles=roles,
        options=cast("type[BaseModel]", getattr(function, "options", OwnAgentOptions)),
        limits=cast("Limits", getattr(function, "limits", Limits())),
        tools_of=lambda _: tools,
        prompts_of=lambda _: prompts,
        build_from=lambda options: _Bound(function=function, options=options.model_dump()),
        work_of=None if work is None else lambda _: work,
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
