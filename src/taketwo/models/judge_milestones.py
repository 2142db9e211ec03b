"""What became of a milestone, by the words, names, numbers and times it shares with what was observed.

A fixed rule where a language model would understand. A name (capitals, quotes, codes) weighs 2, any
other word 1. Of the weight of a milestone, `COVERED` must be found close together, and each number
must be the one observed of the same things.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from taketwo.models.judge_units import Unit
from taketwo.models.judge_words import Passage, Quantity

__all__ = ["COVERED", "PARTIAL", "Evidence", "Finding", "Status"]

Status = Literal["covered", "partial", "incorrect", "missing"]

COVERED = 0.6
"""Share of a milestone's weight (0 to 1) from which its subject counts as found."""
PARTIAL = 0.34
"""Share from which it counts as found in part."""
_NAME_WEIGHT = 2
_MOST_UNITS = 200
_NEAR = 2
_TIME_TOLERANCE_S = 1.0
_LONGEST_MOMENT_S = 15.0
_ORDER: tuple[Status, ...] = ("missing", "partial", "incorrect", "covered")
_Agreement = Literal["agrees", "differs", "absent"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A status and the unit that shows it; `share` is the share of the weight found (0 to 1)."""

    status: Status
    share: float = 0.0
    unit: Unit | None = None

    @property
    def rank(self) -> tuple[int, float]:
        """Return what findings of one milestone are ordered by."""
        return _ORDER.index(self.status), self.share


class Evidence:
    """Units of text, indexed by their words, to look milestones up in."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = tuple(units)
        self._with_word: dict[str, list[int]] = defaultdict(list)
        self._with_number: dict[str, list[int]] = defaultdict(list)
        for at, unit in enumerate(self.units):
            for word in unit.passage.words:
                self._with_word[word].append(at)
            for number in unit.passage.numbers:
                self._with_number[number].append(at)

    def has_word(self, word: str) -> bool:
        """Return whether any unit has the word (a stem)."""
        return word in self._with_word

    def has_time(self, second: float) -> bool:
        """Return whether any unit names a time within a second of this one."""
        return _time(second, self.units) == "agrees"

    def has_quantity(self, wanted: Quantity) -> bool:
        """Return whether any unit states this number of these things."""
        return any(
            found.number == wanted.number and (not wanted.nouns or found.is_of_same(wanted))
            for at in self._with_number.get(wanted.number, ())[:_MOST_UNITS]
            for found in self.units[at].passage.quantities
        )

    def find(self, wanted: Passage) -> Finding:
        """Return what became of what `wanted` says: the best of all places in the texts."""
        if not wanted.words:
            return self._find_numbers(wanted)
        weights: Counter[int] = Counter()
        for word in sorted(wanted.words):
            for at in self._with_word.get(word, ()):
                weights[at] += _NAME_WEIGHT if word in wanted.names else 1
        # Ties fall to what stands first; a bound keeps hostile lengths from costing more than time.
        relevant = sorted(weights, key=lambda at: (-weights[at], at))[:_MOST_UNITS]
        named = [at for at in relevant if wanted.names & self.units[at].passage.words]
        findings = [self._at(anchor, relevant, wanted) for anchor in named or relevant]
        best = max(findings, key=lambda finding: finding.rank, default=Finding(status="missing"))
        if wanted.index is not None and best.status == "covered":
            times = _occasions([
                finding.unit
                for finding in findings
                if finding.unit is not None and finding.share >= best.share
            ])
            if times < wanted.index:
                return Finding(status="partial", share=best.share, unit=best.unit)
        return best

    def _at(self, anchor: int, relevant: Sequence[int], wanted: Passage) -> Finding:
        here = self.units[anchor]
        group = [
            here,
            *(self.units[at] for at in relevant if at != anchor and self._near(anchor, at)),
        ]
        plain = wanted.words - wanted.names
        most = max(len(plain & unit.passage.words) for unit in group)
        names = {name for unit in group for name in wanted.names & unit.passage.words}
        total = len(plain) + _NAME_WEIGHT * len(wanted.names)
        share = (most + _NAME_WEIGHT * len(names)) / total
        best = (
            next(unit for unit in group if len(plain & unit.passage.words) == most)
            if most
            else here
        )
        agreements: Sequence[_Agreement] = (
            *(_number(quantity, plain, group) for quantity in wanted.quantities),
            *(_time(second, group) for second in wanted.times),
        )
        return Finding(status=_status(share, agreements, wanted, names), share=share, unit=best)

    def _near(self, anchor: int, other: int) -> bool:
        first, second = self.units[anchor], self.units[other]
        if (
            first.start_s is not None
            and first.end_s is not None
            and second.start_s is not None
            and second.end_s is not None
        ):
            return first.start_s <= second.end_s and second.start_s <= first.end_s
        return first.source == second.source and abs(first.place - second.place) <= _NEAR

    def _find_numbers(self, wanted: Passage) -> Finding:
        """Return what became of a milestone of nothing but numbers and times."""
        places = [self._with_number.get(quantity.number, [])[:1] for quantity in wanted.quantities]
        is_found = all(places) and all(
            _time(second, self.units) == "agrees" for second in wanted.times
        )
        if not is_found or not (places or wanted.times):
            return Finding(status="missing")
        unit = self.units[places[0][0]] if places else None
        return Finding(status="covered", share=1.0, unit=unit)


def _status(
    share: float, agreements: Sequence[_Agreement], wanted: Passage, names: set[str]
) -> Status:
    if share < PARTIAL:
        return "missing"
    if share < COVERED or (wanted.names and not names):
        return "partial"
    if "differs" in agreements:
        return "incorrect"
    return "covered" if all(agreement == "agrees" for agreement in agreements) else "partial"


def _number(wanted: Quantity, plain: frozenset[str], group: Sequence[Unit]) -> _Agreement:
    """Return whether the group states the wanted number of the same things, another one, or none."""
    if wanted.nouns:
        stated = {
            found.number
            for unit in group
            for found in unit.passage.quantities
            if found.is_of_same(wanted)
        }
    else:
        if any(wanted.number in unit.passage.numbers for unit in group):
            return "agrees"
        stated = {
            found.number
            for unit in group
            for found in unit.passage.quantities
            if found.nouns & plain
        }
    if wanted.number in stated:
        return "agrees"
    return "differs" if stated else "absent"


def _time(wanted_s: float, group: Sequence[Unit]) -> _Agreement:
    """Return whether the group has the time. Other times are no contradiction: a text has many."""
    for unit in group:
        if any(abs(second - wanted_s) <= _TIME_TOLERANCE_S for second in unit.passage.times):
            return "agrees"
        if unit.start_s is None or unit.end_s is None:
            continue
        is_moment = unit.end_s - unit.start_s <= _LONGEST_MOMENT_S
        ends = (unit.start_s, unit.end_s)
        if any(abs(second - wanted_s) <= _TIME_TOLERANCE_S for second in ends) or (
            is_moment and unit.start_s <= wanted_s <= unit.end_s
        ):
            return "agrees"
    return "absent"


def _occasions(units: Sequence[Unit]) -> int:
    """Return how many separate times the units are about; what overlaps is one."""
    timed = sorted({
        (unit.start_s, unit.end_s)
        for unit in units
        if unit.start_s is not None and unit.end_s is not None
    })
    count, reached = 0, float("-inf")
    for start, end in timed:
        if start > reached:
            count += 1
        reached = max(reached, end)
    return count or len({(unit.source, unit.place) for unit in units})
