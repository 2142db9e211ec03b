"""What is wrong with a composition, all of it, each with its place; nothing is run to find out.

Two kinds of rules: those of data flow (every reference leads to an earlier value of a fitting type,
nothing is computed in vain), and those of the contract: no parameter takes the question, no step asks
for a verdict, no evidence pretends to be one. The contract's rules read words and can be got round by
other words; what holds without exception is that a composition has no way to give an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from taketwo.tools.composition import Binding, Composition, Reference, Step, references_in
from taketwo.tools.composition_forms import Port, ValueType

__all__ = ["argument_names", "problems_of"]

EVIDENCE_TYPES: frozenset[ValueType] = frozenset({
    "window",
    "flag",
    "frames",
    "transcript",
    "observed",
    "documents",
})
_QUESTION_NAMES = frozenset({
    "ask",
    "ques",
    "prompt",
    "q",
    "query",
    "question",
    "questiontext",
    "thequestion",
    "thequery",
    "userprompt",
    "userquery",
    "userquestion",
    "videoquestion",
})
_QUESTION_WORDS = re.compile(
    r"\b(?:the|a|user'?s?|whole|full|original|video|given)\s+(?:question|query)\b"
    r"|\bquestion\s+(?:text|about)\b|\bquestion\s+to\s+(?:be\s+)?answer",
    re.IGNORECASE,
)
_VERDICT_NAMES = re.compile(
    r"answer|verdict|conclusion|decision|(?:best|chosen|correct|likely|right)_?(?:option|choice|one)"
    r"|candidate|matching_option|prediction"
)
_VERDICT_WORDS = re.compile(
    r"\b(?:final|best|correct|right|candidate)\s+(?:answer|option|choice)s?\b"
    r"|\bmost\s+(?:likely|probable|plausible)\b|\bverdict\b"
    r"|\banswer(?:s|ing)?\s+(?:the|this|that|it)\b"
    r"|\b(?:choose|select|pick|decide|determine|conclude|judge)\s+"
    r"(?:one|between|among|which|whether|(?:the|an?)\s+(?:option|answer|choice))\b"
    r"|\bwhich\s+(?:of\s+(?:the|these)\s+)?(?:option|choice|answer|candidate)s?\b",
    re.IGNORECASE,
)


def argument_names(name: str, kind: str) -> tuple[str, ...]:
    """Return the arguments of the tool that a parameter becomes."""
    if kind != "window":
        return (name,)
    prefix = "" if name == "window" else f"{name}_"
    return (f"{prefix}start_time", f"{prefix}end_time")


def problems_of(composition: Composition) -> list[str]:
    """Return every problem of a composition as `place: what is wrong and what to do`."""
    return [
        *_parameter_problems(composition),
        *_step_problems(composition),
        *_evidence_problems(composition),
        *_unused(composition),
        *_contract_problems(composition),
    ]


def _parameter_problems(composition: Composition) -> Iterator[str]:
    taken: dict[str, str] = {}
    for name, parameter in composition.parameters.items():
        for argument in argument_names(name, parameter.type):
            if argument in taken:
                yield (
                    f"parameters.{name}: its argument {argument!r} is also one of "
                    f"{taken[argument]!r}; rename one of the two"
                )
            taken[argument] = name
        if parameter.type != "window" and not parameter.description.strip():
            yield f"parameters.{name}: has no description; say what the caller is to give"


def _step_problems(composition: Composition) -> Iterator[str]:
    known: set[str] = set()
    for number, step in enumerate(composition.steps):
        place = f"steps.{number} ({step.id})"
        if step.id in composition.parameters:
            yield f"{place}: a parameter has the same name; rename the step"
        if step.id in known:
            yield f"{place}: an earlier step has the same id; rename one of them"
        yield from _port_problems(composition, step, place, known)
        for part, conditions in (("when", step.when), ("unless", step.unless)):
            for condition in conditions:
                if Reference.read(condition) is None:
                    yield f"{place}.{part}: {condition!r} is no reference such as $step.field"
                for reference in references_in(condition):
                    yield from _reference_problems(composition, reference, f"{place}.{part}", known)
        for condition in sorted({*step.when} & {*step.unless}):
            yield f"{place}: {condition} stands under when and unless, so the step never runs"
        known.add(step.id)


def _port_problems(
    composition: Composition, step: Step, place: str, known: set[str]
) -> Iterator[str]:
    form = step.form
    for name, value in step.bindings.items():
        port = form.ports.get(name)
        if port is None:
            yield f"{place}.with.{name}: {step.do} takes {', '.join(form.ports)}; remove it"
            continue
        yield from _binding_problems(composition, port, value, f"{place}.with.{name}", known)
    for name, port in form.ports.items():
        if port.required and name not in step.bindings:
            yield f"{place}.with: {step.do} needs {name!r} ({port.about})"
    if form.one_of and not any(name in step.bindings for name in form.one_of):
        yield f"{place}.with: {step.do} needs at least one of {', '.join(form.one_of)}"


def _binding_problems(
    composition: Composition, port: Port, value: Binding, place: str, known: set[str]
) -> Iterator[str]:
    if isinstance(value, list) and (not port.many or not value):
        yield f"{place}: {'the list is empty' if port.many else 'takes one value, found a list'}"
        return
    for item in value if isinstance(value, list) else [value]:
        reference = Reference.read(item)
        if reference is None:
            yield from _literal_problems(port, item, place)
        elif not port.accepts:
            yield f"{place}: is written out, not referred to; found {item!r}"
        else:
            yield from _reference_problems(composition, reference, place, known, port)


def _literal_problems(port: Port, value: str | float, place: str) -> Iterator[str]:
    if isinstance(value, str) and value.startswith("$"):
        yield f"{place}: {value!r} is no reference; write $parameter or $step.field"
    elif port.literals is None:
        kinds = ", ".join(sorted(port.accepts))
        yield f"{place}: takes a reference to {kinds}, found {value!r}"
    elif (problem := port.literals.problem(value)) is not None:
        yield f"{place}: {problem}, found {value!r:.80}"


def _reference_problems(
    composition: Composition,
    reference: Reference,
    place: str,
    known: set[str],
    port: Port | None = None,
) -> Iterator[str]:
    kind = composition.type_of(reference)
    if kind is None:
        yield f"{place}: there is no {reference}; known are {', '.join(_known(composition, known))}"
    elif reference.field is not None and reference.name not in known:
        yield f"{place}: {reference} is not known yet; a step can use earlier steps only"
    elif port is not None and kind not in port.accepts:
        wanted = " or ".join(sorted(port.accepts))
        yield f"{place}: {reference} is {kind}, wanted is {wanted}"


def _known(composition: Composition, known: set[str]) -> Iterator[str]:
    yield from (f"${name}" for name in composition.parameters)
    for step in composition.steps:
        if step.id in known:
            yield from (f"${step.id}.{name}" for name in step.form.fields)


def _evidence_problems(composition: Composition) -> Iterator[str]:
    for name, text in composition.evidence.items():
        place = f"evidence.{name}"
        reference = Reference.read(text)
        if reference is None or reference.field is None:
            yield f"{place}: {text!r} is no result of a step; write $step.field"
            continue
        kind = composition.type_of(reference)
        if kind is None:
            every = {step.id for step in composition.steps}
            yield from _reference_problems(composition, reference, place, every)
        elif kind not in EVIDENCE_TYPES:
            yield f"{place}: {reference} is {kind}, which is no evidence"
    if composition.depth is not None and composition.depth != len(composition.steps):
        yield (
            f"depth: says {composition.depth}, the composition has {len(composition.steps)} "
            "primitive steps; correct it or leave it out"
        )


def _unused(composition: Composition) -> Iterator[str]:
    """Yield steps that no evidence depends on and parameters that no step uses."""
    needed = {
        reference.name
        for text in composition.evidence.values()
        for reference in references_in(text)
    }
    for step in reversed(composition.steps):
        if step.id in needed:
            needed |= {reference.name for reference in step.sources()}
    for number, step in enumerate(composition.steps):
        if step.id not in needed:
            yield f"steps.{number} ({step.id}): no evidence depends on it; return it or remove it"
    used = {reference.name for step in composition.steps for reference in step.sources()}
    for name in composition.parameters:
        if name not in used:
            yield f"parameters.{name}: no step uses it; remove it"


def _contract_problems(composition: Composition) -> Iterator[str]:
    for name, parameter in composition.parameters.items():
        if name.replace("_", "") in _QUESTION_NAMES or "question" in name:
            yield (
                f"parameters.{name}: a composite tool does not take the question; take what is to "
                "be found, such as an event, a subject or a list of options"
            )
        elif _QUESTION_WORDS.search(parameter.description):
            yield f"parameters.{name}: its description asks for the question; ask for what to find"
    for number, step in enumerate(composition.steps):
        for port, value in step.bindings.items():
            found = _VERDICT_WORDS.search(value) if isinstance(value, str) else None
            if found is not None:
                yield (
                    f"steps.{number} ({step.id}).with.{port}: asks for a verdict "
                    f"({found[0]!r}); ask for observations"
                )
    for name in composition.evidence:
        if _VERDICT_NAMES.search(name):
            yield f"evidence.{name}: is named like a verdict; name it for what it holds"
