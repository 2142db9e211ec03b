"""Replies in AVP's forms, and what a cell of AVP was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.cells import model_name
from tests.scripted_model import Request, requests_of

from taketwo.tools.toolbox import Toolbox

__all__ = ["plan", "report", "review", "sent", "verdict"]


def plan(**step: object) -> str:
    """A plan of one look; a whole-video look at 1 fps and low resolution where nothing is said."""
    looks = {
        "step_id": "1",
        "description": "find the circle",
        "sub_query": "Which colour is the circle?",
        "load_mode": "uniform",
        "fps": 1,
        "spatial_token_rate": "low",
        "regions": [],
    }
    return json.dumps({
        "reasoning": "look",
        "completion_criteria": "the colour is seen",
        "steps": [{**looks, **step}],
    })


def report(text: str, *evidence: tuple[object, object, str]) -> str:
    return json.dumps({
        "detailed_response": text,
        "key_evidence": [
            {"timestamp_start": start, "timestamp_end": end, "description": what}
            for start, end, what in evidence
        ],
        "reasoning": "it is there",
    })


def review(sufficient: object, confidence: object, option: object = None, text: str = "") -> str:
    return json.dumps({
        "sufficient": sufficient,
        "confidence": confidence,
        "justification": "the circle at 3 s" if sufficient else "look between 10 s and 12 s",
        "reasoning": "from the report",
        "selected_option": option,
        "selected_option_text": text,
    })


def verdict(option: object, text: str | None = "") -> str:
    return json.dumps({
        "selected_option": option,
        "selected_option_text": text,
        "confidence": 0.6,
        "reasoning": "as reported",
    })


def sent(box: Toolbox, role: str = "orchestrator") -> Sequence[Request]:
    return requests_of(model_name(box, role))  # type: ignore[arg-type]
