"""The agents by name, and agents of others by `module:callable`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from taketwo.agents import single_turn, video_react
from taketwo.agents.agent_spec import Agent, AgentSpec
from taketwo.agents.own_agent import OwnAgentOptions, own_agent
from taketwo.errors import UnknownName

__all__ = ["AGENT_NAMES", "Agent", "AgentSpec", "OwnAgentOptions", "agent_spec"]

_SPECS: Mapping[str, AgentSpec] = MappingProxyType({
    spec.name: spec for spec in (single_turn.SPEC, video_react.SPEC)
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
        return own_agent(name)
    if name not in _SPECS:
        raise UnknownName.among("agent", name, _SPECS)
    return _SPECS[name]
