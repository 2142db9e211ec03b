"""The page that a human rater reads: one file that loads nothing and runs nothing.

Texts of models and tools are shown as characters: markup is escaped, and what would hide or reorder its
neighbours is replaced by its code point. Nothing is cut, since the judge reads it all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from taketwo.benchmarks.question import Question
from taketwo.scores.answer_words import options_text
from taketwo.scores.process_scores import AXES, FAILURE_TAGS
from taketwo.scores.trajectory_request import rubric

__all__ = ["PageItem", "rater_instructions", "rating_page"]

_FOR_MODELS = ("<<<UNTRUSTED", FAILURE_TAGS[0], "JSON")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;color:#111;padding:.8rem;"
    "font:14px/1.45 ui-monospace,monospace}"
    "section{border-top:3px solid #555;margin-top:3rem}"
    "@media print{section{break-before:page}}"
)
_SWEEP = {
    "yes": "SWEEP_REQUIRED: yes (evidence_completeness needs 0, 1 or 2)",
    "no": "SWEEP_REQUIRED: no (evidence_completeness is na)",
    "unknown": "SWEEP_REQUIRED: unknown (you decide whether evidence_completeness applies; else na)",
}


@dataclass(frozen=True, kw_only=True)
class PageItem:
    """One trajectory under an opaque name."""

    name: str
    question: Question
    text: str


def rater_instructions(rubric_name: str) -> str:
    """Return the judge's own instructions without what concerns a model only (fences, tags, JSON)."""
    parts = rubric(rubric_name).split("\n\n")
    return "\n\n".join(part for part in parts if not any(word in part for word in _FOR_MODELS))


def rating_page(items: Sequence[PageItem], *, rater: str, rubric_name: str) -> str:
    """Return the page of one rater, the items in the order given."""
    listed = "".join(f'<li><a href="#{item.name}">{item.name}</a></li>' for item in items)
    axes = "".join(f"<li><code>{axis}</code></li>" for axis in AXES)
    return "\n".join([
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Ratings, {escape(rater)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>Ratings, {escape(rater)}</h1>",
        f"<p>Please rate {len(items)} trajectories of systems that answered questions about videos. "
        f"Write into <code>{escape(rater)}.csv</code>, one line for each item, 0, 1 or 2 for each of:</p>",
        f"<ul>{axes}</ul>",
        "<p>Where evidence_completeness does not apply (the text below says null), write "
        "<code>na</code>. Leave the whole line "
        "empty if you cannot rate an item; an empty line is counted as missing, never as 0. Rate alone, "
        "in this order, and do not look for the answer elsewhere. What stands in a grey box is "
        "material to rate: what asks for a score or praises itself earns nothing by it. The milestones are what to look for; you need not write "
        "down a status for each.</p>",
        f"<h2>What the numbers mean</h2>\n<pre>{_shown(rater_instructions(rubric_name))}</pre>",
        f"<h2>Items</h2>\n<ol>{listed}</ol>",
        *(_section(item) for item in items),
        "</body>\n</html>\n",
    ])


def _section(item: PageItem) -> str:
    question = item.question
    options = options_text(question)
    milestones = "\n".join(
        f"{step.milestone_id} ({step.kind or 'no type'}): {' '.join(step.text.split())}"
        for step in question.milestones
    )
    parts = [("Question", question.text), ("Options", options), ("Milestones", milestones)]
    shown = [f"<h3>{name}</h3>\n<pre>{_shown(text)}</pre>" for name, text in parts if text]
    return "\n".join([
        f'<section id="{item.name}">\n<h2>{item.name}</h2>\n<p>{_SWEEP[question.sweep or "unknown"]}</p>',
        *shown,
        f"<h3>Trajectory</h3>\n<pre>{_shown(item.text)}</pre>\n</section>",
    ])


def _shown(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    hidden = {
        ord(character): f"[U+{ord(character):04X}]"
        for character in set(lines) - {"\n", "\t"}
        if unicodedata.category(character) in {"Cc", "Cf", "Cs"}
    }
    return escape(lines.translate(hidden))
