"""What a plan will cost and what it can detect."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from taketwo.benchmarks.question import Question
from taketwo.errors import RequestError
from taketwo.executions.arm_cost import LOCAL_TRANSCRIBER, Assumptions
from taketwo.executions.expected_cost import expected_cost, sensitivity
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion
from taketwo.executions.rule import Rule
from taketwo.media.transcript import OFFLINE_TRANSCRIBER
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork

_ASSUMED = Assumptions(
    turns=4,
    visible_calls=3,
    input_base=1000,
    input_per_turn=100,
    output_per_call=10,
    frames=8,
    tokens_per_frame=50,
)


def _arm(name: str, *, limits: Limits, observer: bool) -> Arm:
    models = {"orchestrator": ModelSpec(name="a/planner")}
    if observer:
        models["observer"] = ModelSpec(name="a/eye")
    return Arm(
        name=name,
        agent=name,
        baseline=None,
        options={},
        models=models,  # pyright: ignore[reportArgumentType] roles as written above
        sampling={},
        limits=limits,
        tools=("analyze_video",) if observer else (),
        prompts={},
        tools_sha256="",
    )


def _question(number: int, *, is_open: bool, is_there: bool = True) -> PlannedQuestion:
    question = Question(
        question_id=f"q{number}",
        text="?",
        video_id=f"v{number}",
        video_path="v.mp4",
        options=() if is_open else ("yes", "no"),
        answer_index=None if is_open else 0,
        answer_text="yes" if is_open else None,
    )
    return PlannedQuestion(
        question=question,
        question_sha256=question.content_sha256,
        video_sha256="0" * 64 if is_there else None,
        subtitles_sha256=None,
        availability="available" if is_there else "missing",
    )


def _plan(limits: Limits | None = None, **changes: object) -> Plan:
    plan = Plan(
        study="cost",
        created="2026-01-01T00:00:00Z",
        seed=1,
        executions=2,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="",
        questions=(
            *(_question(number, is_open=number == 0) for number in range(5)),
            _question(9, is_open=False, is_there=False),
        ),
        arms=(
            _arm("single", limits=Limits(tokens=2000), observer=False),
            _arm("react", limits=limits or Limits(turns=20, visible_calls=15), observer=True),
        ),
        rule=Rule(),
        judge=ModelSpec(name="a/judge"),
        cells=1,
        connections=1,
        retries=0,
        timeout_s=1.0,
        provider_seeds=False,
        code_sha256="",
        packages={},
        prices={"a/planner": {"input": 2.0, "output": 8.0}, "a/eye": {"input": 1.0, "output": 4.0}},
        prices_date="2026-03-01",
    )
    return dataclasses.replace(plan, **changes)  # pyright: ignore[reportArgumentType] fields of Plan


def test_cells_count_only_questions_whose_video_is_there() -> None:
    cost = expected_cost(_plan())

    assert [arm.cells for arm in cost.arms] == [10, 10]
    assert cost.cells == 20


def test_expected_use_is_that_of_the_assumptions_worked_by_hand() -> None:
    single, react = expected_cost(_plan(), _ASSUMED).arms

    # One call on the question and 8 frames of 50 tokens.
    assert (single.calls, single.input_tokens, single.output_tokens) == (10, 14_000, 100)
    assert single.usd == pytest.approx(14_000 * 2e-6 + 100 * 8e-6)
    # Turns of 1000, 1100, 1200, 1300 tokens and three looks of 1000 + 8 * 50.
    assert (react.calls, react.input_tokens, react.output_tokens) == (70, 88_000, 700)
    assert react.usd == pytest.approx(46_000 * 2e-6 + 400 * 8e-6 + 42_000 * 1e-6 + 300 * 4e-6)


def test_limits_cut_what_is_expected() -> None:
    _, react = expected_cost(_plan(Limits(turns=2, visible_calls=1)), _ASSUMED).arms

    assert (react.calls, react.calls_most) == (30, 30)


def test_the_most_follows_from_the_limits_alone() -> None:
    single, react = expected_cost(_plan(Limits(turns=20, visible_calls=15, tokens=9000))).arms

    assert (single.calls_most, single.tokens_most) == (10, 20_000)
    assert single.usd_most == pytest.approx(20_000 * 8e-6)
    assert (react.calls_most, react.tokens_most) == (350, 90_000)
    # The dearest price of its models, the planner's output.
    assert react.usd_most == pytest.approx(90_000 * 8e-6)


def test_what_no_limit_bounds_is_not_bounded() -> None:
    _, react = expected_cost(_plan(Limits(turns=20))).arms

    assert (react.calls_most, react.tokens_most, react.usd_most) == (None, None, None)


def test_a_model_without_a_price_leaves_the_cost_unknown_and_not_zero() -> None:
    cost = expected_cost(_plan(prices={"a/planner": {"input": 2.0, "output": 8.0}}))

    assert cost.arms[0].usd is not None
    assert cost.arms[1].usd is None
    assert (cost.usd, cost.usd_most) == (None, None)


def _working(work: ExpectedWork, limits: Limits | None = None, **changes: object) -> Plan:
    """Return a plan of one arm with a planner, an observer and 5 questions on videos of 90 s."""
    plan = _plan()
    present = [item for item in plan.questions if item.availability == "available"]
    questions = tuple(
        dataclasses.replace(
            item,
            question=dataclasses.replace(item.question, video_duration_s=90.0),
            video_sha256=str(number // 2),
        )
        for number, item in enumerate(present)
    )
    arm = dataclasses.replace(_arm("agent", limits=limits or Limits(), observer=True), work=work)
    return dataclasses.replace(plan, questions=questions, arms=(arm,), **changes)  # pyright: ignore[reportArgumentType] fields of Plan


def test_what_an_agent_declares_of_its_work_is_priced_instead_of_assumptions() -> None:
    work = ExpectedWork(turns=6, observer_calls=3, observer_frames=10, calls_most=9)

    (arm,) = expected_cost(_working(work), _ASSUMED).arms

    # 10 cells: six turns that grow by 100 tokens each, three looks at 10 frames of 50 tokens.
    assert (arm.calls, arm.calls_most) == (90, 90)
    planner, eye = 10 * (6 * 1000 + 100 * 15), 10 * 3 * (1000 + 500)
    assert arm.input_tokens == planner + eye
    assert arm.output_tokens == 90 * 10
    assert arm.usd == pytest.approx(planner * 2e-6 + 600 * 8e-6 + eye * 1e-6 + 300 * 4e-6)


def test_limits_also_cut_declared_work_and_its_most() -> None:
    work = ExpectedWork(turns=4, visible_calls=4, observer_calls=8, calls_most=40)

    cut = expected_cost(_working(work, Limits(turns=2, visible_calls=1)), _ASSUMED).arms[0]
    few = expected_cost(_working(work, Limits(model_calls=3)), _ASSUMED).arms[0]

    assert (cut.calls, cut.calls_most) == (10 * (2 + 2), 400)
    assert (few.calls, few.calls_most) == (30, 30)


def test_several_looks_in_one_visible_call_are_not_bounded_by_the_number_of_calls() -> None:
    work = ExpectedWork(turns=4, visible_calls=2, observer_calls=6)

    (arm,) = expected_cost(_working(work, Limits(turns=5, visible_calls=3)), _ASSUMED).arms

    assert arm.calls_most is None


def test_a_shared_index_is_paid_once_a_video_and_execution_another_in_every_cell() -> None:
    shared = ExpectedWork(
        turns=1, index_calls_per_minute=6, index_frames=4, index_is_shared=True, calls_most=1
    )
    own = dataclasses.replace(shared, index_is_shared=False)

    (once,) = expected_cost(_working(shared), _ASSUMED).arms
    (each,) = expected_cost(_working(own), _ASSUMED).arms

    # 9 calls index 90 s; five questions lie on three videos; two executions.
    assert (once.calls, once.calls_most) == (10 + 2 * 3 * 9, 10 + 54)
    assert (each.calls, each.calls_most) == (10 + 2 * 5 * 9, 10 + 90)
    assert once.input_tokens == 10 * 1000 + 54 * (1000 + 4 * 50)


def test_frames_at_a_rate_follow_the_length_of_each_video_up_to_their_cap() -> None:
    work = ExpectedWork(orchestrator_frames_per_s=2)
    capped = dataclasses.replace(work, orchestrator_frames_most=50)

    (free,) = expected_cost(_working(work), _ASSUMED).arms
    (cut,) = expected_cost(_working(capped), _ASSUMED).arms
    (by_limit,) = expected_cost(_working(work, Limits(frames=30)), _ASSUMED).arms

    # Ten cells of 90 s: 180, 50 and 30 frames of 50 tokens each.
    assert [arm.input_tokens for arm in (free, cut, by_limit)] == [
        10 * (1000 + frames * 50) for frames in (180, 50, 30)
    ]


def test_an_index_of_videos_of_unknown_length_is_unknown_and_not_free() -> None:
    plan = _working(ExpectedWork(index_calls_per_minute=6))
    first = plan.questions[0]
    untold = dataclasses.replace(
        first, question=dataclasses.replace(first.question, video_duration_s=None)
    )

    cost = expected_cost(dataclasses.replace(plan, questions=(untold, *plan.questions[1:])))

    assert (cost.arms[0].calls, cost.usd, cost.arms[0].calls_most) == (None, None, None)
    assert "unknown" in cost.to_text().splitlines()[2]


def test_a_transcriber_that_is_a_model_is_paid_by_the_second_and_the_local_one_is_not() -> None:
    work = ExpectedWork(turns=1, transcriptions=1)
    plan = _working(
        work,
        prices={
            "a/planner": {"input": 0.0, "output": 0.0},
            "a/eye": {"input": 0.0, "output": 0.0},
            "a/ear": {"input": 10.0, "output": 20.0},
        },
    )

    def with_transcriber(name: str) -> Plan:
        (arm,) = plan.arms
        models = {**arm.models, "transcriber": ModelSpec(name=name)}
        return dataclasses.replace(plan, arms=(dataclasses.replace(arm, models=models),))

    (heard,) = expected_cost(with_transcriber("a/ear"), _ASSUMED).arms
    (local,) = expected_cost(with_transcriber(OFFLINE_TRANSCRIBER), _ASSUMED).arms

    # Ten cells of 90 s: one request each, 32 tokens a second in and 5 out.
    assert heard.calls == 20
    assert heard.usd == pytest.approx(10 * 90 * (32 * 10 + 5 * 20) / 1e6)
    assert (local.calls, local.usd) == (10, 0.0)
    assert LOCAL_TRANSCRIBER == OFFLINE_TRANSCRIBER


def test_an_agent_with_models_of_its_own_is_unknown_and_so_is_the_total() -> None:
    plan = _plan()
    outside = dataclasses.replace(plan.arms[0], name="outside", models={}, limits=Limits())

    cost = expected_cost(dataclasses.replace(plan, arms=(outside, plan.arms[1])))

    assert (cost.arms[0].calls, cost.arms[0].usd, cost.usd) == (None, None, None)
    text = cost.to_text()
    line = next(line for line in text.splitlines() if line.startswith("  outside"))
    assert line.split() == ["outside", "10", "unknown", "-", "unknown", "-", "unknown", "-"]
    assert "unknown: outside reaches models of its own" in text


def test_a_limit_in_dollars_bounds_what_an_arm_can_cost() -> None:
    (arm,) = expected_cost(_working(ExpectedWork(), Limits(cost_usd=0.05, tokens=1_000_000))).arms

    assert arm.usd_most == pytest.approx(10 * 0.05)


def test_expected_work_below_zero_is_refused() -> None:
    with pytest.raises(RequestError, match="turns -1; it must be 0 or more"):
        ExpectedWork(turns=-1)
    with pytest.raises(RequestError, match="observer_calls nan"):
        ExpectedWork(observer_calls=float("nan"))


def test_only_open_answers_go_to_the_judge() -> None:
    assert expected_cost(_plan()).judged_most == 1 * 2 * 2
    assert expected_cost(_plan(judge=None)).judged_most == 0


def test_choices_of_which_no_option_is_the_truth_go_to_the_judge_too() -> None:
    planned = _question(1, is_open=False)
    in_words = dataclasses.replace(planned.question, answer_index=None, answer_text="neither")

    plan = _plan(
        questions=(_question(2, is_open=False), dataclasses.replace(planned, question=in_words))
    )

    assert expected_cost(plan).judged_most == 1 * 2 * 2


@pytest.mark.parametrize(
    ("executions", "in_units_of_error"),
    [(2, 7.7), (3, 3.5), (4, 2.6), (5, 2.2), (7, 1.8), (10, 1.5)],
)
def test_detectable_spread_agrees_with_the_published_table(
    executions: int, in_units_of_error: float
) -> None:
    found = sensitivity(1283, executions)

    assert found.between_sd is not None
    assert found.between_sd / (0.437 / np.sqrt(1283)) == pytest.approx(in_units_of_error, abs=0.06)


def test_detectable_spread_is_found_with_the_stated_power() -> None:
    questions, executions, residual = 60, 4, 0.4
    found = sensitivity(questions, executions, residual_sd=residual)
    assert found.between_sd is not None
    rng = np.random.default_rng(3)
    table = rng.normal(0, residual, (4000, questions, executions))
    table += rng.normal(0, found.between_sd, (4000, 1, executions))
    columns, rows = table.mean(axis=1), table.mean(axis=2)
    grand = table.mean(axis=(1, 2))
    between = questions * ((columns - grand[:, None]) ** 2).sum(axis=1) / (executions - 1)
    rest = table - columns[:, None, :] - rows[:, :, None] + grand[:, None, None]
    within = (rest**2).sum(axis=(1, 2)) / ((executions - 1) * (questions - 1))
    degrees = (executions - 1, (executions - 1) * (questions - 1))

    power = float(np.mean(between / within > stats.f.ppf(0.95, *degrees)))

    # Monte Carlo standard error 0.0063; the band is four of them.
    assert power == pytest.approx(0.8, abs=0.025)


def test_detectable_shift_is_found_with_the_stated_power() -> None:
    found = sensitivity(100, 2, residual_sd=0.4)
    assert found.shift is not None
    rng = np.random.default_rng(4)
    shifts = rng.normal(found.shift, 0.4 * np.sqrt(2), (4000, 100))
    z = shifts.mean(axis=1) / (0.4 * np.sqrt(2) / np.sqrt(100))

    assert float(np.mean(np.abs(z) > 1.96)) == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize(("questions", "executions"), [(100, 1), (1, 2), (0, 2)])
def test_one_execution_or_one_question_detects_nothing(questions: int, executions: int) -> None:
    found = sensitivity(questions, executions)

    assert (found.shift, found.between_sd) == (None, None)


def test_the_text_shows_cost_limits_and_what_can_be_detected() -> None:
    text = expected_cost(_plan(), _ASSUMED).to_text()

    assert text == (
        "20 cells with a video, over all executions\n"
        "  arm     cells  calls  at most   tokens  at most    US$  at most\n"
        "  single     10    ~10       10  ~14,100   20,000  ~0.03     0.16\n"
        "  react      10    ~70      350  ~88,700        -  ~0.14        -\n"
        "judge of answers a/judge: at most 4 requests, ~1,884 tokens, no price "
        "(equal answers are judged once)\n"
        "prices as of 2026-03-01\n"
        "what judges cost is in none of the dollars of the arms, and in no limit of a cell\n"
        "~ is a rough expectation; 'at most' follows from the limits, '-' is not bounded\n"
        "\n"
        "limits of one cell\n"
        "  arm     turns  visible_calls  primitive_ops  model_calls  frames  tokens  latency_s  cost_usd  wall_s\n"
        "  single      -              -              -            -       -   2,000          -         -       -\n"
        "  react      20             15              -            -       -       -          -         -       -\n"
        "\n"
        "2 executions on 5 questions detect, with 80% power and for accuracy, a shift of 77.4 points "
        "between two executions\n"
        "(rough: independent questions, residual standard deviation 0.437)"
    )


def test_a_single_execution_says_what_stays_unknown() -> None:
    text = expected_cost(_plan(executions=1)).to_text()

    assert (
        "1 execution on 5 questions: no shift can be seen; whether the effect survives "
        "re-execution stays unknown"
    ) in text


def test_the_record_has_the_same_numbers() -> None:
    cost = expected_cost(_plan(), _ASSUMED)
    record = cost.to_json()

    assert record["cells"] == 20
    assert record["usd"] == pytest.approx(cost.usd)
    assert record["arms"] == [arm.to_json() for arm in cost.arms]
    assert record["sensitivity"] == cost.sensitivity.to_json()
