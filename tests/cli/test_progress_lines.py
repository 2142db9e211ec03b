from __future__ import annotations

from dataclasses import replace

import pytest

from taketwo.cli.progress_lines import ProgressLines, progress_text
from taketwo.executions.progress import Progress

HALF = Progress(
    execution=1,
    executions=2,
    planned={"single": 10, "react": 10},
    done={"single": 7, "react": 4},
    failures={"single": {}, "react": {"provider_error": 2}},
    tokens=12345,
    cost_usd=0.5,
    elapsed_s=61,
    left_s=3725,
)


def test_a_line_tells_cells_failures_use_and_time() -> None:
    assert progress_text(HALF) == (
        "K1 of 2: single 7/10, react 4/10; 2 failed; 12,345 tokens; 0.500 USD; "
        "1 min 01 s passed, 1 h 02 min left"
    )


def test_what_was_not_reported_is_said_and_not_zero() -> None:
    unknown = replace(HALF, tokens=None, cost_usd=None, left_s=None)

    assert progress_text(unknown).endswith("tokens not reported; 1 min 01 s passed, ? left")


def test_outside_a_terminal_lines_come_now_and_then_and_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLines() as lines:
        for done in range(5):
            lines.show(replace(HALF, done={"single": done, "react": 0}))

    shown = capsys.readouterr().err.splitlines()
    assert [line.split(";")[0] for line in shown] == [
        "K1 of 2: single 0/10, react 0/10",
        "K1 of 2: single 4/10, react 0/10",
    ]
