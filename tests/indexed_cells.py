"""Cells with an index of their video: an observer that describes clips, and a place for the index."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.cells import StubWorkers, toolbox
from tests.scripted_model import Reply, Request, Step, script

from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.budget import Limits
from taketwo.tools.clip_index_captions import CAPTION_PROMPT
from taketwo.tools.clip_index_registry import MERGE_PROMPT
from taketwo.tools.dvd_frame_inspect import INSPECT_PROMPT
from taketwo.tools.dvd_tools import BROWSE_PROMPT
from taketwo.tools.role_model import RoleSettings
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_index_build import IndexSettings
from taketwo.tools.video_index_store import IndexLocks, IndexStore

SETTINGS = IndexSettings(clip_s=10.0, described=True, search="bm25", charged=False)
Captions = Callable[[int], Reply]


def clip_number(request: Request) -> int:
    """Return which clip, from 0, a request is to describe."""
    found = re.search(r"Clip (\d+) of", request.text)
    assert found is not None
    return int(found[1]) - 1


def caption(description: str, **subjects: str) -> str:
    """Return a description in the form; `subjects` are names by id."""
    return json.dumps({
        "clip_start_time": "00:00:00",
        "clip_end_time": "00:00:10",
        "subject_registry": {
            key: {"name": name, "appearance": ["red"], "identity": [], "first_seen": "00:00:01"}
            for key, name in subjects.items()
        },
        "clip_description": description,
    })


def numbered(number: int) -> Reply:
    """Describe a clip by its number; each has a subject of its own."""
    return caption(f"Scene {number}: a circle rolls.", circle=f"circle {number}")


def observing(
    captions: Captions = numbered,
    *,
    merged: Reply = '{"subject_registry": {}}',
    browsed: Reply = "the whole course",
    inspected: Reply = "the circle is blue",
) -> Step:
    """Return a step that replies to whatever an observer of `dvd` is asked."""

    def reply(request: Request) -> Reply:
        system = request.messages[0].text
        if system == CAPTION_PROMPT:
            return captions(clip_number(request))
        return {MERGE_PROMPT: merged, BROWSE_PROMPT: browsed, INSPECT_PROMPT: inspected}[system]

    return reply


def indexed(
    folder: Path,
    observer: Step | Sequence[Step] | None = None,
    *,
    orchestrator: Sequence[Step] = (),
    name: str | None = None,
    place: Path | None = None,
    scope: str = "K1 dvd",
    cells: int = 1,
    at_once: int = 1,
    locks: IndexLocks | None = None,
    limits: Limits | None = None,
    question: VisibleQuestion | None = None,
    workers: StubWorkers | None = None,
    tools: Sequence[Any] = (),
    subtitles_path: Path | None = None,
    info: dict[str, Any] | None = None,
    retries: int = 0,
    seed_of: Callable[[int], int | None] | None = None,
    price: dict[str, float] | None = None,
) -> Toolbox:
    """Return a cell whose observer plays `observer` again and again, or is the model called `name`."""
    if name is None:
        steps = [observer or observing()] if not isinstance(observer, Sequence) else list(observer)
        name = script(steps, repeat_last=True)
    observed = RoleSettings(role="observer", model=name, retries=retries, price=price)
    asked: dict[str, Any] = {} if question is None else {"question": question}
    box = toolbox(
        folder,
        orchestrator=orchestrator,
        tools=tools,
        limits=limits,
        workers=workers,
        subtitles_path=subtitles_path,
        info={"has_audio": False} | (info or {}),
        extra_roles={"observer": observed},
        **asked,
    )
    seeded = RoleSettings(
        role="observer", model=name, retries=retries, seed_of=seed_of, price=price
    )
    box.index = IndexStore(
        folder=place or folder / "index",
        scope=scope,
        roles={"observer": seeded},
        cells=cells,
        at_once=at_once,
        locks=locks or IndexLocks(),
    )
    return box
