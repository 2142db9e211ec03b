from __future__ import annotations

import time

import pytest

from taketwo.media.subtitles import Cue, cues_of

SRT = b"1\r\n00:00:01,000 --> 00:00:02,500\r\nHello there.\r\n\r\n2\r\n00:01:00,250 --> 01:00:00,000\r\nTwo\r\nlines\r\n"


def cue(start_s: float, end_s: float, text: str) -> Cue:
    return Cue(start_s=start_s, end_s=end_s, text=text)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n", b"\r"])
def test_srt_is_read_with_any_mark_and_line_end(mark: bytes, line_end: bytes) -> None:
    assert cues_of(mark + SRT.replace(b"\r\n", line_end)) == (
        cue(1.0, 2.5, "Hello there."),
        cue(60.25, 3600.0, "Two lines"),
    )


def test_vtt_needs_no_hours_and_may_have_names_settings_notes_and_styles() -> None:
    text = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE a remark with --> an arrow

intro
00:01.000 --> 00:02.000 align:start position:0%
<v Anna><i>Hello</i> <c.yellow>there</c> &amp; you

01:00:00.5 --> 01:00:01
<00:00:01.500>karaoke
"""
    assert cues_of(text.encode()) == (
        cue(1.0, 2.0, "Hello there & you"),
        cue(3600.5, 3601.0, "karaoke"),
    )


def test_override_codes_and_font_tags_are_stripped_but_not_smaller_than() -> None:
    data = b'1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<font color="#fff">a < b</font>\n'

    assert cues_of(data) == (cue(1.0, 2.0, "a < b"),)


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n\n  \n", b"WEBVTT\n\nNOTE silence\n"])
def test_a_file_that_says_nothing_has_no_cues(data: bytes) -> None:
    assert cues_of(data) == ()


def test_empty_and_backward_cues_are_left_out() -> None:
    data = (
        b"1\n00:00:01,000 --> 00:00:02,000\n\n2\n00:00:03,000 --> 00:00:04,000\n<i></i>\n\n"
        b"3\n00:00:09,000 --> 00:00:05,000\nbackward\n\n4\n00:00:06,000 --> 00:00:07,000\nkept\n"
    )

    assert cues_of(data) == (cue(6.0, 7.0, "kept"),)


def test_cues_without_a_blank_line_between_are_told_apart_by_their_timing() -> None:
    data = b"1\n00:00:01,000 --> 00:00:02,000\none\n2\n00:00:02,000 --> 00:00:03,000\ntwo\n"

    assert cues_of(data) == (cue(1.0, 2.0, "one"), cue(2.0, 3.0, "two"))


def test_cues_come_in_order_of_time() -> None:
    data = b"00:05.000 --> 00:06.000\nlate\n\n00:01.000 --> 00:02.000\nearly\n"

    assert [c.text for c in cues_of(data)] == ["early", "late"]


def test_other_encodings_are_read() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\ncafé\n"

    assert cues_of(text.encode("utf-16")) == (cue(1.0, 2.0, "café"),)
    assert cues_of(text.encode("cp1252")) == (cue(1.0, 2.0, "café"),)


@pytest.mark.parametrize(
    "data", [b"just some text\n", b"\x00\x01\x02binary\xff", b"1\n00:00:01 -> 2"]
)
def test_text_without_timing_is_no_subtitles(data: bytes) -> None:
    with pytest.raises(ValueError, match="it has text but no line of timing"):
        cues_of(data)


def test_hostile_files_are_bounded_in_size_and_time() -> None:
    started = time.process_time()

    (long,) = cues_of(b"00:01.000 --> 00:02.000\n" + b"<" * 1_000_000 + b"x" * 1_000_000)
    assert len(long.text) == 2000
    with pytest.raises(ValueError, match="no line of timing"):
        cues_of((b"0" * 100_000 + b" --> ") * 10)
    with pytest.raises(ValueError, match="more than 100000 cues"):
        cues_of(b"00:01.000 --> 00:02.000\nx\n\n" * 100_001)
    assert time.process_time() - started < 10
