"""Waiting for something to become true, in bounds."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 120.0
"""How long a client, or what is behind a hook, may take on a busy machine."""


def wait_until(true: Callable[[], bool], told: Callable[[], str], seconds: float = SECONDS) -> None:
    """Look again and again; fail with what is told then when it is still not so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"after {seconds:.0f} s still not so: {told()}"
        time.sleep(0.02)
