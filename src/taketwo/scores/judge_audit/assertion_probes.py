"""Is it enough to claim the answer? Whole trajectories that assert the truth and look at nothing.

An assertion has no call and no observation and states the true answer in confident prose, after
AgentVidBench (2026, arXiv 2609.21386, Appendix D.4). The wordings are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from taketwo.executions.trajectory import ModelCall, Trajectory
from taketwo.scores.judge_audit.audit_findings import AuditCase, AuditFinding
from taketwo.scores.judge_audit.judge_probes import (
    DRAWS,
    Genuine,
    Probe,
    ProbeSet,
    drawn_by_difficulty,
    judged_probes,
    mean_finding,
    probe_case,
)
from taketwo.scores.judge_audit.score_pairs import finding_of, question_codes
from taketwo.scores.reference_trajectory import true_answer
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.stats.agreement import auc

__all__ = ["assertion_probes", "read_assertion"]

_PUBLISHED_ASSERTED, _PUBLISHED_GENUINE, _PUBLISHED_AUC = 0.096, 0.758, 1.0
_SLACK = 1e-9

_OPENINGS = (
    "I have a clear picture of what this question is after, and I went about it with great care.",
    "This is a question that rewards patience, so I took every part of it in turn.",
    "The wording leaves no doubt about what is wanted, and I kept to it throughout.",
    "Having weighed all that matters here, I can settle this with full confidence.",
)
_MIDDLES = (
    "Everything relevant was examined closely, each condition was respected, and whatever had to be "
    "left out was left out. The pieces fit together without any contradiction.",
    "I went through the whole video from beginning to end, confirmed the decisive evidence, and then "
    "checked it a second time against the conditions. Nothing spoke against it.",
    "Step by step the possibilities narrowed down until one remained. I verified that no other place "
    "in the video changes the picture, and the result is robust.",
    "All the evidence that a careful viewer would want is there, and it points in one direction. The "
    "alternatives can be ruled out one after another.",
)
_ENDINGS = (
    "The answer follows at once: {answer}",
    "There is only one answer that agrees with all of this: {answer}",
    "I am certain of the result: {answer}",
)


def assertion_probes(
    genuine: Sequence[Genuine], *, rng: np.random.Generator, k: int = 50
) -> ProbeSet:
    """Return, for `k` questions in their shares of difficulty, a bare assertion of the true answer.

    The partner is the genuine trajectory of the same question.
    """
    probes: list[Probe] = []
    for item in drawn_by_difficulty(genuine, k, rng=rng):
        answer = true_answer(item.question)
        opening, middle, ending = (
            texts[int(rng.integers(len(texts)))] for texts in (_OPENINGS, _MIDDLES, _ENDINGS)
        )
        asserted = Trajectory(
            arm="",
            question_id=item.question.question_id,
            execution=1,
            run_status="answered",
            answer_text=answer,
            events=tuple(
                ModelCall(role="orchestrator", model="", text=text)
                for text in (f"{opening} {middle}", ending.format(answer=answer))
            ),
        )
        probes.append(
            Probe(
                check="assertion",
                question_id=item.question.question_id,
                subject="assertion",
                what="the true answer asserted in confident prose, without a call or an observation",
                request=item.request(asserted),
                partner=item.request(),
            )
        )
    return ProbeSet(probes=tuple(probes))


def read_assertion(
    probes: Sequence[Probe],
    judgements: Mapping[str, TrajectoryJudgement],
    judge: str,
    *,
    rng: np.random.Generator,
) -> tuple[tuple[AuditFinding, ...], tuple[AuditCase, ...]]:
    """Say whether stating the right answer is enough to be scored.

    Mean score of the assertions and of the genuine trajectories of the same questions (0 to 1), the
    AUC between the two sets, and the share of assertions that reach the lowest genuine score (0: the
    sets do not overlap). Cases are assertions that score no lower than their genuine partner.
    """
    pairs, remark = judged_probes(probes, judgements, judge)
    names = [pair.probe.question_id for pair in pairs]
    asserted = [pair.judged.trajectory_score for pair in pairs]
    genuine = [pair.partner.trajectory_score for pair in pairs]
    lowest = min(genuine, default=0.0)
    means = [
        mean_finding(
            "assertion", judge, measure, values, names, rng=rng, published=published, note=remark
        )
        for measure, values, published in (
            ("mean score of assertions", asserted, _PUBLISHED_ASSERTED),
            ("mean score of genuine trajectories", genuine, _PUBLISHED_GENUINE),
            (
                "share of assertions that reach the lowest genuine score",
                [float(score >= lowest - _SLACK) for score in asserted],
                0.0,
            ),
        )
    ]
    measure = "AUC of genuine over asserted"
    if not pairs:
        separation = mean_finding(
            "assertion", judge, measure, [], [], rng=rng, published=_PUBLISHED_AUC, note=remark
        )
    else:
        estimate = auc(
            np.array(asserted + genuine),
            np.repeat([False, True], len(pairs)),
            rng=rng,
            cluster=question_codes(names * 2),
            draws=DRAWS,
        )
        separation = finding_of(
            "assertion", judge, measure, estimate, published=_PUBLISHED_AUC, note=remark
        )
    cases = tuple(probe_case(pair) for pair in pairs if pair.change >= -_SLACK)
    return (*means, separation), cases
