"""The shape of a composition: its notation, and a fingerprint that equal flows of data share.

The fingerprint is made of the primitives, of what flows into which port, and of what a step waits
for. The order of independent steps, names, texts, and literals such as counts do not change it; a
condition that data dependencies imply anyway does not either. Two steps or parameters that only
their place tells apart are told apart by what they feed, as far as refining labels goes
(B. Weisfeiler, A. Leman 1968); graphs of up to eight steps for which that fails are contrived.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taketwo.benchmarks.canonical import sha256_of
from taketwo.tools.composition import Composition, Reference, Step, references_in

__all__ = ["fingerprint", "notation", "stages"]


def stages(composition: Composition) -> tuple[tuple[str, ...], ...]:
    """Return the ids of the steps by stage: each one stands right after the latest step that it needs."""
    stage_of: dict[str, int] = {}
    for step in composition.steps:
        before = [stage_of[source.name] for source in step.sources() if source.name in stage_of]
        stage_of[step.id] = max(before, default=-1) + 1
    last = max(stage_of.values())
    return tuple(
        tuple(name for name, stage in stage_of.items() if stage == number)
        for number in range(last + 1)
    )


def notation(composition: Composition) -> str:
    """Return the composition in one line, `{Extract, Transcribe} -> Analyze`.

    Steps of one stage stand in braces, sorted; an arrow says that what follows needs something of
    what came before.
    """
    verbs = {step.id: step.form.verb for step in composition.steps}
    shown: list[str] = []
    for stage in stages(composition):
        names = sorted(verbs[name] for name in stage)
        shown.append(names[0] if len(names) == 1 else f"{{{', '.join(names)}}}")
    return " -> ".join(shown)


def fingerprint(composition: Composition) -> str:
    """Return a hash that two compositions share exactly when their flow of data is the same."""
    edges = _edges(composition)
    labels = {name: parameter.type for name, parameter in composition.parameters.items()}
    labels |= {step.id: _own_label(step) for step in composition.steps}
    for _ in range(len(labels) + 1):
        labels = {
            name: sha256_of([
                label,
                sorted([e.port, e.field, labels[e.source]] for e in edges if e.target == name),
                sorted([e.port, e.field, labels[e.target]] for e in edges if e.source == name),
            ])
            for name, label in labels.items()
        }
    return sha256_of(sorted(labels[step.id] for step in composition.steps))


@dataclass(frozen=True, kw_only=True)
class _Edge:
    source: str
    target: str
    port: str
    field: str


def _own_label(step: Step) -> str:
    """Return the primitive and the ports that are written out where a reference could stand."""
    written = sorted(
        name
        for name, port in step.form.ports.items()
        if port.accepts and name in step.bindings and not step.references(name)
    )
    return ",".join([step.do, *written])


def _edges(composition: Composition) -> list[_Edge]:
    certain: dict[str, frozenset[Reference]] = {}
    found: list[_Edge] = []
    for step in composition.steps:
        needed = _needed(composition, step, certain)
        waits = [
            ("when", source)
            for text in {*step.when}
            for source in references_in(text)
            if source not in needed
        ]
        waits += [("unless", source) for text in {*step.unless} for source in references_in(text)]
        flows = [(port, source) for port in step.bindings for source in step.references(port)]
        found += [
            _Edge(source=source.name, target=step.id, port=port, field=source.field or "")
            for port, source in [*flows, *waits]
        ]
        certain[step.id] = needed | {source for port, source in waits if port == "when"}
    return found


def _needed(
    composition: Composition, step: Step, certain: Mapping[str, frozenset[Reference]]
) -> frozenset[Reference]:
    """Return what is there whenever the step runs, because it could not run without it."""
    found: set[Reference] = set()
    droppable: list[Reference] = []
    for name in step.bindings:
        port = step.form.ports[name]
        (droppable.extend if port.droppable else found.update)(step.references(name))
    if len(droppable) == 1:
        found.update(droppable)
    for source in list(found):
        found |= certain.get(source.name, frozenset())
        maker = composition.step(source.name)
        gate = None if maker is None else maker.form.gated_by.get(source.field or "")
        if gate is not None:
            found.add(Reference(name=source.name, field=gate))
    return frozenset(found)
