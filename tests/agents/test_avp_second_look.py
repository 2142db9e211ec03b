from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agents.avp_replies import plan, report, review, sent, verdict
from tests.cells import COLOURS, LogTail, toolbox
from tests.scripted_model import Step

from taketwo.agents.avp import SPEC
from taketwo.tools.budget import Limits
from taketwo.tools.toolbox import Toolbox

SEEN = report("a blue circle", (3, 5, "blue"), (20, 21, "blue again"))
YES, NO = review(True, 0.9, "B"), review(False, 0.3)


def cell(
    folder: Path,
    orchestrator: Sequence[Step],
    observer: Sequence[Step],
    options: Mapping[str, object] | None = None,
    **more: Any,
) -> Toolbox:
    tools = SPEC.tools(SPEC.checked(options or {}))
    given = {"info": {"has_audio": False}, **more}
    return toolbox(folder, orchestrator=orchestrator, observer=observer, tools=tools, **given)


async def test_the_first_stop_waits_for_a_closer_look_at_what_decided(tmp_path: Path) -> None:
    box = cell(tmp_path, [plan(), YES, review(True, 0.95, "C")], [SEEN, report("it is green")])
    log = LogTail()

    answer = await SPEC.build(SPEC.checked({}))(COLOURS, box)

    assert (answer.option_index, answer.forced) == (2, False)
    _, second = log.of("tool")
    assert second["frame_times_s"] == [
        *(2.0 + step / 2 for step in range(9)),
        *(19.0 + step / 2 for step in range(7)),
    ]
    told = sent(box, "observer")[1].text
    assert "a blue circle" not in told
    assert "[Second look in round 1; shown were 2.0-6.0 s, 19.0-22.0 s" in sent(box)[-1].text
    assert "resolution medium]\nit is green" in sent(box)[-1].text


async def test_a_second_look_that_unsettles_sends_the_loop_on_and_is_not_repeated(
    tmp_path: Path,
) -> None:
    box = cell(
        tmp_path,
        [plan(), YES, NO, plan(fps=3), review(True, 0.8, "A")],
        [SEEN, report("not blue at all"), SEEN],
    )

    answer = await SPEC.build(SPEC.checked({}))(COLOURS, box)

    assert answer.option_index == 0
    assert box.budget.used("visible_calls") == 3
    assert "not blue at all" in sent(box)[3].text


@pytest.mark.parametrize("options", [{"faithful": True}, {"second_look": False}])
async def test_it_can_be_left_out(tmp_path: Path, options: dict[str, object]) -> None:
    box = cell(tmp_path, [plan(), YES], [SEEN], options)

    answer = await SPEC.build(SPEC.checked(options))(COLOURS, box)

    assert answer.option_index == 1


@pytest.mark.parametrize(
    ("options", "seen", "step"),
    [
        ({}, report("a blue circle"), {}),
        ({}, SEEN, {"fps": 5, "spatial_token_rate": "medium"}),
        ({"full_video": True}, SEEN, {}),
        ({"fixed_fps": 1, "fixed_resolution": "low"}, SEEN, {}),
    ],
)
async def test_without_a_closer_look_to_be_had_there_is_none_and_it_is_said(
    tmp_path: Path, options: dict[str, object], seen: str, step: dict[str, object]
) -> None:
    box, log = cell(tmp_path, [plan(**step), YES], [seen], options), LogTail()

    answer = await SPEC.build(SPEC.checked(options))(COLOURS, box)

    assert answer.option_index == 1
    assert log.of("note") == [{"text": "no second look: there is no closer one at what decided"}]


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        (Limits(turns=3), "no second look: 1 turns are left"),
        (Limits(primitive_ops=4), "no second look: 2 primitive_ops are left"),
        (Limits(model_calls=5), "no second look: 2 model_calls are left"),
    ],
)
async def test_it_never_costs_the_answer(tmp_path: Path, limits: Limits, note: str) -> None:
    box, log = cell(tmp_path, [plan(), YES], [SEEN], limits=limits), LogTail()

    answer = await SPEC.build(SPEC.checked({}))(COLOURS, box)

    assert (answer.option_index, answer.forced) == (1, False)
    assert log.of("note") == [{"text": note}]


async def test_a_second_look_that_fails_leaves_the_first_review_standing(tmp_path: Path) -> None:
    limits = Limits(frames=26)
    box = cell(tmp_path, [plan(), YES, YES], [SEEN, "never asked"], limits=limits)

    answer = await SPEC.build(SPEC.checked({}))(COLOURS, box)

    assert answer.option_index == 1


def test_the_budget_has_room_for_it() -> None:
    assert SPEC.limits_for(SPEC.checked({})) == Limits(turns=21, visible_calls=4)
    assert SPEC.limits_for(SPEC.checked({"faithful": True, "asks": 0})) == Limits(
        turns=6, visible_calls=3
    )
    assert SPEC.limits_for(SPEC.checked({"rounds": 1, "asks": 0})) == Limits(
        turns=2, visible_calls=1
    )


async def test_the_longest_way_stays_inside_the_budget(tmp_path: Path) -> None:
    options = {"asks": 0}
    box = cell(
        tmp_path,
        [plan(), NO, plan(fps=2), YES, NO, plan(fps=3), verdict("A")],
        [report("haze"), SEEN, report("haze"), report("haze")],
        options,
    )

    answer = await SPEC.build(SPEC.checked(options))(COLOURS, box)

    assert (answer.option_index, answer.limit) == (0, "rounds")
    assert (box.budget.left("turns"), box.budget.left("visible_calls")) == (0, 0)
