"""Agents of others that misbehave, for cells in child processes: `tests.end_to_end.bad_agents:NAME`."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Never

import anyio

from taketwo.agents.answer import Answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.toolbox import Toolbox

ANSWER = Answer(status="answered", text="A", option_index=0)


async def ends_process(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Take the process with it, but only on question `q0`."""
    if question.question_id == "q0":
        os._exit(11)
    return ANSWER


async def holds_interpreter(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Wait in C code without letting any other thread run, having told which process does."""
    note = Path(os.environ["BAD_AGENTS_NOTE"])
    await anyio.to_thread.run_sync(note.write_text, str(os.getpid()))
    ctypes.PyDLL(None).sleep(600)
    return ANSWER


async def exits(question: VisibleQuestion, toolbox: Toolbox) -> Never:
    """Raise what ends a process."""
    raise SystemExit(5)


async def interrupts(question: VisibleQuestion, toolbox: Toolbox) -> Never:
    """Raise what a signal raises, without a signal."""
    raise KeyboardInterrupt


async def cancels(question: VisibleQuestion, toolbox: Toolbox) -> Never:
    """Raise a cancellation that nobody asked for."""
    raise anyio.get_cancelled_exc_class()


async def swallows(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Answer all the same when it is told to stop."""
    try:
        await anyio.sleep_forever()
    except BaseException:  # noqa: BLE001 that is what it is for
        return ANSWER


async def blocks(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Answer late, without letting the event loop run meanwhile."""
    ctypes.CDLL(None).usleep(400_000)
    return ANSWER


async def prints(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Write to the standard streams, read from one, and close them."""
    print("{", flush=True)
    os.write(1, b"\xff\xfe no report\n")
    if sys.stdin.read():
        raise ValueError("standard input is not empty")
    os.close(0)
    return ANSWER


async def looks_around(question: VisibleQuestion, toolbox: Toolbox) -> Answer:
    """Raise where the process was given what sets the engine, or what a `.env` file holds."""
    found = {name for name in os.environ if name.startswith(("INSPECT_", "DOTENV_"))}
    if found - {"INSPECT_CACHE_DIR"}:
        raise ValueError(f"found {sorted(found)}")
    return ANSWER


for agent in (
    looks_around,
    ends_process,
    holds_interpreter,
    exits,
    interrupts,
    cancels,
    swallows,
    blocks,
    prints,
):
    agent.prompts = {"orchestrator": "none"}  # type: ignore[attr-defined]
