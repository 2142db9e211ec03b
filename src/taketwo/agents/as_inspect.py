"""Agents as solvers of inspect_ai, so that they also run without a study.

    inspect eval TASK --solver taketwo/video_react --model openai/gpt-4o

A sample needs `video_path` in its metadata (and may have `subtitles_path`); its input is the
question and its choices are the options. The orchestrator is the evaluated model; the observer is
the model role `observer`, else the evaluated model as well.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

import anyio
import anyio.to_thread
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from taketwo.agents.answer import Answer
from taketwo.agents.catalog import AGENT_NAMES, AgentSpec, agent_spec
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.store import MediaStore
from taketwo.media.transcript import OFFLINE_TRANSCRIBER
from taketwo.media.worker import MediaWorkers
from taketwo.tools.primitives import CellMedia
from taketwo.tools.role_model import ModelRole, RoleSettings
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_index_store import IndexLocks, IndexStore

__all__ = ["SOLVERS", "as_inspect_agent"]


def as_inspect_agent(
    name: str, options: Mapping[str, object], *, store: str = ".taketwo", workers: int = 1
) -> Solver:
    """Return the agent called `name` as a solver.

    Parameters
    ----------
    name
        Name of an agent, or `module:callable`.
    options
        The agent's options.
    store
        Folder for frames and transcripts, shared by samples and runs. An index of a video is shared
        by the samples of one run and epoch only.
    workers
        How many processes decode.

    Raises
    ------
    UnknownName, RequestError
        If the agent or an option is unknown.
    """
    spec = agent_spec(name)
    checked = spec.checked(options)
    agent = spec.build(checked)
    decoders = MediaWorkers(workers)
    slots = anyio.CapacityLimiter(workers)
    run, locks = secrets.token_hex(8), IndexLocks()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate  # the agent calls its models by role
        media = await _media_of(state, decoders, slots, Path(store))
        question = VisibleQuestion(
            question_id=str(state.sample_id),
            text=state.input_text,
            options=tuple(choice.value for choice in state.choices),
            video_duration_s=media.info.duration_s,
        )
        roles = _roles(spec)
        part = f"{run}/epoch-{state.epoch}"
        toolbox = Toolbox(
            question=question,
            tools=spec.tools(checked),
            roles=roles,
            limits=spec.limits_for(checked),
            media=media,
            # An epoch is an execution: its samples share the index of a video, and no others do.
            index=IndexStore(
                folder=Path(store) / "index" / part, scope=part, roles=roles, locks=locks
            ),
        )
        answer = await agent(question, toolbox)
        if toolbox.failure is not None:
            raise toolbox.failure
        return _answered(state, question, answer)

    # The engine has no end of a solver; the decoders go with it, at the latest with the process.
    weakref.finalize(solve, decoders.close)
    return solve


def _roles(spec: AgentSpec) -> dict[ModelRole, RoleSettings]:
    models: dict[ModelRole, Model | str] = {
        "orchestrator": get_model(),
        "observer": get_model(role="observer"),
        "transcriber": OFFLINE_TRANSCRIBER,
    }
    return {
        role: RoleSettings(role=role, model=model)
        for role, model in models.items()
        if role in spec.roles or role == "transcriber"
    }


async def _media_of(
    state: TaskState, workers: MediaWorkers, slots: anyio.CapacityLimiter, store: Path
) -> CellMedia:
    path = state.metadata.get("video_path")
    if not isinstance(path, str):
        raise RequestError(
            f"sample {state.sample_id!r} names no video: its metadata need `video_path`, a file"
        )
    subtitles = state.metadata.get("subtitles_path")
    info = await anyio.to_thread.run_sync(workers.probe, Path(path), limiter=slots)
    return CellMedia(
        path=Path(path),
        info=info,
        workers=workers,
        frames=MediaStore(store / "frames"),
        derived=MediaStore(store / "media"),
        slots=slots,
        subtitles=Path(subtitles) if isinstance(subtitles, str) else None,
    )


def _answered(state: TaskState, question: VisibleQuestion, answer: Answer) -> TaskState:
    chosen = answer.option_index
    if question.options:
        for index in range(len(question.options)):
            state.choices.mark_choice(index, index == chosen)
        text = "" if chosen is None else question.labels[chosen]
    else:
        text = answer.text if answer.status == "answered" else ""
    state.output.completion = text
    state.store.set("taketwo:answer", asdict(answer))
    return state


def _solver_of(name: str) -> Callable[..., Solver]:
    """Return the solver of an agent; it takes the agent's options by their names, checked as in a study."""

    def build(store: str = ".taketwo", **options: object) -> Solver:
        return as_inspect_agent(name, options, store=store)

    build.__doc__ = agent_spec(name).summary
    return solver(name=name)(build)


SOLVERS: Mapping[str, Callable[..., Solver]] = MappingProxyType({
    name: _solver_of(name) for name in AGENT_NAMES
})
"""The agents of the catalogue as solvers by name; the engine knows them as `taketwo/<name>`."""
