"""Agents as solvers of inspect_ai, so that they also run without a study.

    inspect eval TASK --solver taketwo/video_react --model openai/gpt-4o

A sample needs `video_path` in its metadata (and may have `subtitles_path`); its input is the
question and its choices are the options. The orchestrator is the evaluated model; the observer is
the model role `observer`, else the evaluated model as well.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import anyio
import anyio.to_thread
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from taketwo.agents.answer import Answer
from taketwo.agents.catalog import AgentSpec, agent_spec
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.store import MediaStore
from taketwo.media.transcript import OFFLINE_TRANSCRIBER
from taketwo.media.worker import MediaWorkers
from taketwo.tools.primitives import CellMedia
from taketwo.tools.role_model import ModelRole, RoleSettings
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_index_store import IndexLocks, IndexStore

__all__ = ["as_inspect_agent", "avp", "dvd", "sage", "single_turn", "video_react"]


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


@solver
def video_react(
    max_turns: int = 20,
    max_calls: int = 15,
    asks: int = 2,
    look_first: bool = True,
    observer_sees_question: bool = True,
    max_frames: int = 64,
    call_form: str = "native",
    fixed_fps: float | None = None,
    fixed_resolution: str | None = None,
    full_video: bool = False,
    store: str = ".taketwo",
) -> Solver:
    """Answer by a planner that calls an observer and the transcript; see `VideoReactOptions`."""
    options = {
        "max_turns": max_turns,
        "max_calls": max_calls,
        "asks": asks,
        "look_first": look_first,
        "observer_sees_question": observer_sees_question,
        "max_frames": max_frames,
        "call_form": call_form,
        "fixed_fps": fixed_fps,
        "fixed_resolution": fixed_resolution,
        "full_video": full_video,
    }
    return as_inspect_agent("video_react", options, store=store)


@solver
def single_turn(
    frames: int | None = None,
    fps: float | None = None,
    cap: int | None = None,
    native_video: bool = False,
    resolution: str = "medium",
    transcript: bool = False,
    store: str = ".taketwo",
) -> Solver:
    """Answer from one look at the whole video; see `SingleTurnOptions`."""
    options = {
        "frames": frames,
        "fps": fps,
        "cap": cap,
        "native_video": native_video,
        "resolution": resolution,
        "transcript": transcript,
    }
    return as_inspect_agent("single_turn", options, store=store)


@solver
def avp(
    faithful: bool = False,
    rounds: int = 3,
    threshold: float = 0.7,
    frames_low: int = 512,
    frames_medium: int = 128,
    transcript: bool | None = None,
    second_look: bool | None = None,
    store: str = ".taketwo",
) -> Solver:
    """Answer by planning, observing and reviewing in rounds; see `AvpOptions`."""
    options = {
        "faithful": faithful,
        "rounds": rounds,
        "threshold": threshold,
        "frames_low": frames_low,
        "frames_medium": frames_medium,
        "transcript": transcript,
        "second_look": second_look,
    }
    return as_inspect_agent("avp", options, store=store)


@solver
def dvd(
    clip_seconds: float = 10.0,
    turns: int = 15,
    top_k: int = 16,
    search: str = "auto",
    lite: bool = False,
    call_form: str = "native",
    faithful: bool = False,
    charge_index: bool = False,
    store: str = ".taketwo",
) -> Solver:
    """Answer by search in an index of the video that is made first; see `DvdOptions`."""
    options = {
        "clip_seconds": clip_seconds,
        "turns": turns,
        "top_k": top_k,
        "search": search,
        "lite": lite,
        "call_form": call_form,
        "faithful": faithful,
        "charge_index": charge_index,
    }
    return as_inspect_agent("dvd", options, store=store)


@solver
def sage(
    library: str | None = None,
    context_frames: int = 64,
    max_steps: int = 10,
    calls_per_turn: int = 8,
    call_form: str = "native",
    store: str = ".taketwo",
) -> Solver:
    """Answer at a first look or by a reasoner in steps; with a library Dynamic-SAGE; see `SageOptions`."""
    options = {
        "library": library,
        "context_frames": context_frames,
        "max_steps": max_steps,
        "calls_per_turn": calls_per_turn,
        "call_form": call_form,
    }
    return as_inspect_agent("sage", options, store=store)
