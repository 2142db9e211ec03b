"""Property tests without a deadline: how long an example takes says nothing on a shared machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
