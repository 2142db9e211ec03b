from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from tests.outcomes.imports.files import cells, read, write_lines, write_text

from taketwo.errors import InvalidResults, RequestError, UnknownName

HEADER = "system,execution,item_id,score"
RANDOMNESS = Path(__file__).parents[2] / "data" / "on_randomness.verdicts.csv.gz"


def test_the_solved_counts_of_on_randomness_come_out() -> None:
    found = read(
        RANDOMNESS,
        system="model",
        execution="draw_id",
        question="item_id",
        score="verdict",
        cluster="item_id:^(.*?)__",
    )

    solved = {
        (system, number): rows["value"].sum()
        for system in found.reading.systems
        for name, number in ((e.name, e.number) for e in found.reading.executions_of(system))
        for rows in [found.rows.filter(pl.col("system") == system, pl.col("execution") == name)]
    }

    def differences(name: str) -> list[float]:
        return [
            solved[f"nano-agent-{name}", k] - solved[f"nano-agent-{name}__temp0", k]
            for k in range(1, 11)
        ]

    assert differences("mistral_devstral-2512") == [4, -8, -8, -6, -7, -11, 5, 9, -11, 19]
    deep = differences("agentica-org_DeepSWE-Preview")
    assert (min(deep), max(deep)) == (47, 65)
    assert found.reading.n_clusters == 12
    assert found.reading.alignment == "arbitrary"
    assert (found.reading.n_questions, found.reading.n_common) == (500, 500)
    assert found.rows.height == 30_000


def test_formats_of_one_table_are_read_alike(tmp_path: Path) -> None:
    frame = pl.DataFrame({
        "system": ["a", "a", "b", "b"],
        "execution": [1, 1, 1, 1],
        "item_id": ["007", "8", "007", "8"],
        "score": [1, 0, None, 1],
    })
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    frame.write_csv(tmp_path / "t.tsv", separator="\t")
    frame.write_parquet(tmp_path / "t.parquet")
    write_lines(tmp_path / "t.jsonl", frame.to_dicts())
    expected = {
        ("a", "K1", "007"): (1.0, "scored"),
        ("a", "K1", "8"): (0.0, "scored"),
        ("b", "K1", "007"): (None, "not_judged"),
        ("b", "K1", "8"): (1.0, "scored"),
    }

    for name in ("t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.jsonl"):
        assert cells(read(tmp_path / name)) == expected, name


def test_words_for_right_and_wrong_are_numbers_and_other_words_are_refused(tmp_path: Path) -> None:
    words = ["true", "FALSE", "C", "I", "pass", "fail", "0.5", ""]
    table = write_text(
        tmp_path / "t.csv", HEADER, *(f"a,1,q{i},{word}" for i, word in enumerate(words))
    )
    values = [value for value, _ in cells(read(table)).values()]
    assert values == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.5, None]

    write_text(table, HEADER, "a,1,q1,1", "a,1,q2,mostly right")
    with pytest.raises(InvalidResults) as caught:
        read(table)
    assert str(caught.value).startswith(
        f"{table}, row 2, column 'score': score 'mostly right' is neither a number nor one of"
    )


def test_an_error_row_is_a_status_and_its_score_is_told(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv",
        f"{HEADER},status",
        "a,1,q1,1,ok",
        "a,1,q2,0,error",
        "a,1,q3,0,limit",
        "a,1,q4,,rate limit",
    )

    found = read(table)

    assert cells(found) == {
        ("a", "K1", "q1"): (1.0, "scored"),
        ("a", "K1", "q2"): (None, "agent_error"),
        ("a", "K1", "q3"): (0.0, "limit"),
        ("a", "K1", "q4"): (None, "provider_error"),
    }
    (aside,) = found.reading.asides
    assert (aside.count, aside.first) == (1, f"{table}, row 2: error with 0")
    assert found.reading.statuses["a"] == {
        "scored": 1, "limit": 1, "agent_error": 1, "provider_error": 1,
    }  # fmt: skip


def test_an_unknown_status_is_refused_with_its_place(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", f"{HEADER},status", "a,1,q1,1,ok", "a,1,q2,0,weird")
    with pytest.raises(
        InvalidResults, match=r"row 2, column 'status': status 'weird' is not known"
    ):
        read(table)


def test_nan_is_not_judged_and_an_infinite_value_is_refused(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q1,nan", "a,1,q2,1")
    found = read(table)
    assert cells(found)["a", "K1", "q1"] == (None, "not_judged")
    assert found.reading.asides[0].what == "values that are not a number (NaN)"
    assert found.reading.asides[0].first == f"{table}, row 1"

    write_text(table, HEADER, "a,1,q1,inf", "a,1,q2,1")
    with pytest.raises(InvalidResults, match=r"1 values are infinite, first score = inf .*row 1"):
        read(table)


def test_rows_that_repeat_are_one_and_rows_that_contradict_name_both_places(
    tmp_path: Path,
) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q1,1", "a,1,q2,0", "a,1,q1,1")
    found = read(table)
    assert cells(found) == {("a", "K1", "q1"): (1.0, "scored"), ("a", "K1", "q2"): (0.0, "scored")}
    assert found.reading.asides[0].first == f"{table}, row 3 repeats {table}, row 1"

    write_text(table, HEADER, "a,1,q1,1", "a,1,q2,0", "a,1,q1,0")
    with pytest.raises(InvalidResults) as caught:
        read(table)
    assert "1 cells are recorded twice with different results" in str(caught.value)
    assert f"{table}, row 1: 1, scored" in str(caught.value)
    assert f"{table}, row 3: 0, scored" in str(caught.value)


def test_a_file_found_twice_is_one_run(tmp_path: Path) -> None:
    lines = (HEADER, "a,1,q1,1", "a,1,q2,0")
    first, second = (write_text(tmp_path / name, *lines) for name in ("x.csv", "y.csv"))

    found = read(first, second)

    assert found.rows.height == 2
    assert len(found.reading.executions) == 1
    assert found.reading.asides[0].first == f"{second} repeats {first}"
    assert "a run found twice is one run" in found.reading.text()


def test_a_question_of_two_clusters_is_refused_with_both_places(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", f"{HEADER},cluster", "a,1,q1,1,v1", "b,1,q1,1,v2")
    with pytest.raises(InvalidResults) as caught:
        read(table)
    assert f"first 'q1': 'v1' ({table}, row 1) and 'v2' ({table}, row 2)" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "the file is empty (0 bytes)"),
        (b"system,execution,item_id,score\n", "no rows, only a header with 4 columns"),
        (b"system,system,item_id,score\na,b,c,1\n", "column 'system' occurs twice in the header"),
        (b"\xff\xfea\n", "not UTF-8 text"),
        (b"system,execution,item_id,score\na,1,q1,1\na,,q2,0\n", "row 2: no execution in column"),
        (
            b"system,execution,item_id,score\na,1,q1,\n",
            "none of 1 rows carries a score (1 not_judged)",
        ),
    ],
)
def test_files_that_hold_nothing_usable_say_so(tmp_path: Path, content: bytes, told: str) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(content)
    with pytest.raises(InvalidResults) as caught:
        read(table)
    assert told in str(caught.value)


def test_a_compressed_file_that_was_cut_off_says_so(tmp_path: Path) -> None:
    table = tmp_path / "t.csv.gz"
    table.write_bytes(RANDOMNESS.read_bytes()[:5000])
    with pytest.raises(InvalidResults, match="damaged or cut off"):
        read(table)


def test_a_column_that_is_not_there_gets_near_names(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q1,1")
    with pytest.raises(
        UnknownName, match="unknown column for --score 'scor': did you mean 'score'"
    ):
        read(table, score="scor")
    with pytest.raises(RequestError, match="is no regular expression"):
        read(table, cluster="item_id:(")
    with pytest.raises(
        InvalidResults, match=r"row 1: --cluster 'item_id:\^\(v\)' does not match 'q1'"
    ):
        read(table, cluster="item_id:^(v)")


def test_two_columns_that_may_hold_the_score_have_to_be_named(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", f"{HEADER},verdict", "a,1,q1,1,0")
    with pytest.raises(RequestError, match="may hold the score: score, verdict; say which with"):
        read(table)
    assert cells(read(table, score="verdict"))["a", "K1", "q1"] == (0.0, "scored")


def test_without_a_system_column_each_file_is_a_system(tmp_path: Path) -> None:
    """The shape of flakeval: item_id, run, score."""
    for name, score in (("one", 1), ("two", 0)):
        write_text(tmp_path / f"{name}.csv", "item_id,run,score", f"q,1,{score}", "q,2,1")

    found = read(tmp_path)

    assert cells(found) == {
        ("one", "K1", "q"): (1.0, "scored"),
        ("one", "K2", "q"): (1.0, "scored"),
        ("two", "K1", "q"): (0.0, "scored"),
        ("two", "K2", "q"): (1.0, "scored"),
    }


def test_executions_are_numbered_as_people_count(tmp_path: Path) -> None:
    names = ["run10", "run9", "run1"]
    table = write_text(tmp_path / "t.csv", HEADER, *(f"a,{name},q1,1" for name in names))

    found = read(table)

    assert [(e.number, e.name) for e in found.reading.executions] == [
        (1, "run1"), (2, "run9"), (3, "run10"),
    ]  # fmt: skip
    assert "K1 = run1, K2 = run9, K3 = run10" in found.reading.text()


def test_blocked_executions_keep_their_number_where_a_system_lacks_one(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q,1", "a,2,q,1", "b,2,q,1")

    assert ("b", "K2", "q") in cells(read(table, alignment="blocked"))
    assert ("b", "K1", "q") in cells(read(table))


def test_factors_come_from_columns_or_from_the_systems_names(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv",
        "model,framework,execution,item_id,score",
        "m1,react,1,q,1",
        "m2,react,1,q,0",
    )
    by_column = read(table, system="model", factors=("framework",))
    assert by_column.factors == {"m1": {"framework": "react"}, "m2": {"framework": "react"}}

    named = write_text(tmp_path / "n.csv", HEADER, "m1/react,1,q,1", "m2/star,1,q,1")
    pattern = "system:(?P<model>.*)/(?P<framework>.*)"
    assert read(named, factors=(pattern,)).factors["m2/star"] == {
        "model": "m2",
        "framework": "star",
    }
    with pytest.raises(
        InvalidResults, match="system 'react' has more than one level of factor 'mo"
    ):
        read(table, system="framework", factors=("model",))


def test_metrics_not_asked_for_are_counted(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv", f"{HEADER},metric", "a,1,q,1,accuracy", "a,1,q,12.5,style"
    )

    found = read(table, metrics=("accuracy",))

    assert found.reading.metrics == ("accuracy",)
    assert found.reading.asides[0].what == "values of 'style'"
    with pytest.raises(UnknownName, match="unknown metric 'acc'"):
        read(table, metrics=("acc",))


def test_a_question_of_two_subgroups_is_refused_only_where_they_are_asked_for(
    tmp_path: Path,
) -> None:
    table = write_text(tmp_path / "t.csv", f"{HEADER},kind", "a,1,q1,1,x", "b,1,q1,1,y")
    assert len(cells(read(table))) == 2
    with pytest.raises(
        InvalidResults, match="1 questions belong to more than one set of subgroups"
    ):
        read(table, by=("kind",))
