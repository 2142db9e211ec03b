"""Which arm each method is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taketwo.executions.located_yaml import Place, Problems
from taketwo.executions.study_file import ArmSection, BaselineSection

__all__ = ["WrittenArm", "baselines_of"]


@dataclass(frozen=True, kw_only=True)
class WrittenArm:
    """An arm as written, or as the matrix makes it, its factors, and where it stands."""

    name: str
    place: Place
    section: ArmSection
    factors: Mapping[str, str]


def baselines_of(
    written: Sequence[WrittenArm], shared: BaselineSection | None, problems: Problems
) -> dict[str, str | None]:
    """Return the baseline of every arm by name; None for an arm that is one itself.

    An arm's own `baseline` comes first, then the study's (`shared`), then the only arm with `role:
    baseline`. An arm that a study-wide rule describes by its levels is a baseline, and so is one
    that others name. What stays open or contradicts itself is added to `problems`.
    """
    targets: dict[str, str | None] = {}
    for arm in written:
        own = arm.section.baseline
        if arm.section.role == "baseline" and own is not None:
            problems.add(
                (*arm.place, "baseline"), f"{arm.name!r} is a baseline and names one; drop either"
            )
        rule = own or shared
        if arm.section.role == "baseline" or rule is None:
            continue
        if own is None and _is_target(arm, rule):
            targets[arm.name] = None
            continue
        targets[arm.name] = _target(arm, rule, own is not None, written, problems)
    named = {target for target in targets.values() if target is not None}
    declared = [arm for arm in written if arm.section.role == "baseline"]
    for arm in declared:
        targets[arm.name] = None
    rest = [arm for arm in written if arm.name not in targets]
    for arm in rest:
        if arm.section.role is None and arm.name in named:
            targets[arm.name] = None
    _default_baseline([arm for arm in rest if arm.name not in targets], declared, targets, problems)
    _check_baselines(written, targets, problems)
    return targets


def _is_target(arm: WrittenArm, rule: BaselineSection) -> bool:
    if rule.arm is not None:
        return arm.name == rule.arm
    return bool(rule.levels) and all(
        arm.factors.get(factor) == level for factor, level in rule.levels.items()
    )


def _target(
    arm: WrittenArm,
    rule: BaselineSection,
    is_own: bool,
    written: Sequence[WrittenArm],
    problems: Problems,
) -> str | None:
    place: Place = (*arm.place, "baseline") if is_own else ("baseline",)
    names = [other.name for other in written]
    if rule.arm is not None:
        if rule.arm not in names:
            problems.add(place, f"no arm is called {rule.arm!r}; the arms are {', '.join(names)}")
            return None
        if rule.arm == arm.name:
            problems.add(place, f"{arm.name!r} cannot be its own baseline")
        return rule.arm
    same = (
        [name for name in arm.factors if name not in rule.levels]
        if rule.same is None
        else rule.same
    )
    unknown = sorted({*same, *rule.levels} - set(arm.factors))
    if unknown:
        problems.add(
            place, f"arm {arm.name!r} has no factor {unknown[0]!r}; it has {', '.join(arm.factors)}"
        )
        return None
    wanted = {**{factor: arm.factors[factor] for factor in same}, **rule.levels}
    fits = [
        other.name
        for other in written
        if other.name != arm.name
        and all(other.factors.get(factor) == level for factor, level in wanted.items())
    ]
    if len(fits) != 1:
        listed = ", ".join(f"{factor} {level}" for factor, level in wanted.items())
        which = f"{len(fits)} arms are: {', '.join(fits)}" if fits else "no arm is"
        problems.add(
            place, f"the baseline of {arm.name!r} must be the one arm with {listed}; {which}"
        )
        return None
    return fits[0]


def _default_baseline(
    rest: Sequence[WrittenArm],
    declared: Sequence[WrittenArm],
    targets: dict[str, str | None],
    problems: Problems,
) -> None:
    """Give arms that say nothing the only declared baseline."""
    if not rest or problems.touches("role", "baseline"):
        return
    if len(declared) == 1:
        targets.update({arm.name: declared[0].name for arm in rest})
    elif declared:
        names = ", ".join(repr(arm.name) for arm in declared)
        problems.add(
            (*declared[1].place, "role"),
            f"{len(declared)} baselines: {names}; keep one, or say in each method which it is "
            f"compared with (baseline: NAME): {', '.join(repr(arm.name) for arm in rest)}",
        )
    elif all(target is None for target in targets.values()):
        problems.add(
            ("arms",) if rest[0].place[0] == "arms" else ("matrix",),
            "no baseline: give one arm `role: baseline`, or the study a `baseline:`",
        )
    else:
        for arm in rest:
            problems.add(
                arm.place, f"arm {arm.name!r} is neither a baseline nor says what its baseline is"
            )


def _check_baselines(
    written: Sequence[WrittenArm], targets: Mapping[str, str | None], problems: Problems
) -> None:
    places = {arm.name: arm.place for arm in written}
    is_clean = not len(problems)
    for name, target in targets.items():
        if target not in {None, name} and targets.get(str(target)) is not None:
            problems.add(
                places[name],
                f"the baseline of {name!r} is {target!r}, which is a method itself, compared with "
                f"{targets[str(target)]!r}; a baseline has no baseline",
            )
    if is_clean and written and all(target is None for target in targets.values()):
        problems.add(
            (written[0].place[0],),
            "no method: every arm is a baseline; add the arm that is to be compared with it",
        )
