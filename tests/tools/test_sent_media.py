from __future__ import annotations

import numpy as np
from inspect_ai.model import ChatMessageUser
from tests.cells import grey_jpeg

from taketwo.tools.sent_media import frames_in, image_content, media_sha256
from taketwo.tools.speech import transcription_request


def test_a_recording_is_a_medium_and_no_frame() -> None:
    heard = transcription_request(np.zeros(1600, dtype=np.float32))
    seen = ChatMessageUser(content=list(image_content(1.0, grey_jpeg(1.0))))

    assert len(media_sha256([*heard, seen])) == 2
    assert frames_in(heard) == 0
    assert frames_in([*heard, seen]) == 1
