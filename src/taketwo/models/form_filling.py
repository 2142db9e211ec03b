"""Replies in a form, by an offline model: each field that it knows by name, from evidence alone.

In lists the names beside a field count as well: objects with a start and an end are stretches of the
video, objects with one time are entries a frame, objects with a way of loading are plans. A field of
an unknown name gets what is neutral in its type; nothing is ever made up to fill one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from taketwo.models.fences import unfenced
from taketwo.models.form_plans import PlannedLook, chosen_numbers, look_next, thing_asked
from taketwo.models.form_sightings import (
    all_lines,
    counted_in,
    frame_answer,
    known_lines,
    patch_of,
    relevant_lines,
    report,
    subjects,
    tile_span,
)
from taketwo.models.form_tools import named_tool
from taketwo.models.known import Known
from taketwo.models.reasons import intent, reason_for
from taketwo.models.schema_fitting import Schema, fitted, resolved
from taketwo.models.sought import Found, Line, body_of, found_in, wants_text
from taketwo.models.video_lines import TextLine, clock, when

__all__ = ["form_reply"]

_START = ("start_s", "start_time", "start", "timestamp_start")
_END = ("end_s", "end_time", "end", "timestamp_end")
_TIME = ("time_s", "time", "timestamp")
_SETTLED = ("sufficient", "info_sufficient", "is_sufficient", "answerable", "verdict")
_CLIP = re.compile(r"\bfrom (\d+:\d\d:\d\d)\b[^\n]*? to (\d+:\d\d:\d\d)\b")
_QUOTED = 4
_DEEPEST = 8  # objects inside objects that are looked into
_UNSETTLED = 0.6  # the most confidence of a review that calls for more

_Field = Callable[[Schema], JsonValue]


def form_reply(schema: Schema, known: Known) -> str:
    """Return the JSON object that fits `schema`, filled with what is known."""
    return json.dumps(fitted(schema, _Filling(schema, known).object(schema)), ensure_ascii=False)


def _properties(schema: Schema) -> Mapping[str, Schema]:
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {name: part for name, part in found.items() if isinstance(part, Mapping)}


class _Filling:
    """One form being filled."""

    def __init__(self, root: Schema, known: Known) -> None:
        self._root = root
        self._known = known
        self._names = set(_properties(resolved(root, root)))
        self._planned: PlannedLook | None = None
        self._tool = named_tool(known) if "tool_name" in self._names else None
        self._sought: Found | None = found_in(known_lines(known), known.target)
        self._fields: dict[str, _Field] = {}
        for names, field in self._table():
            self._fields |= dict.fromkeys(names, field)

    def object(self, schema: Schema, depth: int = 0) -> JsonValue:
        """Return what there is to say in an object, by the names of its properties."""
        found: dict[str, JsonValue] = {}
        if depth > _DEEPEST:
            return found
        for name, part in _properties(resolved(schema, self._root)).items():
            plain = self._plain(part)
            value = self._value(name, plain, depth)
            choices = plain.get("enum")
            if value is None and isinstance(choices, list) and self._known.label in choices:
                # A choice of labels that has no way out is guessed at, and never the first of them.
                value = None if fitted(part, None, self._root) is None else self._known.label
            if value is not None:
                found[name] = value
        return found

    def _table(self) -> tuple[tuple[tuple[str, ...], _Field], ...]:
        return (
            (("reasoning", "analysis", "justification", "rationale", "explanation"), self._reason),
            (("selected_option", "option", "choice", "label"), self._label),
            (("selected_option_text", "option_text", "answer_text"), self._answer_text),
            (("final_answer",), self._final_answer),
            (("answer",), self._answer),
            (_SETTLED, lambda _: self._is_settled),
            (("confidence", "certainty"), self._confidence),
            (("found", "is_found"), lambda _: self._sought is not None),
            (_START, lambda part: self._edge(part, is_start=True)),
            (_END, lambda part: self._edge(part, is_start=False)),
            (("clip_start_time",), lambda part: self._clip_time(part, 0)),
            (("clip_end_time",), lambda part: self._clip_time(part, -1)),
            (("description",), self._description),
            (("detailed_response", "video_context", "observations"), self._report),
            (("clip_description", "caption", "summary"), self._caption),
            (("query_intent", "intent"), lambda _: intent(self._known.asked)),
            (("completion_criteria",), self._criteria),
            (("segments", "tiles", "indices"), lambda _: chosen_numbers(self._known)),
            (("patch",), self._patch),
            (("tool_name",), lambda _: None if self._tool is None else self._tool.name),
            (("tool_input",), lambda _: None if self._tool is None else self._tool.input),
            (("subject_registry",), lambda _: subjects(self._known)),
        )

    def _plain(self, schema: Schema) -> Schema:
        """Return `schema`, of alternatives the first one that is not null."""
        whole = resolved(schema, self._root)
        parts = whole.get("anyOf") or whole.get("oneOf")
        if not isinstance(parts, list):
            return whole
        plain = [resolved(part, self._root) for part in parts if isinstance(part, Mapping)]
        return next((part for part in plain if part.get("type") != "null"), whole)

    def _value(self, name: str, schema: Schema, depth: int) -> JsonValue:
        field = self._fields.get(name)
        if field is not None and (value := field(schema)) is not None:
            return value
        items = schema.get("items")
        if isinstance(items, Mapping):
            part = self._plain(items)
            return self._entries(part) if _properties(part) else None
        return self.object(schema, depth + 1) if _properties(schema) else None

    # Lists of objects

    def _entries(self, part: Schema) -> JsonValue:
        names = set(_properties(part))
        if names & {"load_mode", "sub_query", "step_id"}:
            step = self._step()
            return [{name: value for name, value in step.items() if name in names}]
        if names & set(_START) and names & set(_END):
            return [self._stretch(line, part) for line in relevant_lines(self._known)]
        if names & set(_TIME):
            return self._frame_entries(part)
        return None

    def _step(self) -> dict[str, JsonValue]:
        known, look = self._known, self._look
        return {
            "step_id": "1",
            "description": f"{look.goal}, for {thing_asked(known)}",
            "sub_query": known.conversation.question,
            "load_mode": "region" if look.spans else "uniform",
            "regions": [[start_s, end_s] for start_s, end_s in look.spans],
            "fps": look.fps,
            "spatial_token_rate": look.resolution,
        }

    def _stretch(self, line: Line, part: Schema) -> JsonValue:
        entry: dict[str, JsonValue] = {}
        for name, field in _properties(part).items():
            if name in _START:
                entry[name] = _time(line.start_s, self._plain(field))
            elif name in _END:
                entry[name] = _time(line.end_s, self._plain(field))
            elif self._plain(field).get("type") == "string":
                entry[name] = body_of(line)
        return entry

    def _frame_entries(self, part: Schema) -> JsonValue:
        entries: list[JsonValue] = []
        for facts in self._known.measured.facts:
            entry: dict[str, JsonValue] = {}
            for name, field in _properties(part).items():
                plain = self._plain(field)
                if name in _TIME:
                    entry[name] = _time(facts.time_s, plain)
                elif plain.get("type") in {"integer", "number"}:
                    entry[name] = counted_in(facts, self._known.target)
                elif plain.get("type") == "string":
                    entry[name] = frame_answer(facts, self._known.target)
            entries.append(entry)
        return entries

    # Single fields

    @property
    def _look(self) -> PlannedLook:
        if self._planned is None:
            self._planned = look_next(self._known)
        return self._planned

    @property
    def _is_settled(self) -> bool:
        """Return whether the evidence settles the question; who looks settles it where it saw anything."""
        known = self._known
        return self._observed is not None if known.is_observer else known.is_settled

    @property
    def _observed(self) -> str | None:
        """Return what an observer answers: a question by the evidence for it, a theme by what shows it."""
        known = self._known
        is_question = bool(known.conversation.options) or known.target.rstrip().endswith("?")
        if is_question or known.asked.counts:
            return known.answer if known.is_supported else None
        if self._sought is not None:
            return "; ".join(map(body_of, self._sought.lines[:_QUOTED]))
        texts = [line for line in known_lines(known) if isinstance(line, TextLine)]
        return "; ".join(map(body_of, texts)) or None if wants_text(known.target) else None

    @property
    def _may_answer(self) -> bool:
        """Return whether an answer is to be named: not in a review that calls for more, nor in the dark."""
        known = self._known
        if self._names & set(_SETTLED):
            return self._is_settled
        return known.has_evidence or not known.conversation.may_abstain

    def _label(self, _: Schema) -> JsonValue:
        return self._known.label if self._may_answer else None

    def _answer_text(self, _: Schema) -> JsonValue:
        return self._known.answer if self._may_answer else None

    def _final_answer(self, _: Schema) -> JsonValue:
        if self._known.is_observer:
            return self._observed
        return (self._known.label or self._known.answer) if self._may_answer else None

    def _answer(self, part: Schema) -> JsonValue:
        return self._description(part) if self._known.is_observer else self._final_answer(part)

    def _confidence(self, part: Schema) -> JsonValue:
        share = self._known.confidence
        if self._names & set(_SETTLED) and not self._is_settled:
            share = min(share, _UNSETTLED)
        low, high = part.get("minimum", 0), part.get("maximum", 1)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and high > 1:
            return low + share * (high - low)
        return round(share, 3)

    def _edge(self, part: Schema, *, is_start: bool) -> JsonValue:
        if part.get("type") == "integer" and (tiles := tile_span(self._known)):
            return tiles[0 if is_start else 1]
        if self._sought is None:
            return None
        return _time(self._sought.start_s if is_start else self._sought.end_s, part)

    def _clip_time(self, part: Schema, position: int) -> JsonValue:
        """Return where the clip starts or ends: as the request gives it, else by its frames."""
        given = _CLIP.search(unfenced(self._known.said))
        if given is not None and part.get("type") == "string":
            return given.group(1 if position == 0 else 2)
        frames = self._known.measured.facts
        return _time(frames[position].time_s, part) if frames else None

    def _description(self, _: Schema) -> JsonValue:
        """Return the lines that show what is looked for, else what is seen instead."""
        lines = known_lines(self._known) if self._sought is None else self._sought.lines
        quoted = "; ".join(
            f"{when(line.start_s, line.end_s)} {body_of(line)}" for line in lines[:_QUOTED]
        )
        if self._sought is not None:
            return quoted
        number = len(self._known.measured.facts)
        instead = f"; seen instead: {quoted}" if quoted else ""
        return f"not recognised in {number} frames{instead}"

    def _report(self, _: Schema) -> JsonValue:
        return report(self._known)

    def _caption(self, _: Schema) -> JsonValue:
        return "\n".join(all_lines(self._known)) or "Nothing was recognised."

    def _criteria(self, _: Schema) -> JsonValue:
        return f"One option leads by what was seen or said of {thing_asked(self._known)}"

    def _patch(self, part: Schema) -> JsonValue:
        choices = part.get("enum")
        return patch_of(self._known, choices if isinstance(choices, list) else [])

    def _reason(self, _: Schema) -> JsonValue:
        known = self._known
        if known.is_observer:
            lines = [
                f"{when(line.start_s, line.end_s)} {body_of(line)}"
                for line in relevant_lines(known)
            ]
            seen = "\n".join(lines) or "nothing that bears on what is asked"
            return f"Measured in {len(known.measured.facts)} frames:\n{seen}"
        if self._tool is not None:
            return f"{self._tool.name} may show what is missing: {thing_asked(known)}."
        if self._names & {"steps", "segments"}:
            return f"{self._look.goal} comes next: the evidence does not decide yet."
        if self._may_answer and known.answer is not None:
            return reason_for(known.asked, known.conversation, known.answer)
        return f"The evidence does not decide. Missing: {thing_asked(known)}. {self._look.goal} may help."


def _time(seconds: float, part: Schema) -> JsonValue:
    """Return a time in the type that a field has: seconds, or `HH:MM:SS` in a text."""
    return clock(seconds) if part.get("type") == "string" else round(seconds, 2)
