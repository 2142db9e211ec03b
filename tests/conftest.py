"""Property tests without a deadline, and Ctrl-C as at a terminal.

How long an example takes says nothing on a shared machine. A shell that starts the tests in the
background has Ctrl-C ignored by all that it starts; the tests that press it need it heard.
"""

from __future__ import annotations

import signal

from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
