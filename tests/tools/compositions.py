"""Compositions for tests, as records and checked, and calls of them in a cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.cells import toolbox
from tests.scripted_model import Step

from taketwo.tools.composite_tool import composite_tool
from taketwo.tools.composition import Composition
from taketwo.tools.library import LIBRARY_FORMAT, load_library, read_library
from taketwo.tools.toolbox import CallResult, Toolbox

FOUND = '{"found": true, "start_s": 3.0, "end_s": 5.0, "description": "a red door opens"}'
NOT_FOUND = '{"found": false, "description": "a wall"}'

LOOK: dict[str, Any] = {
    "name": "look",
    "description": "Look at a thing.",
    "guidance": "Use it to look.",
    "parameters": {
        "window": {"type": "window", "required": False},
        "thing": {"type": "text", "description": "What to look at"},
    },
    "steps": [
        {"id": "found", "do": "ground_event", "with": {"event": "$thing", "window": "$window"}},
        {
            "id": "pictures",
            "do": "extract_video_parts",
            "with": {"window": "$found.window", "count": 3},
            "when": ["$found.found"],
        },
        {
            "id": "report",
            "do": "analyze",
            "with": {"focus": "$thing", "frames": "$pictures.frames"},
        },
    ],
    "evidence": {"observations": "$report.observations"},
}


def changed(record: dict[str, Any] = LOOK, **changes: Any) -> dict[str, Any]:
    """Return the record with values in place: `steps__0__with__event="x"`; DROP removes."""
    new = deepcopy(record)
    for path, value in changes.items():
        *parents, last = [int(part) if part.isdigit() else part for part in path.split("__")]
        here: Any = new
        for part in parents:
            here = here[part]
        if value is DROP:
            del here[last]
        elif isinstance(here, list) and last == len(here):
            here.append(value)
        else:
            here[last] = value
    return new


DROP = object()


def library_text(*records: dict[str, Any], **changes: Any) -> str:
    whole = {"format": LIBRARY_FORMAT, "name": "own", "compositions": list(records)}
    return json.dumps({**whole, **changes})


def checked(record: dict[str, Any] = LOOK, **changes: Any) -> Composition:
    """Return a composition through everything that checks it."""
    return read_library(library_text(changed(record, **changes)), "own.json").compositions[0]


def shipped(name: str) -> Composition:
    return load_library("composites").composition(name)


async def call(
    folder: Path,
    composition: Composition,
    arguments: dict[str, object] | None = None,
    observer: Sequence[Step] = (),
    **changes: Any,
) -> tuple[CallResult, Toolbox]:
    """Call a composition as the only tool of a cell."""
    box = toolbox(folder, observer=observer, tools=[composite_tool(composition)], **changes)
    return await box.run_call(composition.name, arguments or {}), box
