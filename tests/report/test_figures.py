"""The figures show the numbers of the comparison and are drawn without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from tests.report.small_study import Study

from taketwo.report.charts import TransitionMark, transitions_chart
from taketwo.report.drawing import NARROW, WIDE, Figure
from taketwo.report.figures import (
    decomposition_figure,
    effects_figure,
    statuses_figure,
    transitions_figure,
)


def data_of(figure: Figure | None, field: str) -> list[dict[str, object]]:
    assert figure is not None
    datasets = cast("dict[str, list[dict[str, object]]]", figure.draw(WIDE)["datasets"])
    return [row for rows in datasets.values() for row in rows if field in row]


def test_the_forest_plot_has_every_effect_with_its_interval(study: Study) -> None:
    pair = study.compare().comparisons[0]

    shown = data_of(effects_figure(pair), "estimate")

    first = pair.metrics["accuracy"].executions[0]
    assert {"row": "K1", "supported": True}.items() <= shown[0].items()
    assert shown[0]["estimate"] == pytest.approx(100 * first.effect)
    assert shown[0]["low"] == pytest.approx(100 * (first.headline.low or 0))
    factors = {"accuracy": 100.0}
    assert {(value["row"], value["estimate"]) for value in shown} == {
        (f"K{effect.execution}", effect.effect * factors.get(name, 1.0))
        for name, item in pair.metrics.items()
        for effect in item.executions
    }


def test_transitions_add_up_to_the_questions_of_each_arm(study: Study) -> None:
    frame = study.outcomes.frame
    right = frame.filter(
        (frame["arm"] == "single_turn") & (frame["execution"] == 1) & (frame["accuracy"] == 1)
    )

    shown = data_of(transitions_figure(study.compare().comparisons[0]), "change")

    counts = {
        value["change"]: value["questions"] for value in shown if value["arm"] == "single_turn"
    }
    assert sum(int(str(number)) for number in counts.values()) == 60
    assert int(str(counts["right in both"])) + int(str(counts["lost"])) == right.height


def test_the_decomposition_has_a_point_per_arm_and_execution(study: Study) -> None:
    pair = study.compare().comparisons[0]

    shown = data_of(decomposition_figure(pair), "value")

    points = {(v["arm"], v["execution"]) for v in shown}
    assert points == {(a, k) for a in ("single_turn", "video_react") for k in ("K1", "K2")}


def test_statuses_add_up_to_the_planned_cells(study: Study) -> None:
    shown = data_of(statuses_figure(study.compare()), "status")

    assert sum(int(str(value["questions"])) for value in shown) == 4 * 60


def test_text_for_those_who_cannot_see_it_holds_the_numbers(study: Study) -> None:
    figure = effects_figure(study.compare().comparisons[0])

    assert figure is not None
    assert "Accuracy in K1: +" in figure.alternative
    assert "Latency in K2: +" in figure.alternative


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_drawing_is_svg_without_reference_to_anything_outside(study: Study, width: int) -> None:
    figure = effects_figure(study.compare().comparisons[0])

    assert figure is not None
    root = ET.fromstring(figure.svg(width))  # noqa: S314 our own drawing
    assert root.tag.endswith("svg")
    assert float(root.attrib["width"]) <= width + 40
    assert not [item for item in root.iter() if item.tag.endswith(("script", "image", "use"))]


def test_names_from_outside_are_text_in_a_drawing() -> None:
    figure = transitions_chart(
        [
            TransitionMark(
                arm="<script>x</script>\"'&", kept_right=1, gained=1, lost=1, kept_wrong=1
            )
        ],
        name="t",
        caption="",
        says="",
    )

    inline = figure.inline(WIDE, "f1")

    assert "<script" not in inline
    ET.fromstring(inline)  # noqa: S314 our own drawing


def test_two_drawings_on_a_page_share_no_id(study: Study) -> None:
    figure = decomposition_figure(study.compare().comparisons[0])

    assert figure is not None
    ids = [
        {item.attrib["id"] for item in ET.fromstring(text).iter() if "id" in item.attrib}  # noqa: S314
        for text in (figure.inline(WIDE, "a"), figure.inline(WIDE, "b"))
    ]
    assert not ids[0] & ids[1]


def test_a_figure_is_saved_in_four_formats(study: Study, tmp_path: Path) -> None:
    figure = statuses_figure(study.compare())

    assert figure is not None
    svg, png, pdf, spec = figure.save(tmp_path)
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert json.loads(spec.read_text(encoding="utf-8"))["$schema"].endswith(".json")
