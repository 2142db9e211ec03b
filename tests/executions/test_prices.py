"""Prices of models and the day they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from taketwo.errors import RequestError
from taketwo.executions.prices import Prices, cost_usd, resolve_prices
from taketwo.executions.study_file import StudyFile, read_study_file

_STUDY = "study: a\nbenchmark: local\narms: {a: {agent: x}}\n"
_PRICES = "date: 2026-03-01\nmodels:\n  openai/gpt-4o: {input: 2.5, output: 10}\n"


def _study(tmp_path: Path, more: str = "") -> StudyFile:
    path = tmp_path / "study.yaml"
    path.write_text(_STUDY + more)
    return read_study_file(path)


def _problems(study: StudyFile) -> str:
    with pytest.raises(RequestError) as error:
        study.problems.raise_if_any()
    return str(error.value)


def test_cost_is_tokens_times_price_per_million() -> None:
    prices = {"openai/gpt-4o": {"input": 2.5, "output": 10.0}}

    assert cost_usd(prices, "openai/gpt-4o", 400_000, 20_000) == pytest.approx(1.0 + 0.2)


def test_a_model_without_a_price_has_no_cost_and_one_that_is_free_costs_nothing() -> None:
    assert cost_usd({}, "openai/gpt-4o", 400_000, 20_000) is None
    assert cost_usd({"a/b": {"input": 0.0, "output": 0.0}}, "a/b", 400_000, 20_000) == 0


def test_prices_in_the_study_are_taken(tmp_path: Path) -> None:
    study = _study(tmp_path, "prices: {date: 2026-03-01, models: {a/b: {input: 1, output: 2}}}\n")

    assert resolve_prices(study) == Prices(
        date="2026-03-01", models={"a/b": {"input": 1.0, "output": 2.0}}
    )
    study.problems.raise_if_any()


def test_a_named_file_and_the_one_beside_the_study_are_read(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(_PRICES)
    (tmp_path / "other.yaml").write_text(_PRICES.replace("2.5", "3"))

    assert resolve_prices(_study(tmp_path)).models["openai/gpt-4o"]["input"] == 2.5
    assert (
        resolve_prices(_study(tmp_path, "prices: other.yaml\n")).models["openai/gpt-4o"]["input"]
        == 3.0
    )


def test_no_prices_at_all_is_no_problem(tmp_path: Path) -> None:
    study = _study(tmp_path)

    assert resolve_prices(study) == Prices()
    study.problems.raise_if_any()


def test_prices_without_a_day_or_without_one_direction_are_refused(tmp_path: Path) -> None:
    study = _study(tmp_path, "prices:\n  models:\n    a/b: {input: 1}\n")

    resolve_prices(study)

    message = _problems(study)
    assert "study.yaml:4 prices.date: missing; say on which day the prices were read" in message
    assert "study.yaml:6 prices.models.a/b: needs input and output" in message


def test_a_day_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    study = _study(tmp_path, 'prices: {date: "2026-02-30", models: {}}\n')

    resolve_prices(study)

    assert "study.yaml:4 prices.date: no such day: '2026-02-30'" in _problems(study)


def test_what_is_wrong_in_the_file_is_told_with_the_files_line(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("date: 2026-03-01\nmodels:\n  a/b: {input: -1, output: 2}\n")
    study = _study(tmp_path, "prices: p.yaml\n")

    resolve_prices(study)

    message = _problems(study)
    assert "study.yaml:4 prices.file: " in message
    assert "p.yaml:3 models.a/b.input: must be greater than or equal to 0; found -1" in message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    study = _study(tmp_path, "prices: none.yaml\n")

    resolve_prices(study)

    assert "none.yaml: no such file" in _problems(study)
