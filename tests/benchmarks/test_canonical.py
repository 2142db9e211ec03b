from __future__ import annotations

import hashlib

import pytest

from taketwo.benchmarks.canonical import canonical_json, sha256_of, sha256_of_text


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": True}) == b'{"a":true,"b":[1,2.5,null]}'


def test_equal_records_have_equal_hashes_whatever_the_order_of_their_keys() -> None:
    assert sha256_of({"x": 1, "y": {"p": 2, "q": 3}}) == sha256_of({"y": {"q": 3, "p": 2}, "x": 1})


def test_text_outside_ascii_stays_utf_8_and_half_characters_do_not_fail() -> None:
    assert canonical_json("Zürich") == '"Zürich"'.encode()
    assert canonical_json("\ud800") == b'"\xed\xa0\x80"'


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"x": float("nan")})


def test_hash_of_a_text_is_the_hash_of_its_bytes() -> None:
    assert sha256_of_text("take two") == hashlib.sha256(b"take two").hexdigest()
