"""What models cost, as read on a stated day; a model without a price has no cost, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from taketwo.errors import RequestError
from taketwo.executions.located_yaml import Place, Problems, read_located_yaml
from taketwo.executions.sections import sections_of
from taketwo.executions.study_file import PricesSection, StudyFile
from taketwo.tools.price import tokens_cost_usd

__all__ = ["Prices", "cost_usd", "resolve_prices"]


@dataclass(frozen=True, kw_only=True)
class Prices:
    """US dollars per million tokens by model name (`input`, `output`), and the day they were read."""

    date: str | None = None
    models: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict[str, Mapping[str, float]]
    )


def cost_usd(
    prices: Mapping[str, Mapping[str, float]], model: str, input_tokens: int, output_tokens: int
) -> float | None:
    """Return what that many tokens of `model` cost in US dollars; None where it has no price."""
    price = prices.get(model)
    if price is None:
        return None
    return tokens_cost_usd(price, input_tokens, output_tokens)


def resolve_prices(study: StudyFile) -> Prices:
    """Return the prices that a study names, or those of `prices.yaml` beside it, or none.

    What is wrong is added to `study.problems`.
    """
    section, place = study.sections.prices, ("prices",)
    if section is None:
        beside = study.folder / "prices.yaml"
        return _from_file(beside, place, study.problems) if beside.exists() else Prices()
    if section.file is None:
        return _prices(section, place, study.problems)
    if section.models:
        study.problems.add(place, "give either a file or models, not both")
    return _from_file(study.folder / section.file, (*place, "file"), study.problems)


def _from_file(path: Path, place: Place, problems: Problems) -> Prices:
    try:
        source = read_located_yaml(path)
    except RequestError as error:
        problems.add(place, str(error))
        return Prices()
    inside = Problems(source)
    section = sections_of(PricesSection, source.data, (), inside)
    prices = _prices(section, (), inside)
    try:
        inside.raise_if_any()
    except RequestError as error:
        problems.add(place, str(error))
    return prices


def _prices(section: PricesSection, place: Place, problems: Problems) -> Prices:
    if section.models and section.date is None:
        problems.add(
            (*place, "date"), "missing; say on which day the prices were read, as YYYY-MM-DD"
        )
    if section.date is not None:
        try:
            date.fromisoformat(section.date)
        except ValueError:
            problems.add((*place, "date"), f"no such day: {section.date!r}")
    models: dict[str, Mapping[str, float]] = {}
    for name, price in section.models.items():
        if price.input is None or price.output is None:
            problems.add(
                (*place, "models", name),
                "needs input and output, in US dollars per million tokens",
            )
        else:
            models[name] = {"input": price.input, "output": price.output}
    return Prices(date=section.date, models=models)
