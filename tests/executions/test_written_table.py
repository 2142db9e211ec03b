from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.unwritable import nothing_can_be_written

from taketwo.errors import HarnessError
from taketwo.executions.written_table import write_table

FRAME = pl.DataFrame({"name": ["a", None], "value": [0.5, float("nan")]})


def test_a_table_that_is_there_need_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_table(path, FRAME, form="taketwo.test/1")
    FRAME.write_parquet(path, compression="snappy", metadata={"format": "taketwo.test/1"})
    before = path.read_bytes()

    with nothing_can_be_written():
        write_table(path, FRAME, form="taketwo.test/1")

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("frame", "form"),
    [
        (FRAME.head(1), "taketwo.test/1"),
        (FRAME.with_columns(pl.col("value").cast(pl.Float32)), "taketwo.test/1"),
        (FRAME, "taketwo.test/2"),
    ],
)
def test_another_table_that_cannot_be_written_is_told(
    tmp_path: Path, frame: pl.DataFrame, form: str
) -> None:
    path = tmp_path / "table.parquet"
    write_table(path, FRAME, form="taketwo.test/1")

    with nothing_can_be_written(), pytest.raises(HarnessError, match="cannot be written"):
        write_table(path, frame, form=form)


def test_a_table_that_is_not_there_must_be_written(tmp_path: Path) -> None:
    with nothing_can_be_written(), pytest.raises(HarnessError, match="cannot be written"):
        write_table(tmp_path / "table.parquet", FRAME, form="taketwo.test/1")
