"""Cells of SAGE for tests: replies of its two stages, and what was sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import ModelOutput
from tests.cells import model_name, toolbox
from tests.scripted_model import Request, Step, calls, requests_of

from taketwo.agents.sage import SPEC, Sage
from taketwo.agents.sage_options import SageOptions
from taketwo.tools.toolbox import Toolbox

NOTE = {"video_context": "A circle moves over a grey ground.", "query_intent": "its colour"}
GROUND = ("ground_event", {"event": "the circle"})
BLUE = '{"answer": "B", "reasoning": "seen"}'
FOUND = '{"found": true, "start_s": 3.0, "end_s": 5.0, "description": "a circle"}'
NOT_FOUND = '{"found": false, "description": "an empty ground"}'


def noted(text: str = "", note: dict[str, str] | None = None) -> str:
    return f"```json\n{json.dumps(note or NOTE)}\n```\n{text}"


def escalates(*wanted: tuple[str, dict[str, object]]) -> ModelOutput:
    return calls(*(wanted or (GROUND,)), text=noted())


def cell(
    folder: Path,
    orchestrator: Sequence[Step],
    observer: Sequence[Step] = (),
    *,
    options: dict[str, object] | None = None,
    **changes: Any,
) -> tuple[Sage, Toolbox]:
    """Return the agent and a cell for it."""
    checked = SPEC.checked(options or {})
    assert isinstance(checked, SageOptions)
    box = toolbox(
        folder,
        **(
            {"orchestrator": orchestrator, "observer": observer, "tools": SPEC.tools(checked)}
            | changes
        ),
    )
    return Sage(options=checked), box


def sent(box: Toolbox, role: Any = "orchestrator") -> list[Request]:
    return requests_of(model_name(box, role))
