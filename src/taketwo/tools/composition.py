"""The language of compositions: fixed flows of data over the primitives, written as data, never as code.

A composition has typed parameters, steps in the order in which they run, and a mapping of named
evidence. A step binds the ports of one primitive (`composition_forms.OPERATIONS`) to literals, to
parameters (`$event`) and to fields of earlier steps (`$found.window`). It runs where everything
under `when` is there and nothing under `unless` is; "there" means found, true or not empty. What
needs a value that there is none of does not run either.

Left out on purpose: loops, so that the number of operations of a call has a bound that can be read
off, expressions, and calls of one composition by another. Out comes evidence with its provenance,
never a verdict, and in goes no question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.tools.composition_forms import OPERATIONS, OperationForm, ValueType
from taketwo.tools.operation import PrimitiveKind

__all__ = [
    "MAX_PARAMETERS",
    "MAX_STEPS",
    "NAME",
    "Binding",
    "Composition",
    "Parameter",
    "Reference",
    "Step",
    "references_in",
]

NAME = r"[a-z][a-z0-9_]{0,47}"
MAX_STEPS = 8
MAX_PARAMETERS = 6
_REFERENCE = re.compile(r"\$([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?")

Name = Annotated[str, Field(pattern=rf"^{NAME}$")]
Binding = StrictStr | StrictInt | StrictFloat | list[StrictStr]
ParameterType = Literal["window", "text", "texts"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Parameter(_Record):
    """What the orchestrator gives: a part of the video, a text, or a list of texts.

    A `window` becomes the two arguments `start_time` and `end_time`, both of which may be left out.
    `max_length` is in characters, of each item where there are several.
    """

    type: ParameterType
    description: str = Field(default="", max_length=400)
    required: bool = True
    max_length: int = Field(default=300, ge=1, le=1000)


class Step(_Record):
    """One primitive operation and where its inputs come from."""

    id: Name
    do: PrimitiveKind
    bindings: dict[str, Binding] = Field(default_factory=dict[str, Binding], alias="with")
    when: tuple[str, ...] = Field(default=(), max_length=MAX_STEPS)
    unless: tuple[str, ...] = Field(default=(), max_length=MAX_STEPS)

    @property
    def form(self) -> OperationForm:
        """Return ports and fields of its primitive."""
        return OPERATIONS[self.do]

    def literal(self, port: str) -> str | int | float | None:
        """Return what is written at a port that takes no reference, else its default."""
        value = self.bindings.get(port, self.form.ports[port].default)
        return None if isinstance(value, list) else value

    def references(self, port: str) -> tuple[Reference, ...]:
        """Return the references at a port; none where it is not bound or has a literal."""
        return tuple(references_in(self.bindings.get(port)))

    def sources(self) -> Iterator[Reference]:
        """Yield every reference of the step: at its ports in the order of their names, then conditions."""
        for port in sorted(self.bindings):
            yield from self.references(port)
        for condition in (*self.when, *self.unless):
            yield from references_in(condition)


class Composition(_Record):
    """A composite tool as data. `aliases` are names that it has elsewhere; they change nothing."""

    name: Name
    aliases: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")], ...] = ()
    description: str = Field(min_length=1, max_length=600)
    guidance: str = Field(min_length=1, max_length=1200)
    depth: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    parameters: dict[Name, Parameter] = Field(
        default_factory=dict[str, Parameter], max_length=MAX_PARAMETERS
    )
    steps: tuple[Step, ...] = Field(min_length=1, max_length=MAX_STEPS)
    evidence: dict[Name, str] = Field(min_length=1, max_length=8)

    @property
    def operations(self) -> tuple[PrimitiveKind, ...]:
        """Return the primitives in the order of the steps."""
        return tuple(step.do for step in self.steps)

    def step(self, name: str) -> Step | None:
        """Return the step called `name`."""
        return next((step for step in self.steps if step.id == name), None)

    def type_of(self, reference: Reference) -> ValueType | None:
        """Return the type of what a reference names; None where it names nothing."""
        if reference.field is None:
            parameter = self.parameters.get(reference.name)
            return None if parameter is None else parameter.type
        step = self.step(reference.name)
        return None if step is None else step.form.fields.get(reference.field)

    def canonical(self) -> dict[str, JsonValue]:
        """Return everything that decides what the tool does and what is said of it, in one form.

        Defaults are written out. Aliases and the stated depth are left out.
        """
        steps: list[JsonValue] = [
            {
                "id": step.id,
                "do": step.do,
                "with": {
                    name: value
                    for name in sorted(step.form.ports)
                    if (value := step.bindings.get(name, step.form.ports[name].default)) is not None
                },
                "when": sorted(step.when),
                "unless": sorted(step.unless),
            }
            for step in self.steps
        ]
        return {
            "name": self.name,
            "description": self.description,
            "guidance": self.guidance,
            "parameters": {
                name: parameter.model_dump() for name, parameter in self.parameters.items()
            },
            "steps": steps,
            "evidence": dict(self.evidence),
        }

    @property
    def sha256(self) -> str:
        """Return the hash of the canonical form."""
        return sha256_of(self.canonical())


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What `$name` (a parameter) or `$name.field` (an earlier step's result) points to."""

    name: str
    field: str | None = None

    @classmethod
    def read(cls, text: object) -> Reference | None:
        """Return the reference that `text` is, or None."""
        match = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
        return None if match is None else cls(name=match[1], field=match[2])

    def __str__(self) -> str:
        return f"${self.name}" if self.field is None else f"${self.name}.{self.field}"


def references_in(
    value: str | float | Sequence[str] | Mapping[str, str] | None,
) -> Iterator[Reference]:
    """Yield the references among a binding, one or a list of them."""
    for item in value if isinstance(value, list) else (value,):
        found = Reference.read(item)
        if found is not None:
            yield found
