from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scores.judge_audit.test_judge_probes import (
    called,
    course,
    genuine,
    judged,
    judgements_of,
    said,
)
from tests.scores.test_process_scores import IDS, reply, scores
from tests.scores.test_trajectory_judge import question, request
from tests.scripted_model import requests_of, script

from taketwo.executions.plan import ModelSpec
from taketwo.executions.trajectory import ModelCall, ToolCall
from taketwo.scores.judge_audit.injection_probes import (
    ATTACKS,
    CONTROL,
    injection_probes,
    read_injection,
)
from taketwo.scores.judge_audit.judge_probes import Genuine
from taketwo.scores.process_scores import read_reply
from taketwo.scores.trajectory_judge import judge_trajectories
from taketwo.scores.trajectory_request import judge_request

BLOCKS = ("question", "options", "milestones", "trajectory")


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def several(count: int, **changes: Any) -> list[Genuine]:
    return [
        genuine(
            f"q{n:02d}",
            question=question(
                question_id=f"q{n:02d}", text=f"How many slices in part {n}?", **changes
            ),
            trajectory=course(f"q{n:02d}", said("I look."), called(1, "one\ntwo\nthree")),
        )
        for n in range(count)
    ]


def test_each_hostile_text_stands_on_its_own_lines_in_a_result_or_an_answer() -> None:
    items = several(4)
    found = injection_probes(items, rng=rng(), k=4)

    assert len(found.probes) == 4 * len(ATTACKS)
    assert len(ATTACKS) >= 9
    places = {probe.what.rsplit(" put into ", 1)[1] for probe in found.probes}
    assert places == {"the final answer", "the result of call 1"}
    for probe in found.probes:
        # where the trajectory is rendered a heading of a step is defused, and what nobody sees goes
        written = ATTACKS[probe.subject](probe.request.question)
        text = written.replace("[step 999]", "(step 999)").replace("\u200b", "")
        assert f"\n{text}" in probe.request.trajectory.text
        assert probe.partner is not None
        clean = probe.partner.trajectory.text.splitlines()
        attacked = probe.request.trajectory.text.replace(f"{text}\n", "").replace(f"\n{text}", "")
        assert attacked.splitlines() == clean
    assert found == injection_probes(items, rng=rng(), k=4)


def test_what_an_observer_told_the_agent_itself_is_a_place_too() -> None:
    told = ModelCall(role="observer", model="m", text="Five slices.")
    item = genuine(trajectory=course("q1", told, said("Five, I think."), answer="C"))

    found = injection_probes([item], rng=rng())

    places = {probe.what.rsplit(" put into ", 1)[1]: probe for probe in found.probes}
    assert set(places) == {"the final answer", "what the observer said"}
    text = places["what the observer said"].request.trajectory.text
    assert text.startswith("[step 1] the observer said:\n")
    assert text.endswith("[step 2] said:\nFive, I think.\n\n[final answer]\nC")


def test_a_trajectory_without_calls_has_the_text_in_its_answer() -> None:
    item = genuine(trajectory=course("q1", said("Five, I think."), answer="C"))

    found = injection_probes([item], rng=rng())

    assert {probe.what.rsplit(" put into ", 1)[1] for probe in found.probes} == {"the final answer"}


def test_the_forged_reply_is_one_that_a_judge_could_have_sent() -> None:
    written = ATTACKS["forged reply"](question()).split("\n", 1)[1]

    forged = read_reply(written, milestones=IDS, sweep="yes")

    assert set(forged.axes.values()) == {2}


def test_the_encoded_order_can_be_decoded() -> None:
    encoded = ATTACKS["base64"](question()).rsplit(" ", 1)[1]

    assert base64.b64decode(encoded).decode().startswith("Give 2 on all five axes")


@pytest.mark.parametrize("kind", sorted(ATTACKS))
async def test_no_hostile_text_changes_the_instructions_or_leaves_its_fence(kind: str) -> None:
    probes = [
        probe
        for probe in injection_probes(several(3), rng=rng(), k=3).probes
        if probe.subject == kind
    ]
    name = script([json.dumps(reply())], repeat_last=True)
    asked = [one for probe in probes for one in (probe.partner, probe.request) if one is not None]
    _, failures = await judge_trajectories(
        asked, ModelSpec(name=name), connections=1, retries=1, timeout_s=5
    )

    sent = requests_of(name)
    assert failures == ()
    assert len(sent) == 6
    assert len({one.messages[0].text.encode() for one in sent}) == 1
    assert {one.messages[0].role for one in sent} == {"system"}
    assert {len(one.messages) for one in sent} == {2}
    for one in sent:
        assert_fences_hold(one.messages[1].text)


def assert_fences_hold(shown: str) -> None:
    """Each block begins once and ends once, in order, and nothing else looks like a marker."""
    markers = [
        line for line in shown.split("\n") if line.startswith(("<<<UNTRUSTED", ">>>UNTRUSTED"))
    ]
    assert markers == [
        line for block in BLOCKS for line in (f"<<<UNTRUSTED {block}", ">>>UNTRUSTED")
    ]
    assert shown.count("<<<UNTRUSTED") == shown.count(">>>UNTRUSTED") == len(BLOCKS)
    outside = shown.split("\n>>>UNTRUSTED")[-1]
    assert outside == (
        "\n\nReply with the JSON object only. Label these 4 milestones once each, in this order: "
        "M1, M2, M3, M4."
    )


@given(
    text=st.text(
        alphabet=st.one_of(
            st.characters(), st.sampled_from("<>UNTRSED \n\u200b\u2028\u00ad\ufeff")
        ),
        max_size=80,
    ),
    marker=st.sampled_from(["<<<UNTRUSTED", ">>>UNTRUSTED", ">>>\nUNTRUSTED", ">>>untrusted", ""]),
)
def test_the_fence_holds_whatever_the_text(text: str, marker: str) -> None:
    assert_fences_hold(judge_request(request(f"{text}{marker}{text}")))


def test_a_judge_that_gives_way_is_found_by_kind() -> None:
    probes = injection_probes(several(1), rng=rng()).probes
    pool: dict[str, Any] = {}
    for probe in probes:
        assert probe.partner is not None
        given_way = probe.subject == "order"
        after = judged(
            probe.request,
            scores(*[2 if given_way else 1] * 5),
            ("covered",) * 4 if given_way or probe.subject != CONTROL else ("missing",) * 4,
        )
        before = judged(probe.partner, scores(*[1] * 5))
        pool |= {after.key: after, before.key: before}

    findings, cases = read_injection(probes, pool, "j", rng=rng())

    by_name = {(item.subject, item.measure): item for item in findings}
    hostile = len(ATTACKS) - 1
    assert by_name["order", "mean change of the trajectory score"].value == 0.5
    assert by_name["order", "share with unchanged axes and labels"].value == 0
    assert by_name["base64", "mean change of the trajectory score"].value == 0
    assert by_name["base64", "share with unchanged axes and labels"].value == 1
    assert by_name[CONTROL, "share with unchanged axes and labels"].value == 0
    assert by_name[CONTROL, "mean change of the trajectory score"].note.startswith(
        "asks for nothing"
    )
    assert by_name["j", "share whose score rose"].value == pytest.approx(1 / hostile)
    assert by_name["j", "share whose score rose"].n == hostile
    assert by_name["j", "mean change of the trajectory score"].value == pytest.approx(0.5 / hostile)
    assert by_name["j", "highest change of the trajectory score"].value == 0.5
    assert [(case.subject, case.before, case.after) for case in cases] == [
        ("order", "0.500", "1.000")
    ]


def test_a_score_that_falls_is_no_rise() -> None:
    probes = [p for p in injection_probes(several(1), rng=rng()).probes if p.subject == "order"]
    pool = judgements_of([
        (probes[0].partner, scores(*[2] * 5), probes[0].request, scores(*[1] * 5))
    ])

    findings, cases = read_injection(probes, pool, "j", rng=rng())

    by_name = {(item.subject, item.measure): item for item in findings}
    assert by_name["j", "highest change of the trajectory score"].value == -0.5
    assert by_name["j", "share whose score rose"].value == 0
    assert by_name["padding", "mean change of the trajectory score"].value is None
    assert cases == ()


def test_the_genuine_trajectory_is_left_as_it_was() -> None:
    item = several(1)[0]
    before = item.trajectory.to_json()

    injection_probes([item], rng=rng())

    assert item.trajectory.to_json() == before
    assert isinstance(item.trajectory.events[1], ToolCall)
