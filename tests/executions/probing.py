"""A probe of videos that takes any file for one, for tests that freeze plans."""

from __future__ import annotations

import hashlib
from pathlib import Path

from taketwo.media.video import VideoInfo


def probe(path: Path) -> VideoInfo:
    """Return the facts of a video of 8 s, with the hash of the file's bytes."""
    data = path.read_bytes()
    return VideoInfo(
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        duration_s=8.0,
        fps=25.0,
        width=64,
        height=48,
        rotation=0,
        codec="h264",
        container="mp4",
        frames=200,
        has_audio=False,
        audio_codec=None,
        problems=(),
    )
