"""The interpreter of compositions: runs the steps, counts nothing itself, and keeps what it has got.

Each step is a primitive operation and is checked, counted and logged by the primitives; a step that is
left out is no operation. A step that cannot be done leaves a gap, and the evidence of the others is
returned with the gap named. Only a call that has no evidence because of errors is an error itself:
that an event was not found, or that nobody speaks, is evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.composition import Composition, Reference, Step, references_in
from taketwo.tools.composition_forms import ValueType
from taketwo.tools.composition_steps import run_step
from taketwo.tools.composition_values import (
    MAX_CHARACTERS,
    FramesValue,
    ObservedValue,
    Value,
    evidence_json,
    evidence_line,
    evidence_text,
    is_there,
)
from taketwo.tools.context_overflow import ContextOverflow
from taketwo.tools.media_shelf import MediaShelf
from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply

__all__ = ["CompositionResult", "Evidence", "StepRecord", "run_composition"]

StepStatus = Literal["done", "skipped", "failed"]


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """What became of a step: `skipped` is no operation; `failed` was tried, `failure` says why."""

    step: Step
    status: StepStatus
    reason: str = ""
    failure: ToolFailure | None = None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A piece of evidence; `value` is None where there is none, and `reason` says why."""

    name: str
    type: ValueType
    value: Value | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CompositionResult:
    """What a call of a composition gave.

    `seen` are the frames that a model was shown on the way and that are not handed over. `notes` are
    remarks about the arguments.
    """

    steps: tuple[StepRecord, ...]
    evidence: tuple[Evidence, ...]
    seen: tuple[SeenFrame, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[StepRecord, ...]:
        """Return the steps that could not be done."""
        return tuple(record for record in self.steps if record.failure is not None)

    def to_json(self) -> dict[str, JsonValue]:
        """Return evidence with its provenance, and what became of each step, as JSON values."""
        evidence: dict[str, JsonValue] = {
            one.name: (
                {"type": one.type, "none": one.reason}
                if one.value is None
                else evidence_json(one.type, one.value)
            )
            for one in self.evidence
        }
        return {
            "evidence": evidence,
            "steps": [
                {
                    "id": record.step.id,
                    "operation": record.step.do,
                    "status": record.status,
                    "reason": record.reason,
                }
                for record in self.steps
            ],
            "complete": not self.failures,
            "notes": list(self.notes),
        }

    def to_reply(self, shelf: MediaShelf) -> ToolReply:
        """Return the result as an orchestrator gets it: what there is, what is missing, untrusted text fenced.

        Frames that are handed over are kept on the `shelf`, and the result says under which name.
        """
        fields: dict[str, str] = {}
        untrusted: dict[str, str] = {}
        frames: list[SeenFrame] = []
        is_cut = False
        for one in self.evidence:
            if one.value is None:
                fields[one.name] = f"none: {one.reason}"
                continue
            fields[one.name] = evidence_line(one.value)
            text = evidence_text(one.value)
            if len(text) > MAX_CHARACTERS:
                is_cut = True
                fields[one.name] += f"; cut after {MAX_CHARACTERS} of {len(text)} characters"
            if text:
                untrusted[one.name] = text[:MAX_CHARACTERS]
            if isinstance(one.value, FramesValue):
                fields[one.name] += f"; kept as {shelf.put(one.value.frames)}"
                frames += one.value.frames
        done = sum(record.status == "done" for record in self.steps)
        fields["steps"] = f"{done} of {len(self.steps)} done"
        if self.failures:
            said = "; ".join(
                f"{record.step.do} failed ({record.failure.code}: {record.failure.message:.300})"
                for record in self.failures
                if record.failure is not None
            )
            fields["incomplete"] = said
        if self.notes:
            fields["note"] = "; ".join(self.notes)
        return ToolReply(
            fields=fields,
            untrusted=untrusted,
            frames=tuple(dict.fromkeys(frames)),
            seen=self.seen,
            truncated=bool(self.failures) or is_cut,
            data=self.to_json(),
        )


async def run_composition(
    composition: Composition,
    given: Mapping[str, Value],
    context: ToolContext,
    notes: tuple[str, ...] = (),
) -> CompositionResult:
    """Run a checked composition with the values of its parameters and return what it gave.

    Raises
    ------
    ToolFailure
        If there is no evidence because a step could not be done.
    Exception
        A fault of a provider or of the media, which ends the cell.
    """
    run = _Run(composition, given, context)
    for step in composition.steps:
        await run.step(step)
    result = run.result(notes)
    if not any(one.value is not None for one in result.evidence):
        failure = next((one.failure for one in result.failures if one.failure is not None), None)
        if failure is not None:
            raise ToolFailure(
                failure.code,
                f"{composition.name} has no evidence: {failure.message}",
                retryable=failure.retryable,
            ) from failure
    return result


@dataclass
class _Run:
    composition: Composition
    given: Mapping[str, Value]
    context: ToolContext
    values: dict[Reference, Value] = field(default_factory=dict[Reference, Value])
    records: list[StepRecord] = field(default_factory=list[StepRecord])
    seen: list[SeenFrame] = field(default_factory=list[SeenFrame])

    def __post_init__(self) -> None:
        self.values = {Reference(name=name): value for name, value in self.given.items()}

    async def step(self, step: Step) -> None:
        """Run one step and keep what it gives, or why it does not."""
        inputs, missing = self._inputs(step)
        if missing is not None:
            self.records.append(StepRecord(step=step, status="skipped", reason=missing))
            return
        try:
            fields = await run_step(step, inputs, self.context)
        except ContextOverflow as error:
            failure = ToolFailure("too_long", f"{error}; name a shorter window", retryable=True)
        except BudgetExhausted as error:
            failure = ToolFailure("budget_exhausted", str(error), retryable=False)
        except ToolFailure as error:
            failure = error
        else:
            self._keep(step, inputs, fields)
            return
        self.records.append(
            StepRecord(step=step, status="failed", reason=failure.message, failure=failure)
        )

    def _keep(
        self, step: Step, inputs: Mapping[str, tuple[Value, ...]], fields: Mapping[str, Value]
    ) -> None:
        for name, value in fields.items():
            self.values[Reference(name=step.id, field=name)] = value
        shown = [*inputs.get("frames", ()), *(fields.values() if step.do == "ground_event" else ())]
        for value in shown:
            if isinstance(value, FramesValue):
                self.seen += value.frames
        self.records.append(StepRecord(step=step, status="done"))

    def result(self, notes: tuple[str, ...]) -> CompositionResult:
        """Return the evidence, each piece with what it is or why there is none."""
        evidence = tuple(
            self._evidence(name, reference)
            for name, text in self.composition.evidence.items()
            for reference in references_in(text)
        )
        handed_over = {
            frame.sha256
            for one in evidence
            if isinstance(one.value, FramesValue)
            for frame in one.value.frames
        }
        seen = {frame.sha256: frame for frame in self.seen if frame.sha256 not in handed_over}
        return CompositionResult(
            steps=tuple(self.records), evidence=evidence, seen=tuple(seen.values()), notes=notes
        )

    def _inputs(self, step: Step) -> tuple[dict[str, tuple[Value, ...]], str | None]:
        """Return what is bound to the step's ports, or why it cannot run."""
        for condition in step.when:
            for reference in references_in(condition):
                if not is_there(self.values.get(reference)):
                    return {}, self._reason(reference)
        for condition in step.unless:
            for reference in references_in(condition):
                if is_there(self.values.get(reference)):
                    return {}, f"{reference} is there"
        inputs: dict[str, tuple[Value, ...]] = {}
        for name in step.bindings:
            bound = step.references(name)
            found = tuple(
                value
                for value in (self.values.get(reference) for reference in bound)
                if value is not None and is_there(value)
            )
            if len(found) < len(bound) and not step.form.ports[name].droppable:
                missing = next(one for one in bound if not is_there(self.values.get(one)))
                return {}, self._reason(missing)
            inputs[name] = found
        if step.form.one_of and not any(inputs.get(name) for name in step.form.one_of):
            bound = [one for name in step.form.one_of for one in step.references(name)]
            return {}, self._reason(bound[0])
        return inputs, None

    def _evidence(self, name: str, reference: Reference) -> Evidence:
        kind = self.composition.type_of(reference)
        if kind is None:
            raise ValueError(f"{reference} names nothing; the composition was not checked")
        value = self.values.get(reference)
        # That there is no speech and that nothing was found are evidence; an empty report is not.
        if isinstance(value, ObservedValue) and not is_there(value):
            value = None
        reason = "" if value is not None else self._reason(reference)
        return Evidence(name=name, type=kind, value=value, reason=reason)

    def _reason(self, reference: Reference) -> str:
        """Return why there is nothing under `reference`, in our words."""
        step = self.composition.step(reference.name)
        if step is None:
            return f"{reference.name} was not given"
        record = next(record for record in self.records if record.step is step)
        if record.failure is not None:
            return f"{step.do} failed ({record.failure.code})"
        return record.reason or _NOTHING[step.do]


_NOTHING: Mapping[PrimitiveKind, str] = {
    "extract_video_parts": "there are no frames",
    "transcribe_speech": "there is no speech",
    "ground_event": "the event was not found",
    "analyze": "the observer reported nothing",
    "web_search": "the web has nothing on it",
    "parse_website": "the page has no text",
}
