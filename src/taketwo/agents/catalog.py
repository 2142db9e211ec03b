"""The agents by name, and agents of others by `module:callable`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from taketwo.agents import avp, dvd, sage, single_turn, star, video_react
from taketwo.agents.agent_spec import Agent, AgentSpec
from taketwo.agents.external import COMMAND, HTTP
from taketwo.agents.own_agent import OwnAgentOptions, own_agent
from taketwo.errors import UnknownName

__all__ = [
    "AGENT_NAMES",
    "EXTERNAL_NAMES",
    "Agent",
    "AgentSpec",
    "OwnAgentOptions",
    "agent_spec",
]

_SPECS: Mapping[str, AgentSpec] = MappingProxyType({
    spec.name: spec
    for spec in (avp.SPEC, dvd.SPEC, sage.SPEC, single_turn.SPEC, star.SPEC, video_react.SPEC)
})

_EXTERNAL: Mapping[str, AgentSpec] = MappingProxyType({spec.name: spec for spec in (COMMAND, HTTP)})

AGENT_NAMES: tuple[str, ...] = tuple(sorted(_SPECS))
EXTERNAL_NAMES: tuple[str, ...] = tuple(sorted(_EXTERNAL))
"""Agents that run anyone's program or ask anyone's service."""


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
    known = {**_SPECS, **_EXTERNAL}
    if name not in known:
        raise UnknownName.among("agent", name, known)
    return known[name]
