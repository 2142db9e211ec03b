"""The audit of a study's judge: what it asks, what it costs, what it writes, and what it does without a model."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.scored_study import choice, finished, says_option, trajectory_judge, trajectory_reply
from tests.scripted_model import Request, requests_of, script

from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.judge_audits import audit_judges, write_rating_form
from taketwo.reporting import read_audit
from taketwo.scores.judge_audit.audit_findings import CHECKS, JudgeAudit
from taketwo.scores.judge_audit.audit_presets import audit_design
from taketwo.scoring import score


def _reply(request: Request) -> str:
    """Reply like a judge that likes the word `red` in observations, whatever it is asked for."""
    system, shown = request.messages[0].text, request.messages[1].text
    if "perceptual_correctness" in system:
        names = (
            "perceptual_correctness",
            "temporal_localization",
            "logical_reasoning",
            "completeness",
        )
        return json.dumps({
            "scores": dict.fromkeys(names, 1),
            "rationales": dict.fromkeys(names, "said"),
        })
    found = "ball is red" in shown.split("trajectory", 1)[1]
    record = json.loads(trajectory_reply(_WithMilestones(), grounding=2 if found else 0))
    if "UNTRUSTED milestones" not in shown:
        record["milestone_coverage"] = []
    else:
        record["milestone_coverage"][1]["status"] = "covered" if found else "missing"
        record["milestone_coverage"][1]["evidence_in_prediction"] = "ball is red" if found else ""
    return json.dumps(record)


class _WithMilestones:
    text = "milestones"


def _question(number: int) -> Question:
    return choice(number, explanation=f"At 12 s ball {number} is red.")


def _study(folder: Path, questions: int = 6, **scoring: Any) -> str:
    judge = script([_reply], repeat_last=True)
    answers = {
        (arm, execution, f"q{number}"): says_option(
            0 if number % 3 else 1,
            f"{arm} {execution}: at 12 s the ball is red.\nFINAL ANSWER: A"
            if number % 3
            else f"{arm} {execution}: it is blue.\nFINAL ANSWER: B",
        )
        for arm in ("base", "method")
        for execution in (1, 2)
        for number in range(1, questions + 1)
    }
    spec = ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name=judge), **scoring))
    finished(
        folder, [_question(number) for number in range(1, questions + 1)], answers, scoring=spec
    )
    return judge


def _value(audit: JudgeAudit, check: str, measure: str) -> float | None:
    (found,) = [
        item.value for item in audit.findings if item.check == check and measure in item.measure
    ]
    return found


def test_every_check_is_done_or_says_why_not_and_the_file_holds_it(tmp_path: Path) -> None:
    _study(tmp_path)

    audit = audit_judges(tmp_path)

    assert {item.check for item in audit.findings} | set(audit.not_done) == set(CHECKS)
    assert set(audit.not_done) == {"judges", "humans"}
    assert read_audit(tmp_path / "judge-audit-quick.json") == audit


def test_a_judge_that_follows_the_evidence_separates_and_is_not_taken_in(tmp_path: Path) -> None:
    _study(tmp_path)

    audit = audit_judges(tmp_path)

    assert _value(audit, "separation", "AUC") == 1.0
    assert _value(audit, "injection", "share whose score rose") == 0.0


def test_a_second_audit_asks_nothing_and_one_without_a_model_reads_what_is_there(
    tmp_path: Path,
) -> None:
    judge = _study(tmp_path)
    first = audit_judges(tmp_path)
    asked = len(requests_of(judge))

    again = audit_judges(tmp_path)
    read = audit_judges(tmp_path, judge=False)

    assert len(requests_of(judge)) == asked
    assert again == first == read


def test_a_judge_that_can_no_longer_be_asked_leaves_its_labels_and_a_reason_for_each_probe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _study(tmp_path)
    score(tmp_path)

    def closed(*_: object, **__: object) -> None:
        raise RequestError("the judge cannot be asked: its key is missing")

    for module in ("trajectory_judge", "judge_audit.fixed_path_judge"):
        monkeypatch.setattr(f"taketwo.scores.{module}.open_judge", closed)
    audit = audit_judges(tmp_path)

    assert _value(audit, "separation", "AUC") == 1.0
    reasons = {
        check: audit.not_done.get(check, "") for check in ("rubrics", "assertion", "injection")
    }
    assert reasons == dict.fromkeys(reasons, "the judge cannot be asked: its key is missing")


def test_the_number_of_judgements_is_said_before_the_first(tmp_path: Path) -> None:
    judge = _study(tmp_path)
    told: list[str] = []

    audit_judges(tmp_path, on_work=lambda text: told.append(f"{len(requests_of(judge))} {text}"))

    most = re.match(r"0 Up to ([\d,]+) judgements", told[0])
    assert most is not None
    assert 0 < len(requests_of(judge)) <= int(most[1].replace(",", "")) + 100


def test_a_further_judge_is_set_against_the_first(tmp_path: Path) -> None:
    _study(tmp_path)
    second = trajectory_judge(grounding=1)

    audit = audit_judges(tmp_path, judges=[second])

    assert "judges" not in audit.not_done
    assert any(item.check == "judges" and second in item.subject for item in audit.findings)


def test_a_judge_that_never_replies_by_the_rules_is_counted_and_gives_no_number(
    tmp_path: Path,
) -> None:
    broken = script(["no"], repeat_last=True)
    spec = ScoringSpec(trajectories=TrajectoryScoring(judge=ModelSpec(name=broken)))
    finished(tmp_path, [_question(1), _question(2)], {}, scoring=spec)

    audit = audit_judges(tmp_path)

    # two trajectories, each asked for three times; no probe of what has no score is paid for
    assert len(requests_of(broken)) == 6
    assert audit.failures == {"separation": 2}
    assert sum(audit.causes["separation"].values()) == 2
    assert all(cause.startswith(f"{broken}: ") for cause in audit.causes["separation"])
    assert audit.not_done["ablation"] == f"{broken} scored none of the 8 trajectories it was given"
    assert {"rubrics", "assertion", "injection", "references", "formats"} <= set(audit.not_done)
    assert all(
        item.value is None or item.n == 0 for item in audit.findings if "AUC" in item.measure
    )


def test_without_a_judge_of_trajectories_there_is_nothing_to_audit(tmp_path: Path) -> None:
    finished(tmp_path, [choice(1)], {})

    with pytest.raises(RequestError, match="nobody judges the trajectories of this study"):
        audit_judges(tmp_path)


def test_what_the_numbers_rest_on_is_said_for_every_judge_and_whoever_served_it(
    tmp_path: Path,
) -> None:
    judge = _study(tmp_path)
    second = trajectory_judge(grounding=1)

    audit = audit_judges(tmp_path, judges=[second])

    uses = {item.judge: item for item in audit.uses}
    assert set(uses) == {judge, second, f"{judge}, by one fixed path"}
    # 6 questions x 2 arms x 2 executions, each text its own
    assert uses[second].judgements == 24
    assert uses[judge].judgements > 24
    assert uses[judge].served == ("scripted",)
    assert audit.probed_arm in {"base", "method"}


def _filled(tables: list[Path], score: str = "2") -> None:
    """Fill tables in, every axis alike."""
    for table in tables:
        lines = table.read_text("utf-8-sig").splitlines()
        header = lines[0].split(",")
        values = [
            "na" if name == "evidence_completeness" else "" if name == "note" else score
            for name in header[1:]
        ]
        rows = [",".join([line.split(",")[0], *values]) for line in lines[1:]]
        table.write_text("\n".join([lines[0], *rows]), encoding="utf-8")


def _form(study: Path, folder: Path) -> list[Path]:
    _, files = write_rating_form(study, folder, design="quick")
    return [path for path in files if path.suffix == ".csv"]


def _raters(audit: JudgeAudit) -> set[str]:
    return {item.subject for item in audit.findings if item.measure == "share of the items rated"}


def test_tables_that_come_one_by_one_are_read_together(tmp_path: Path) -> None:
    _study(tmp_path / "study")
    first, second = _form(tmp_path / "study", tmp_path / "forms")
    _filled([first, second])

    alone = audit_judges(tmp_path / "study", ratings=[first])
    both = audit_judges(tmp_path / "study", ratings=[second])

    assert _raters(alone) == {"rater-1"}
    assert _raters(both) == {"rater-1", "rater-2"}
    assert audit_judges(tmp_path / "study", judge=False) == both


def test_ratings_of_another_form_than_the_kept_ones_are_refused_and_nothing_is_overwritten(
    tmp_path: Path,
) -> None:
    _study(tmp_path / "study")
    tables = _form(tmp_path / "study", tmp_path / "forms")
    _filled(tables)
    audit_judges(tmp_path / "study", ratings=tables)
    other = tmp_path / "other"
    other.mkdir()
    key = json.loads((tmp_path / "forms" / "key.json").read_text("utf-8"))
    dropped = min(key["items"])
    del key["items"][dropped]
    (other / "key.json").write_text(json.dumps(key), encoding="utf-8")
    lines = [line for line in tables[0].read_text("utf-8").splitlines() if dropped not in line]
    (other / "third.csv").write_text("\n".join(lines), encoding="utf-8")
    before = {path.name: path.read_bytes() for path in (tmp_path / "study" / "ratings").iterdir()}

    with pytest.raises(RequestError, match="kept ratings of another form"):
        audit_judges(tmp_path / "study", ratings=[other / "third.csv"])

    kept = {path.name: path.read_bytes() for path in (tmp_path / "study" / "ratings").iterdir()}
    assert kept == before


def test_raters_follow_the_wording_that_the_judge_follows(tmp_path: Path) -> None:
    _study(tmp_path / "plain")
    _study(tmp_path / "other", rubric="paraphrased")

    plain, _ = write_rating_form(tmp_path / "plain", tmp_path / "a")
    other, files = write_rating_form(tmp_path / "other", tmp_path / "b")

    assert (plain.rubric, other.rubric) == ("standard", "paraphrased")
    page = next(path for path in files if path.suffix == ".html").read_text("utf-8")
    assert "Your task is to rate the work of an agent" in page


def test_of_more_arms_than_the_design_has_the_same_ones_are_rated_on_every_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _study(tmp_path / "study")
    one_arm = replace(audit_design("quick"), human_arms=1)
    monkeypatch.setattr("taketwo.judge_audits.audit_design", lambda _name: one_arm)

    form, _ = write_rating_form(tmp_path / "study", tmp_path / "forms")

    assert len(form.cells) == 5
    assert len({cell.arm for cell in form.cells.values()}) == 1


def test_ratings_by_people_come_back_in_against_the_judge(tmp_path: Path) -> None:
    _study(tmp_path / "study")
    form, files = write_rating_form(tmp_path / "study", tmp_path / "forms", design="quick")
    tables = [path for path in files if path.suffix == ".csv"]
    _filled(tables)
    page = next(path for path in files if path.suffix == ".html").read_text("utf-8")

    audit = audit_judges(tmp_path / "study", ratings=tables)

    assert not re.search(r"\b(base|method)\b", " ".join(form.cells))
    assert "<script" not in page
    assert any(item.check == "humans" for item in audit.findings)
    assert "humans" not in audit.not_done
