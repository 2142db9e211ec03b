"""What the core alone must do, without the engine, a decoder or a model."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIGHT = (
    "taketwo",
    "taketwo.errors",
    "taketwo.benchmarks.question",
    "taketwo.media.store",
    "taketwo.executions.rule",
    "taketwo.executions.plan",
    "taketwo.executions.trajectory",
    "taketwo.executions.manifest",
    "taketwo.executions.logs",
    "taketwo.scores.judgements",
    "taketwo.scores.grading",
    "taketwo.scores.judgement_pool",
    "taketwo.scores.process_labels",
    "taketwo.scores.trajectory_request",
    "taketwo.scores.judge_audit.audit_findings",
    "taketwo.outcomes.table",
    "taketwo.outcomes.build",
    "taketwo.analysis.compare",
    "taketwo.report.html",
    "taketwo.study",
    "taketwo.scoring",
    "taketwo.reporting",
    "taketwo.judge_audits",
    "taketwo.exporting",
    "taketwo.cli.score",
    "taketwo.auditing",
    "taketwo.outcomes.imports.detect",
    "taketwo.cli.main",
)
HEAVY = ("inspect_ai", "av", "cv2", "rapidocr", "faster_whisper", "xllamacpp")


@pytest.mark.parametrize("module", LIGHT)
def test_a_light_module_loads_neither_engine_nor_decoder(module: str) -> None:
    program = f"import sys, {module}; print(sorted(set({HEAVY!r}) & set(sys.modules)))"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


def test_a_study_is_at_hand_without_what_only_a_report_or_a_test_needs() -> None:
    slow = ("altair", "vl_convert", "scipy.stats", "scipy.optimize")
    program = f"import sys, taketwo.study; print(sorted(set({slow!r}) & set(sys.modules)))"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


def test_help_works_without_the_engine() -> None:
    program = (
        "import sys\n"
        f"for name in {HEAVY!r}: sys.modules[name] = None\n"
        "from taketwo.cli.main import main\n"
        "main(['--help'])\n"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert found.returncode == 0
    assert "survives complete re-execution" in found.stdout
