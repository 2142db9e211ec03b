"""The models that providers put behind a judge's name: labels of one of them are one measure, of two they are not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from taketwo.errors import InvalidResults

__all__ = ["LabelOfPart", "OneServedModel", "ServedLabel", "require_one_served_model"]

_NO_PART = "asked just now"


class ServedLabel(Protocol):
    """A label with the key of what was labelled, and the model that served it."""

    @property
    def key(self) -> str:
        """Return the key of the content."""
        ...

    @property
    def served_model(self) -> str | None:
        """Return the name that the provider reported; None where it does not say."""
        ...


class LabelOfPart(ServedLabel, Protocol):
    """A served label with its judge and the file that it was read from."""

    @property
    def judge(self) -> str:
        """Return the name that was asked."""
        ...

    @property
    def part(self) -> str | None:
        """Return the file; None for a label that was made just now."""
        ...


LabelT = TypeVar("LabelT", bound=ServedLabel)


class OneServedModel:
    """The one model whose labels are kept of a judge: the one that served it so far.

    A provider may put another model behind a name while it is asked. Labels of both are not one
    measure; those of the later one are left out before they mix with the others.
    """

    def __init__(self, known: Iterable[ServedLabel]) -> None:
        self._served = next((item.served_model for item in known if item.served_model), None)

    def kept(self, done: Sequence[LabelT]) -> tuple[LabelT, ...]:
        """Return the labels that this model gave; of the first ones that are seen the most frequent."""
        if self._served is None:
            counts = Counter(item.served_model for item in done if item.served_model)
            self._served = counts.most_common(1)[0][0] if counts else None
        return tuple(item for item in done if item.served_model in {None, self._served})

    def refused(self, done: Sequence[ServedLabel]) -> dict[str, str]:
        """Return why the other labels are none, by key."""
        return {
            item.key: f"served by {item.served_model}, while the labels so far are by {self._served}; "
            "remove those, or name the served model itself as the judge"
            for item in done
            if item.served_model not in {None, self._served}
        }


def require_one_served_model(labels: Iterable[LabelOfPart], judge: str) -> None:
    """Refuse labels that bear one judge's name and were given by different models behind it.

    Parameters
    ----------
    labels
        Those in use; labels of other judges are left aside, and so are those whose provider does
        not say which model served them.

    Raises
    ------
    InvalidResults
        If there are two served models, with every file of each.
    """
    by_model: dict[str, list[LabelOfPart]] = defaultdict(list)
    for label in labels:
        if label.judge == judge and label.served_model is not None:
            by_model[label.served_model].append(label)
    if len(by_model) < 2:
        return
    told = "".join(
        f"\n  {model!r} ({len(found)} labels, {', '.join(_parts(found))})"
        for model, found in sorted(by_model.items())
    )
    raise InvalidResults(
        f"the labels of judge {judge!r} come from {len(by_model)} served models:{told}\nlabels of "
        "different models are not one measure: remove the parts of all but one of them and start again "
        "(or name the served model itself as the judge, if the provider allows it)"
    )


def _parts(labels: Iterable[LabelOfPart]) -> list[str]:
    return sorted({label.part or _NO_PART for label in labels})
