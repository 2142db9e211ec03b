"""The checks of an audit, one after the other: what is drawn, what the judge is asked, what comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from taketwo.audit_input import AuditedCell, AuditInput, judged_cells
from taketwo.errors import RequestError
from taketwo.executions.trajectory import Trajectory
from taketwo.judging import Judging
from taketwo.outcomes.references import reference_requests
from taketwo.scores.judge_audit.audit_findings import (
    AuditCase,
    AuditCheck,
    AuditFinding,
    JudgeAudit,
)
from taketwo.scores.judge_audit.fixed_path_judge import (
    FixedPathJudgement,
    fixed_path_requests,
    judge_fixed_path,
    read_fixed_path_formats,
    read_fixed_path_judgements,
    write_fixed_path_judgements,
)
from taketwo.scores.judge_audit.human_agreement import human_findings
from taketwo.scores.judge_audit.injection_probes import (
    assertion_probes,
    injection_probes,
    read_assertion,
    read_injection,
)
from taketwo.scores.judge_audit.judge_agreement import judge_pairs, separation
from taketwo.scores.judge_audit.judge_probes import (
    Genuine,
    Probe,
    ProbeSet,
    drawn_by_difficulty,
    genuine_trajectories,
    read_rubrics,
    rubric_probes,
)
from taketwo.scores.judge_audit.milestone_ablation import ablation_probes, read_ablation
from taketwo.scores.judge_audit.reference_probes import read_references, reference_probes
from taketwo.scores.judge_audit.time_formats import format_probes, read_formats
from taketwo.scores.process_labels import ProcessLabels

__all__ = ["Checks"]

_FRAMES_PER_SECOND = 25.0
"""What times are written as frame numbers with; one a second would leave the numbers as they are."""

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
        self._failures: dict[str, int] = {}

    def audit(self) -> JudgeAudit:
        """Run all checks and return what they found."""
        sample = self._sample()
        self._separation(sample)
        if self._judging is not None and self._judging.unasked:
            raise RequestError("\n".join(dict.fromkeys(self._judging.unasked.values())))
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
        self._humans()
        return JudgeAudit(
            judge=self._name,
            rubric=self._in.scoring.rubric,
            protocol=self._in.scoring.protocol,
            design=self._in.design.name,
            findings=tuple(self._findings),
            cases=tuple(self._cases),
            not_done=self._not_done,
            failures=self._failures,
        )

    def _sample(self) -> tuple[AuditedCell, ...]:
        """Draw the cells that all judges score."""
        cells = self._in.cells
        most = self._in.design.trajectories
        if len(cells) <= most:
            return cells
        order: list[int] = self._in.rng("separation").permutation(len(cells)).tolist()
        return tuple(cells[at] for at in sorted(order[:most]))

    def _labels(self) -> dict[str, ProcessLabels]:
        return {
            judge.name: ProcessLabels(
                self._in.plan, self._in.scoring, self._in.pool.trajectories, judge=judge.name
            )
            for judge in self._in.judges
        }

    def _separation(self, sample: Sequence[AuditedCell]) -> None:
        cells = [cell.trajectory for cell in sample]
        for judge in self._in.judges:
            if self._judging is not None:
                pending = self._labels()[judge.name].pending(cells)
                self._judging.requests("separation", pending, judge, self._in.scoring.max_tokens)
        self._count_failures("separation")
        judged = judged_cells(sample, self._labels())
        for judge in self._in.judges:
            self._findings += separation(judged, judge.name, rng=self._in.rng("separation"))
        if len(self._in.judges) > 1:
            names = [judge.name for judge in self._in.judges]
            self._findings += judge_pairs(judged, names, rng=self._in.rng("judges"))
        else:
            self._not_done["judges"] = "one judge only; name another one with --audit-judge MODEL"

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
        scores = [
            judgement.trajectory_score
            for request in curated
            if (judgement := judgements.get(request.key(self._name))) is not None
        ]
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
            known = self._fixed_path(probes.probes)
            self._keep(
                read_fixed_path_formats(
                    probes.probes, known, self._name, rng=self._in.rng("formats")
                )
            )

    def _fixed_path(self, probes: Sequence[Probe]) -> Mapping[str, FixedPathJudgement]:
        """Return the judgements by a fixed path, those that were lacking asked for now."""
        known = dict(read_fixed_path_judgements(self._in.folder))
        wanted = {
            request.key(self._name): request
            for request in fixed_path_requests(probes)
            if request.key(self._name) not in known
        }
        if self._judging is None or not wanted:
            return known
        plan = self._in.plan
        done, failures = asyncio.run(
            judge_fixed_path(
                tuple(wanted.values()),
                self._in.scoring.judge,
                connections=plan.connections,
                retries=plan.retries,
                timeout_s=max(1, round(plan.timeout_s)),
                max_tokens=self._in.scoring.max_tokens,
            )
        )
        write_fixed_path_judgements(self._in.folder, done)
        if failures:
            self._failures["formats"] = self._failures.get("formats", 0) + len(failures)
        return known | {item.key: item for item in done}

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
            reasons = sorted({case.what.removeprefix("not probed: ") for case in probes.skipped})
            self._not_done[check] = "; ".join(reasons[:3]) or "there is no trajectory to probe"
            return
        if self._judging is not None:
            self._judging.requests(
                check, probes.requests, self._in.scoring.judge, self._in.scoring.max_tokens
            )
        self._count_failures(check)
        self._keep(
            read(
                probes.probes,
                self._in.pool.trajectories,
                self._name,
                rng=self._in.rng(check),
            )
        )

    def _keep(self, found: Found) -> None:
        self._findings += found[0]
        self._cases += found[1]

    def _count_failures(self, check: AuditCheck) -> None:
        if self._judging is None:
            return
        failed = sum(len(item.failures) for item in self._judging.work if item.what == check)
        if failed:
            self._failures[check] = failed
