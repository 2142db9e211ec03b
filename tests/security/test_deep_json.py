"""JSON of a model that no parser can follow is a malformed reply, never a crash."""

from __future__ import annotations

import json

import httpx
import pytest

from taketwo.models.native_video import ReplyError, reply_record
from taketwo.models.video_lines import words_in_json
from taketwo.tools.role_model import ProviderReplyError
from taketwo.tools.speech import segments_in

DEEP = '{"segments": ' + "[" * 100_000 + "]" * 100_000 + "}"
HUGE = '{"segments": [{"start": 1%s, "end": 2, "text": "x"}]}' % ("0" * 400)


@pytest.mark.parametrize("reply", [DEEP, HUGE, "```json\n" * 100_000, "```{" * 100_000])
def test_a_transcript_that_is_none_is_a_malformed_reply(reply: str) -> None:
    with pytest.raises(ProviderReplyError, match="malformed"):
        segments_in(reply, 0.0, 10.0, "m")


def test_a_fenced_transcript_is_read_and_its_lone_surrogates_are_replaced() -> None:
    record = {"segments": [{"start": 1, "end": 2, "text": "forty \ud800 two"}]}

    (segment,) = segments_in(f"Here:\n```json\n{json.dumps(record)}\n```", 5.0, 20.0, "m")

    assert (segment.start_s, segment.end_s, segment.text) == (6.0, 7.0, "forty \ufffd two")


@pytest.mark.parametrize("text", [DEEP, HUGE])
def test_an_offline_model_takes_such_a_transcript_for_none(text: str) -> None:
    assert words_in_json(text) == ()


def test_a_server_that_replies_so_made_a_faulty_reply() -> None:
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(200, text="[" * 100_000, request=request)

    with pytest.raises(ReplyError, match="a body that is no JSON object"):
        reply_record(response, "vllm")
