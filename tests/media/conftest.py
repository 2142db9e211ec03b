"""Files that the tests of media share, made once a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.media.clips import CLIPS, write


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Path of every clip by file name."""
    folder = tmp_path_factory.mktemp("clips")
    return {clip.name: write(clip, folder) for clip in CLIPS}
