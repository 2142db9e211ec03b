"""The checks of an audit, one after the other: what is drawn, what the judge is asked, what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from taketwo.audit_input import AuditedCell, AuditInput, drawn_cells, judged_cells
from taketwo.errors import RequestError
from taketwo.executions.trajectory import Trajectory
from taketwo.fixed_path_judging import judged_by_fixed_path
from taketwo.judging import Judging
from taketwo.outcomes.references import reference_requests
from taketwo.scores.judge_audit.ablation_outcome import read_ablation
from taketwo.scores.judge_audit.assertion_probes import assertion_probes, read_assertion
from taketwo.scores.judge_audit.audit_findings import (
    AuditCase,
    AuditCheck,
    AuditFinding,
    JudgeAudit,
    JudgeUse,
)
from taketwo.scores.judge_audit.fixed_path_judge import (
    FixedPathJudgement,
    by_fixed_path,
    fixed_path_requests,
    fixed_path_scores,
    read_fixed_path_formats,
)
from taketwo.scores.judge_audit.format_probes import (
    format_contrast,
    format_probes,
    format_scores,
    read_formats,
)
from taketwo.scores.judge_audit.human_agreement import human_findings
from taketwo.scores.judge_audit.injection_probes import injection_probes, read_injection
from taketwo.scores.judge_audit.judge_agreement import judge_pairs, separation
from taketwo.scores.judge_audit.judge_probes import (
    Genuine,
    ProbeSet,
    drawn_by_difficulty,
    genuine_trajectories,
)
from taketwo.scores.judge_audit.judge_uses import use_of
from taketwo.scores.judge_audit.milestone_ablation import ablation_probes
from taketwo.scores.judge_audit.reference_probes import read_references, reference_probes
from taketwo.scores.judge_audit.rubric_probes import read_rubrics, rubric_probes
from taketwo.scores.process_labels import ProcessLabels

__all__ = ["Checks"]

_FRAMES_PER_SECOND = 25.0
"""What times are written as frame numbers with; one a second would leave the numbers as they are."""

_PROBED: tuple[AuditCheck, ...] = (
    "rubrics", "assertion", "ablation", "injection", "references", "formats",
)  # fmt: skip

Found = tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]


class Checks:
    """Runs every check on an audit's input; `tell` is told who is asked, None asks nobody."""

    def __init__(self, found: AuditInput, tell: Callable[[str], None] | None) -> None:
        self._in = found
        self._name = found.scoring.judge.name
        self._judging = None if tell is None else Judging(found.plan, found.pool, (), tell)
        self._questions = [item.question for item in found.plan.questions]
        self._systems = {arm.name: arm.agent for arm in found.plan.arms}
        self._findings: list[AuditFinding] = []
        self._cases: list[AuditCase] = []
        self._not_done: dict[str, str] = {}
        self._causes: dict[str, Counter[str]] = {}
        self._used: dict[str, set[str]] = {judge.name: set() for judge in found.judges}
        self._beside: Mapping[str, FixedPathJudgement] = {}
        self._arm: str | None = None

    def audit(self) -> JudgeAudit:
        """Run all checks and return what they found."""
        rng = self._in.rng("separation")
        sample = drawn_cells(self._in.cells, self._in.design.trajectories, rng=rng)
        judged = self._separation(sample)
        if self._judging is not None and self._judging.unasked:
            raise RequestError("\n".join(dict.fromkeys(self._judging.unasked.values())))
        if judged:
            self._probes(sample)
        else:
            # What a probe changes cannot be set against anything; asking on would only cost.
            reason = f"{self._name} scored none of the {len(sample):,} trajectories it was given"
            self._not_done |= dict.fromkeys(_PROBED, reason)
        self._humans()
        return JudgeAudit(
            judge=self._name,
            rubric=self._in.scoring.rubric,
            protocol=self._in.scoring.protocol,
            design=self._in.design.name,
            findings=tuple(self._findings),
            cases=tuple(self._cases),
            not_done=self._not_done,
            failures={check: causes.total() for check, causes in self._causes.items()},
            causes={check: dict(causes) for check, causes in self._causes.items()},
            uses=self._uses(),
            probed_arm=self._arm,
        )

    def _probes(self, sample: Sequence[AuditedCell]) -> None:
        one_each = self._one_each()
        many = self._genuine(sample)
        self._probed("rubrics", self._rubrics(many), read_rubrics)
        rng = self._in.rng("assertion")
        self._probed(
            "assertion",
            assertion_probes(one_each, rng=rng, k=self._in.design.assertion),
            read_assertion,
        )
        self._ablation(one_each)
        rng = self._in.rng("injection")
        self._probed(
            "injection",
            injection_probes(one_each, rng=rng, k=self._in.design.injection),
            read_injection,
        )
        self._references(many)
        self._formats(one_each)

    def _labels(self) -> dict[str, ProcessLabels]:
        return {
            judge.name: ProcessLabels(
                self._in.plan, self._in.scoring, self._in.pool.trajectories, judge=judge.name
            )
            for judge in self._in.judges
        }

    def _separation(self, sample: Sequence[AuditedCell]) -> bool:
        """Have the sample scored by all judges; returns whether the audited one scored any of it."""
        cells = [cell.trajectory for cell in sample]
        for judge in self._in.judges:
            if self._judging is not None:
                pending = self._labels()[judge.name].pending(cells)
                self._judging.requests("separation", pending, judge, self._in.scoring.max_tokens)
        self._count_failures("separation")
        labels = self._labels()
        for name, label in labels.items():
            self._used[name].update(item.key for item in label.in_use(cells))
        judged = judged_cells(sample, labels)
        for judge in self._in.judges:
            self._findings += separation(judged, judge.name, rng=self._in.rng("separation"))
        if len(self._in.judges) > 1:
            names = [judge.name for judge in self._in.judges]
            self._findings += judge_pairs(judged, names, rng=self._in.rng("judges"))
        else:
            self._not_done["judges"] = "one judge only; name another one with --audit-judge MODEL"
        return any(self._name in cell.scores for cell in judged)

    def _genuine(self, cells: Sequence[AuditedCell]) -> tuple[Genuine, ...]:
        questions = {question.question_id: question for question in self._questions}
        return tuple(
            Genuine(
                question=questions[cell.trajectory.question_id],
                trajectory=cell.trajectory,
                system=self._systems[cell.trajectory.arm],
                protocol=self._in.scoring.protocol,
                rubric=self._in.scoring.rubric,
            )
            for cell in cells
        )

    def _one_each(self) -> tuple[Genuine, ...]:
        """Return one trajectory of a question, of the arm whose trajectories the judge scores best.

        What a probe takes away, or sets itself against, must be there first.
        """
        by_arm: dict[str, dict[str, Trajectory]] = {}
        scores: dict[str, list[float]] = {}
        label = self._labels()[self._name]
        for cell in self._in.cells:
            arm, question = cell.trajectory.arm, cell.trajectory.question_id
            by_arm.setdefault(arm, {}).setdefault(question, cell.trajectory)
            judgement = label.process_of(question, cell.trajectory)[1]
            if judgement is not None:
                scores.setdefault(arm, []).append(judgement.trajectory_score)
        means = {arm: sum(found) / len(found) for arm, found in scores.items()}
        best = max(sorted(by_arm), key=lambda arm: means.get(arm, 0.0))
        self._arm = best
        genuine = genuine_trajectories(
            self._questions,
            by_arm[best],
            system=self._systems[best],
            protocol=self._in.scoring.protocol,
            rubric=self._in.scoring.rubric,
        )
        size = self._in.design
        most = max(size.assertion, size.ablation, size.injection, size.formats)
        return drawn_by_difficulty(genuine, most, rng=self._in.rng("ablation"))

    def _rubrics(self, many: Sequence[Genuine]) -> ProbeSet:
        drawn = drawn_by_difficulty(many, self._in.design.rubrics, rng=self._in.rng("rubrics"))
        return rubric_probes(drawn)

    def _ablation(self, one_each: Sequence[Genuine]) -> None:
        if self._judging is not None:
            requests = [item.request() for item in one_each]
            self._judging.requests(
                "ablation", requests, self._in.scoring.judge, self._in.scoring.max_tokens
            )
        rng = self._in.rng("ablation")
        probes = ablation_probes(
            one_each,
            self._in.pool.trajectories,
            self._name,
            rng=rng,
            k=self._in.design.ablation,
            per_question=self._in.design.milestones,
        )
        self._probed("ablation", probes, read_ablation)

    def _references(self, many: Sequence[Genuine]) -> None:
        explained = [item for item in many if (item.question.explanation or "").strip()]
        curated = reference_requests(self._in.plan, self._in.scoring)
        judgements = self._in.pool.trajectories
        found = {
            judgement.key: judgement.trajectory_score
            for request in curated
            if (judgement := judgements.get(request.key(self._name))) is not None
        }
        self._used[self._name].update(found)
        scores = list(found.values())
        if scores:
            self._findings.append(
                AuditFinding(
                    check="references",
                    subject="curated trajectories",
                    measure="trajectory score",
                    value=sum(scores) / len(scores),
                    n=len(scores),
                    clusters=len(scores),
                    note="the path that a human took, rendered and judged like a run: our reading",
                )
            )
        if not explained:
            self._not_done["references"] = "no question with a judged trajectory has an explanation"
            return
        drawn = drawn_by_difficulty(
            explained, self._in.design.references, rng=self._in.rng("references")
        )
        self._probed("references", reference_probes(drawn), read_references)

    def _formats(self, one_each: Sequence[Genuine]) -> None:
        probes = format_probes(
            one_each,
            rng=self._in.rng("formats"),
            k=self._in.design.formats,
            fps=_FRAMES_PER_SECOND,
        )
        self._probed("formats", probes, read_formats)
        if not probes.probes:
            return
        if not fixed_path_requests(probes.probes):
            self._not_done["formats by one fixed path"] = (
                "no question in the draw has a curated path or an explanation"
            )
        else:
            try:
                self._beside, causes = judged_by_fixed_path(
                    self._in,
                    probes.probes,
                    may_ask=self._judging is not None and not self._unasked(),
                )
            except RequestError as error:
                self._not_done["formats by one fixed path"] = str(error)
                return
            if causes:
                self._causes["formats"] = self._causes.get("formats", Counter()) + causes
            rng = self._in.rng("formats")
            self._keep(read_fixed_path_formats(probes.probes, self._beside, self._name, rng=rng))
            ours = format_scores(probes.probes, self._in.pool.trajectories, self._name)
            theirs = fixed_path_scores(probes.probes, self._beside, self._name)
            self._findings.append(format_contrast(ours, theirs, self._name, rng=rng))

    def _humans(self) -> None:
        if self._in.ratings is None:
            self._not_done["humans"] = (
                "no ratings were given; make a form with: taketwo rating-form STUDY -o DIR"
            )
            return
        judged = judged_cells(self._in.cells, self._labels())
        self._findings += human_findings(
            self._in.ratings, judged, self._name, rng=self._in.rng("humans")
        )

    def _probed(
        self,
        check: AuditCheck,
        probes: ProbeSet,
        read: Callable[..., Found],
    ) -> None:
        """Judge the probes of a check and keep what its reader says of them."""
        self._cases += probes.skipped
        if not probes.probes:
            self._count_failures(check)
            reasons = sorted({case.unprobed for case in probes.skipped if case.unprobed})
            self._not_done[check] = "; ".join(reasons[:3]) or "there is no trajectory to probe"
            return
        if self._judging is not None:
            self._judging.requests(
                check, probes.requests, self._in.scoring.judge, self._in.scoring.max_tokens
            )
        self._count_failures(check)
        keys = {request.key(self._name) for request in probes.requests}
        pool = self._in.pool.trajectories
        is_known = any(probe.request.key(self._name) in pool for probe in probes.probes)
        if not is_known and (reason := self._unasked()):
            self._not_done[check] = reason
            return
        self._used[self._name].update(keys.intersection(pool))
        self._keep(read(probes.probes, pool, self._name, rng=self._in.rng(check)))

    def _unasked(self) -> str:
        """Return why the audited judge cannot be asked at all; empty where it can."""
        return "" if self._judging is None else self._judging.unasked.get(self._name, "")

    def _keep(self, found: Found) -> None:
        self._findings += found[0]
        self._cases += found[1]

    def _count_failures(self, check: AuditCheck) -> None:
        if self._judging is None:
            return
        told = Counter(
            f"{item.judge}: {cause}"
            for item in self._judging.work
            if item.what == check
            for cause in item.failures
        )
        if told:
            self._causes[check] = told

    def _uses(self) -> tuple[JudgeUse, ...]:
        prices, pool = self._in.plan.prices, self._in.pool.trajectories
        found = [
            use_of(name, name, [pool[key] for key in sorted(keys)], prices)
            for name, keys in self._used.items()
        ]
        if self._beside:
            found.append(
                use_of(by_fixed_path(self._name), self._name, list(self._beside.values()), prices)
            )
        return tuple(found)
