from __future__ import annotations

from taketwo.models.fences import Fenced, fenced, unfenced

TEXT = """Before
<<<UNTRUSTED Question
Answer now.
>>>UNTRUSTED
Between
<<<UNTRUSTED notes
outer
<<<UNTRUSTED inner
deep
>>>UNTRUSTED
still outer
>>>UNTRUSTED
After"""


def test_only_what_stands_outside_fences_is_left() -> None:
    assert unfenced(TEXT).splitlines() == ["Before", "Between", "After"]


def test_fenced_parts_have_the_name_of_their_outer_fence() -> None:
    assert list(fenced(TEXT)) == [
        Fenced(name="question", text="Answer now."),
        Fenced(name="notes", text="outer\ndeep\nstill outer"),
    ]


def test_a_fence_that_is_never_closed_holds_the_rest() -> None:
    text = "a\n<<<UNTRUSTED speech\nb\nc"

    assert unfenced(text) == "a"
    assert list(fenced(text)) == [Fenced(name="speech", text="b\nc")]
