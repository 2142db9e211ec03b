"""A disk on which nothing can be written, for whoever runs the tests."""

from __future__ import annotations

import resource
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["nothing_can_be_written"]


@contextmanager
def nothing_can_be_written() -> Generator[None]:
    """Let this process write no byte to any file; the process is given a limit of 0 bytes a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
