from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.plans import make_trajectory

from taketwo.executions.deaths import (
    PROCESS_DIED,
    Death,
    blamed,
    death_record,
    deaths_by_cell,
    deaths_in,
)

NOT_RUN = make_trajectory("q1", run_status="not_run")


def died(attempt: int, *cells: str, alone: bool = False) -> Death:
    return Death(attempt=attempt, in_flight=cells, is_alone=alone, said=f"signal {attempt}")


def test_deaths_are_read_by_attempt_from_what_was_noted(tmp_path: Path) -> None:
    for attempt, cells in ((100, ["b:q"]), (2, ["a:q", "b:q"])):
        record = death_record(cells, is_alone=len(cells) == 1, said="signal 9\nlast")
        (tmp_path / f"attempt-{attempt:02d}.json").write_text(json.dumps({"death": record}))
    (tmp_path / "attempt-03.json").write_text('{"status": "success"}')
    (tmp_path / "attempt-04.json").write_text("[" * 100_000)
    (tmp_path / "manifest.json").write_text('{"death": {"in_flight": ["c:q"]}}')

    found = deaths_in(tmp_path)

    assert found == (
        Death(attempt=2, in_flight=("a:q", "b:q"), is_alone=False, said="signal 9 last"),
        Death(attempt=100, in_flight=("b:q",), is_alone=True, said="signal 9 last"),
    )
    assert {cell: len(own) for cell, own in deaths_by_cell(found).items()} == {"a:q": 1, "b:q": 2}
    assert deaths_in(tmp_path / "none") == ()


@pytest.mark.parametrize(
    ("deaths", "attempts"),
    [
        ((), 3),
        ((died(1, "base:q1", "base:q2"), died(2, "base:q1", alone=True)), 3),
        ((died(1, "base:q1", "base:q2"),), 1),
    ],
)
def test_a_cell_is_not_to_blame_too_early_or_for_deaths_in_company_only(
    deaths: tuple[Death, ...], attempts: int
) -> None:
    assert blamed(NOT_RUN, deaths, attempts) is None


def test_a_cell_that_died_alone_as_often_as_the_rule_allows_is_to_blame() -> None:
    deaths = (died(1, "base:q1", "base:q2"), died(2, "base:q1", alone=True))

    record = blamed(NOT_RUN, deaths, 2)

    assert record is not None
    assert (record.sample_id, record.run_status, record.attempts) == ("base:q1", "agent_error", 2)
    assert record.failure is not None
    assert record.failure.cause == PROCESS_DIED == "the process died while this cell ran"
    assert record.failure.message == "2 times, 1 of them alone; last: signal 2"
    assert blamed(make_trajectory("q1"), deaths, 2) is None
