"""AgentVidBench's printed numbers against one another, and against our own way of computing them.

Typed from the paper (arXiv 2609.21386); its per-question data are not published. `page_part()` renders
what the page on published numbers says of it; run this module to print it.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from taketwo.analysis.dominant_tags import dominant_of, in_order_of_frequency
from taketwo.analysis.efficiency import token_efficiency
from taketwo.stats.distributions import binomial_cdf

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "published-numbers.md"
SETTINGS = ("Single-Turn", "STAR", "DVD", "AVP", "Ours")
PROPRIETARY = ("GPT-5", "Claude Opus 4.7", "Gemini 2.5 Flash", "Gemini 2.5 Pro")

TABLE_1 = {
    "GPT-5": (".29 .55 .14 .33 .34 .60 .41 .65 .49 .76", "+.20 +.21"),
    "Claude Opus 4.7": (".30 .44 .19 .37 .43 .63 .38 .64 .54 .79", "+.24 +.35"),
    "Gemini 2.5 Flash": (".46 .66 .10 .29 .27 .47 .46 .65 .45 .71", "-.01 +.05"),
    "Gemini 2.5 Pro": (".51 .71 .13 .35 .30 .47 .56 .71 .58 .77", "+.07 +.05"),
    "Qwen3-VL-4B": (".16 .34 .07 .22 .08 .24 .38 .68 .37 .62", "+.21 +.27"),
    "Qwen3-VL-4B +Think": (".18 .30 .07 .12 .23 .31 .49 .67 .38 .65", "+.20 +.36"),
    "Qwen3-VL-8B": (".18 .41 .04 .21 .10 .22 .38 .63 .40 .68", "+.22 +.27"),
    "Qwen3-VL-8B +Think": (".18 .30 .08 .13 .16 .26 .41 .64 .40 .70", "+.22 +.41"),
    "Qwen3.5-9B": (".19 .37 .08 .20 .32 .50 .34 .66 .40 .71", "+.21 +.34"),
    "Qwen3.5-9B +Think": (".22 .50 .06 .16 .33 .51 .47 .69 .41 .72", "+.19 +.22"),
    "Qwen3.5-27B": (".22 .53 .09 .26 .37 .58 .44 .70 .49 .78", "+.27 +.25"),
    "Qwen3.5-27B +Think": (".25 .57 .09 .27 .38 .53 .46 .71 .50 .77", "+.25 +.20"),
    "Gemma-4-E2B": (".11 .25 .07 .18 .22 .36 .38 .69 .40 .67", "+.29 +.42"),
    "Gemma-4-E2B +Think": (".07 .25 .08 .19 .30 .28 .53 .71 .38 .68", "+.31 +.43"),
    "Gemma-4-E4B": (".16 .35 .05 .22 .33 .45 .44 .68 .51 .74", "+.35 +.39"),
    "Gemma-4-E4B +Think": (".14 .39 .07 .22 .24 .44 .46 .67 .40 .67", "+.26 +.28"),
    "Gemma-4-26B-A4B": (".21 .44 .09 .25 .31 .55 .51 .71 .49 .73", "+.28 +.29"),
    "Gemma-4-26B-A4B +Think": (".22 .43 .10 .24 .37 .56 .52 .72 .53 .76", "+.31 +.33"),
    "Gemma-4-31B": (".38 .59 .08 .28 .31 .59 .48 .70 .51 .75", "+.13 +.16"),
    "Gemma-4-31B +Think": (".37 .61 .10 .29 .40 .58 .49 .71 .48 .75", "+.11 +.14"),
}
"""Accuracy and trajectory score by setting, and the changes of the last one against the first."""

TABLE_17 = {
    "GPT-5": (".58 .29 .58 .66 .75", "+.17"),
    "Claude Opus 4.7": (".42 .31 .63 .64 .78", "+.36"),
    "Gemini 2.5 Flash": (".68 .25 .44 .66 .71", "+.03"),
    "Gemini 2.5 Pro": (".73 .28 .45 .74 .79", "+.06"),
    "Qwen3-VL-4B": (".34 .16 .07 .70 .60", "+.26"),
    "Qwen3-VL-4B +Think": (".28 .04 .24 .70 .63", "+.35"),
    "Qwen3-VL-8B": (".42 .16 .10 .64 .67", "+.25"),
    "Qwen3-VL-8B +Think": (".27 .05 .24 .67 .67", "+.40"),
    "Qwen3.5-9B": (".36 .13 .50 .67 .70", "+.35"),
    "Qwen3.5-9B +Think": (".56 .12 .51 .70 .73", "+.17"),
    "Qwen3.5-27B": (".56 .21 .59 .70 .80", "+.23"),
    "Qwen3.5-27B +Think": (".62 .24 .54 .71 .78", "+.16"),
    "Gemma-4-E2B": (".21 .11 .32 .71 .68", "+.47"),
    "Gemma-4-E2B +Think": (".21 .10 .22 .71 .68", "+.47"),
    "Gemma-4-E4B": (".34 .15 .42 .70 .74", "+.40"),
    "Gemma-4-E4B +Think": (".38 .14 .40 .68 .66", "+.28"),
    "Gemma-4-26B-A4B": (".44 .21 .53 .73 .76", "+.32"),
    "Gemma-4-26B-A4B +Think": (".44 .16 .57 .72 .77", "+.33"),
    "Gemma-4-31B": (".61 .20 .57 .71 .76", "+.15"),
    "Gemma-4-31B +Think": (".62 .23 .60 .70 .75", "+.13"),
}

TABLE_18 = {
    "unsupported_observation": "47.1 70.2 34.5 15.9 7.7",
    "counting_error": "37.8 38.6 37.0 31.9 29.3",
    "evidence_answer_conflict": "27.3 65.0 32.7 17.6 17.6",
    "insufficient_full_video_scan": "27.5 45.0 43.1 22.1 14.7",
    "visual_misrecognition": "37.3 34.4 23.6 23.9 23.0",
    "premature_fixation": "25.2 23.4 30.9 8.4 15.2",
    "ocr_error": "20.4 27.0 16.7 12.6 11.3",
    "premature_answer": "8.4 42.5 25.1 1.9 5.0",
    "missed_required_segment": "9.4 19.0 15.2 5.3 5.7",
    "wrong_temporal_segment": "14.2 14.6 10.2 4.3 5.6",
    "wrong_option_mapping": "6.5 15.2 8.2 9.1 5.3",
    "overconfident_uncertainty": "13.7 8.8 6.8 3.0 6.8",
    "failure_to_expand_search": "2.2 12.7 8.2 1.2 2.5",
    "failure_to_adjust_granularity": "4.6 5.5 4.5 6.6 4.0",
    "duplicate_counting": "5.2 4.5 1.9 5.0 7.7",
    "wrong_target_entity": "5.1 5.0 2.4 3.1 1.9",
    "wrong_arithmetic": "3.0 6.7 3.3 2.4 2.1",
    "misunderstood_condition": "4.5 2.9 1.7 4.2 3.2",
    "excluded_item_counted": "1.8 1.9 1.4 2.4 3.0",
    "audio_transcript_error": "3.4 2.6 1.1 0.4 0.7",
    "spatial_relation_error": "0.6 0.4 0.1 0.7 0.3",
}

TABLE_19 = {
    "temporal_localization": (113, ".56 .27 .53 .84 .86"),
    "visual_recognition": (69, ".45 .18 .42 .67 .70"),
    "exclusion_check": (59, ".39 .11 .29 .56 .64"),
    "counting": (54, ".26 .06 .20 .43 .45"),
    "context_identification": (43, ".74 .40 .70 .90 .91"),
    "ocr_text_reading": (41, ".39 .05 .43 .67 .69"),
    "verification": (29, ".26 .04 .24 .53 .56"),
    "audio_visual_evidence": (28, ".42 .17 .51 .79 .81"),
    "comparison": (11, ".36 .12 .36 .70 .74"),
    "arithmetic": (9, ".39 .05 .38 .81 .73"),
}
"""Number of milestones of each type in the benchmark, and coverage by setting."""

TABLE_20 = {
    ("Qwen3.5-27B", "STAR"): ("-.16", "-.25", "-.07"),
    ("Qwen3.5-27B", "DVD"): ("+.16", "+.06", "+.26"),
    ("Qwen3.5-27B", "AVP"): ("+.24", "+.15", "+.34"),
    ("Qwen3.5-27B", "Ours"): ("+.28", "+.19", "+.37"),
    ("Gemma-4-31B", "STAR"): ("-.29", "-.39", "-.19"),
    ("Gemma-4-31B", "DVD"): ("-.07", "-.17", "+.02"),
    ("Gemma-4-31B", "AVP"): ("+.08", "-.01", "+.17"),
    ("Gemma-4-31B", "Ours"): ("+.13", "+.03", "+.23"),
    ("Gemini 2.5 Pro", "STAR"): ("-.38", "-.49", "-.27"),
    ("Gemini 2.5 Pro", "DVD"): ("-.21", "-.32", "-.10"),
    ("Gemini 2.5 Pro", "AVP"): ("+.05", "-.03", "+.13"),
    ("Gemini 2.5 Pro", "Ours"): ("+.07", "-.02", "+.16"),
}

TABLE_21 = {"Ours": 15, "AVP": 15, "DVD": 10, "STAR": 12}
TABLE_22 = {
    "Gemma-4-31B +Think": (71.2, 98.1),
    "Gemma-4-31B": (14.3, 79.0),
    "Gemma-4-26B-A4B +Think": (11.5, 72.9),
    "Qwen3.5-27B +Think": (2.3, 35.0),
}
TABLE_22_OTHERS = (0.5, 9.0)
"""Percent of the draws in which a model is ranked first, and among the first three."""

TABLE_23 = {
    "Gemini 2.5 Pro": (".40", "-.11", ".68", "-.03"),
    "Qwen3.5-27B": (".29", "+.07", ".57", "+.04"),
    "Qwen3.5-27B +Think": (".23", "-.02", ".47", "-.10"),
    "Gemma-4-31B": (".26", "-.12", ".51", "-.08"),
    "Gemma-4-31B +Think": (".24", "-.13", ".50", "-.11"),
}
TABLE_24 = {
    ("Qwen3.5-27B", "STAR"): (".08", "-.01", ".43", "+.17"),
    ("Qwen3.5-27B", "DVD"): (".36", "-.01", ".64", "+.06"),
    ("Gemma-4-31B", "STAR"): (".25", "+.17", ".42", "+.14"),
    ("Gemma-4-31B", "DVD"): (".45", "+.14", ".65", "+.06"),
}

DOMINANT = {
    "Single-Turn": "unsupported_observation",
    "STAR": "unsupported_observation",
    "DVD": "insufficient_full_video_scan",
    "AVP": "counting_error",
    "Ours": "counting_error",
}
"""The most frequent tag of each setting by the text of F.3."""

Fact = tuple[str, str, str, str]


def numbers(text: str) -> list[Decimal]:
    return [Decimal(part) for part in text.split()]


def of_setting(row: str, setting: str) -> Decimal:
    return numbers(row)[SETTINGS.index(setting)]


def accuracy(model: str, setting: str) -> Decimal:
    return numbers(TABLE_1[model][0])[2 * SETTINGS.index(setting)]


def trajectory(model: str, setting: str) -> Decimal:
    return numbers(TABLE_1[model][0])[2 * SETTINGS.index(setting) + 1]


def signed(value: Decimal) -> str:
    return f"{value:+.2f}"


def contradicted() -> list[tuple[str, str]]:
    """Return the cells of Table 20 that are not the differences of Table 1."""
    return [
        (model, setting)
        for (model, setting), (estimate, _, _) in TABLE_20.items()
        if Decimal(estimate) != accuracy(model, setting) - accuracy(model, "Single-Turn")
    ]


def one_sided() -> list[tuple[str, str]]:
    """Return the cells of Table 20 whose interval lies on one side of zero."""
    return [cell for cell, (_, low, high) in TABLE_20.items() if Decimal(low) * Decimal(high) > 0]


def resolvable(setting: str) -> int:
    """Return in how many open settings any split of 100 questions could give an exact p below .05.

    The smallest p of McNemar's test for a given difference is that with no question lost (gained).
    """
    found = 0
    for model in TABLE_1:
        if model not in PROPRIETARY:
            changed = abs(int(100 * (accuracy(model, setting) - accuracy(model, "Single-Turn"))))
            p = min(1.0, 2 * binomial_cdf(0, changed)) if changed else 1.0
            found += p < 0.05
    return found


def mean_accuracies() -> list[tuple[str, Decimal]]:
    """Return the open settings by their mean accuracy over the five methods, the best first."""
    found = {
        model: sum((accuracy(model, setting) for setting in SETTINGS), Decimal(0)) / 5
        for model in TABLE_1
        if model not in PROPRIETARY
    }
    return sorted(found.items(), key=lambda item: -item[1])


def off_by(changes: list[tuple[Decimal, Decimal]]) -> Decimal:
    """Return the largest distance of printed changes from the differences of printed numbers."""
    return max(abs(printed - computed) for printed, computed in changes)


def changes_1(which: int) -> list[tuple[Decimal, Decimal]]:
    value = (accuracy, trajectory)[which]
    return [
        (numbers(changes)[which], value(model, "Ours") - value(model, "Single-Turn"))
        for model, (_, changes) in TABLE_1.items()
    ]


def changes_17() -> list[tuple[Decimal, Decimal]]:
    return [
        (Decimal(change), of_setting(row, "Ours") - of_setting(row, "Single-Turn"))
        for row, change in TABLE_17.values()
    ]


def by_setting(setting: str) -> dict[str, float]:
    return {tag: float(of_setting(row, setting)) for tag, row in TABLE_18.items()}


def rank_in(tag: str, setting: str) -> int:
    rates = by_setting(setting)
    return 1 + sum(rate > rates[tag] for rate in rates.values())


def pooled_coverage(setting: str) -> Decimal:
    total = sum(n for n, _ in TABLE_19.values())
    return sum((n * of_setting(row, setting) for n, row in TABLE_19.values()), Decimal(0)) / total


def mean_coverage(setting: str) -> Decimal:
    return sum((of_setting(row, setting) for row, _ in TABLE_17.values()), Decimal(0)) / len(
        TABLE_17
    )


def fact(what: str, printed: str, found: str, verdict: str = "") -> Fact:
    """Return a row of the page; without a verdict, whether the two are equal."""
    return what, printed, found, verdict or ("agrees" if printed == found else "differs")


def facts() -> tuple[Fact, ...]:
    """Return what was checked: number, as printed, as recomputed, verdict."""
    return (*_facts_of_scores(), *_facts_of_labels(), *_facts_of_inference())


def _facts_of_scores() -> list[Fact]:
    efficiency = ((51, 15.16, "3.36"), (56, 10.60, "5.28"), (58, 15.44, "3.76"))
    rounded = "agrees up to rounding"
    largest = "changes, largest distance from the difference of printed numbers"
    return [
        *(
            fact(
                f"Table 3: {right / 100:.2f} on {tokens:.2f} million tokens, % per million",
                printed,
                f"{token_efficiency(right / 100, tokens * 1e6):.2f}",
            )
            for right, tokens, printed in efficiency
        ),
        fact(f"Table 1, accuracy: 20 {largest}", "0", f"{off_by(changes_1(0)).normalize()}"),
        fact(f"Table 1, trajectory score: 20 {largest}", "0", f"{off_by(changes_1(1))}", rounded),
        fact(f"Table 17, MC-Rate: 20 {largest}", "0", f"{off_by(changes_17())}", rounded),
        fact(
            f"Tables 23 and 24 against Table 1: 18 {largest}", "0",
            f"{off_by(changes_23_24()).normalize()}",
        ),
        fact(
            "H.1: models that lose accuracy at 50 frames", "4 of 5",
            f"{sum(Decimal(row[1]) < 0 for row in TABLE_23.values())} of 5",
        ),
    ]  # fmt: skip


def _facts_of_labels() -> list[Fact]:
    rates = {tag: [float(rate) for rate in numbers(row)] for tag, row in TABLE_18.items()}
    ordered = in_order_of_frequency(dict(reversed(rates.items())))
    in_place = sum(a == b for a, b in zip(ordered, TABLE_18, strict=True))
    ours = {kind: of_setting(row, "Ours") for kind, (_, row) in TABLE_19.items()}
    highest = sum(max(numbers(row)) == ours[kind] for kind, (_, row) in TABLE_19.items())
    lowest = sorted(ours, key=lambda kind: ours[kind])[:3]
    return [
        fact("Table 18: tags that stand where the mean of the five settings puts them", "21 of 21",
             f"{in_place} of 21"),
        *(
            fact(f"F.3: dominant tag of {setting}", tag, ", ".join(dominant_of(by_setting(setting))))
            for setting, tag in DOMINANT.items()
        ),
        fact(
            "F.3: rank of ocr_error among the tags of AVP and Ours", "among the largest",
            f"{rank_in('ocr_error', 'AVP')} and {rank_in('ocr_error', 'Ours')} of 21",
            "contradicts Table 18, unless perception tags alone are meant",
        ),
        fact("F.3: milestone types that Ours covers best", "10 of 10", f"{highest} of 10",
             "contradicts Table 19: arithmetic is 0.73 for Ours, 0.81 for AVP"),
        fact("F.3: milestone types that Ours covers least",
             "counting, verification, exclusion_check", ", ".join(lowest)),
        fact(
            "Mean of Table 17 over backbones, Ours, against Table 19 weighted by milestones",
            f"{mean_coverage('Ours'):.2f}", f"{pooled_coverage('Ours'):.2f}",
            "agrees, although one is a mean over questions and the other pooled over milestones",
        ),
    ]  # fmt: skip


def _facts_of_inference() -> list[Fact]:
    first, three = (sorted(column) for column in zip(*TABLE_22.values(), strict=True))
    ranked = [model for model, _ in mean_accuracies()[:4]]
    return [
        fact("G.1: intervals of Table 20 on one side of zero", "8 of 12",
             f"{len(one_sided())} of 12"),
        fact(
            "Table 20: estimates that are differences of Table 1", "12 of 12",
            f"{12 - len(contradicted())} of 12",
            "contradicts Table 1: all of Qwen3.5-27B, and STAR and AVP of Gemma-4-31B",
        ),
        *(
            fact(
                f"Table 21: settings resolved, {setting}", f"{resolved} of 16",
                f"at most {resolvable(setting)}, by the differences of Table 1",
                "possible" if resolved <= resolvable(setting) else "impossible",
            )
            for setting, resolved in TABLE_21.items()
        ),
        fact("Table 22: first four models, by the means of Table 1", ", ".join(TABLE_22),
             ", ".join(ranked)),
        fact("G.2: how often the first four are in the top three, %", "61.7 to 97.1",
             f"{three[0]:.1f} to {three[-1]:.1f} in Table 22", "contradicts Table 22"),
        fact("G.2: how often any other is in the top three, %", "at most 3.3",
             f"at most {TABLE_22_OTHERS[1]:.1f} in Table 22", "contradicts Table 22"),
        fact("Table 22: P(rank 1) of all models together, %", "100",
             f"{sum(first):.1f}, and at most {TABLE_22_OTHERS[0]:.1f} for each other", "possible"),
    ]  # fmt: skip


def changes_23_24() -> list[tuple[Decimal, Decimal]]:
    found: list[tuple[Decimal, Decimal]] = []
    rows = [(model, "Single-Turn", row) for model, row in TABLE_23.items()]
    rows += [(model, setting, row) for (model, setting), row in TABLE_24.items()]
    for model, setting, row in rows:
        right, right_change, score, score_change = map(Decimal, row)
        found.append((right_change, right - accuracy(model, setting)))
        found.append((score_change, score - trajectory(model, setting)))
    return found


def page_part() -> str:
    """Return the table of the page."""
    rows = [f"| {' | '.join(fact)} |" for fact in facts()]
    return "\n".join([
        "| number | published | recomputed | verdict |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
    ])


def test_eight_of_the_twelve_intervals_lie_on_one_side_of_zero() -> None:
    assert len(TABLE_20) == 12
    assert one_sided() == [
        ("Qwen3.5-27B", "STAR"),
        ("Qwen3.5-27B", "DVD"),
        ("Qwen3.5-27B", "AVP"),
        ("Qwen3.5-27B", "Ours"),
        ("Gemma-4-31B", "STAR"),
        ("Gemma-4-31B", "Ours"),
        ("Gemini 2.5 Pro", "STAR"),
        ("Gemini 2.5 Pro", "DVD"),
    ]


def test_every_estimate_lies_inside_its_interval() -> None:
    for estimate, low, high in TABLE_20.values():
        assert Decimal(low) < Decimal(estimate) < Decimal(high)


def test_six_estimates_of_table_20_are_not_the_differences_of_table_1() -> None:
    assert contradicted() == [
        ("Qwen3.5-27B", "STAR"),
        ("Qwen3.5-27B", "DVD"),
        ("Qwen3.5-27B", "AVP"),
        ("Qwen3.5-27B", "Ours"),
        ("Gemma-4-31B", "STAR"),
        ("Gemma-4-31B", "AVP"),
    ]


def test_thinking_variants_explain_one_of_the_estimates_that_differ() -> None:
    explained = [
        (model, setting)
        for model, setting in contradicted()
        if accuracy(f"{model} +Think", setting) - accuracy(f"{model} +Think", "Single-Turn")
        == Decimal(TABLE_20[model, setting][0])
    ]

    assert explained == [("Qwen3.5-27B", "STAR")]


def test_printed_changes_are_the_differences_of_printed_numbers() -> None:
    assert len(TABLE_1) == len(TABLE_17) == 20
    assert off_by(changes_1(0)) == 0
    assert off_by(changes_1(1)) == Decimal("0.01")
    assert off_by(changes_17()) == Decimal("0.01")
    assert off_by(changes_23_24()) == 0


def test_tags_are_ordered_by_the_mean_of_the_settings() -> None:
    rates = {tag: [float(rate) for rate in numbers(row)] for tag, row in TABLE_18.items()}

    assert in_order_of_frequency(dict(reversed(rates.items()))) == tuple(TABLE_18)


@pytest.mark.parametrize(
    ("setting", "rate"),
    [("Single-Turn", 47.1), ("STAR", 70.2), ("DVD", 43.1), ("AVP", 31.9), ("Ours", 29.3)],
)
def test_the_dominant_tags_of_the_text_are_those_of_the_table(setting: str, rate: float) -> None:
    assert dominant_of(by_setting(setting)) == (DOMINANT[setting],)
    assert by_setting(setting)[DOMINANT[setting]] == rate


def test_the_text_calls_ocr_errors_among_the_largest_although_five_tags_are_larger() -> None:
    assert rank_in("ocr_error", "Ours") == 6
    assert rank_in("ocr_error", "AVP") == 6


def test_coverage_is_lowest_where_the_text_says_and_not_highest_everywhere() -> None:
    ours = {kind: of_setting(row, "Ours") for kind, (_, row) in TABLE_19.items()}

    assert sorted(ours, key=lambda kind: ours[kind])[:3] == [
        "counting",
        "verification",
        "exclusion_check",
    ]
    assert [
        kind for kind, (_, row) in TABLE_19.items() if max(numbers(row)) > numbers(row)[-1]
    ] == ["arithmetic"]


def test_types_weighted_by_their_milestones_come_near_the_mean_rates() -> None:
    assert sum(n for n, _ in TABLE_19.values()) == 456
    for setting in SETTINGS:
        assert abs(pooled_coverage(setting) - mean_coverage(setting)) < Decimal("0.03")


def test_the_text_on_ranks_is_not_that_of_its_table() -> None:
    three = [percent for _, percent in TABLE_22.values()]

    assert (min(three), max(three)) != (61.7, 97.1)
    assert [model for model, _ in mean_accuracies()[:4]] == list(TABLE_22)
    # all draws have three places, and ten others cannot hold more of them than they are said to
    assert 300 - sum(three) <= 10 * TABLE_22_OTHERS[1]


def test_resolved_settings_are_no_more_than_the_differences_allow() -> None:
    assert {setting: resolvable(setting) for setting in TABLE_21} == {
        "Ours": 16,
        "AVP": 16,
        "DVD": 13,
        "STAR": 14,
    }
    for setting, resolved in TABLE_21.items():
        assert resolved <= resolvable(setting)


def test_the_page_shows_what_was_checked() -> None:
    assert page_part() in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    print(page_part(), end="")
