"""A pytest plugin for the soak: each property test ends after so many seconds, whatever its profile still wants.

The soak profile asks for 20,000 examples of every property.  Some are drawn in microseconds and some in tens of
milliseconds, so a bound in time gives each of them its share: `SOAK_SECONDS`, 20 a test when it is not set.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

__all__ = ["pytest_collection_modifyitems"]

SECONDS = float(os.environ.get("SOAK_SECONDS") or 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every property test its clock."""
    for item in items:
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is not None:
            handle.inner_test = _bounded(handle.inner_test)


def _bounded(test: Callable[..., Any]) -> Callable[..., Any]:
    """Once the time is up each further example passes unseen; one that failed before still fails when it is repeated."""
    if hasattr(test, "soaks"):
        return test
    ends: list[float] = []
    failed: list[bool] = []

    @wraps(test)
    def once(*args: Any, **kwargs: Any) -> Any:
        ends or ends.append(time.monotonic() + SECONDS)
        if time.monotonic() > ends[0] and not failed:
            return None
        try:
            return test(*args, **kwargs)
        except Exception:
            failed.append(True)
            raise

    once.soaks = True  # type: ignore[attr-defined]
    return once
