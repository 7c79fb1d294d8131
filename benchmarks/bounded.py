"""A pytest plugin for the soak: each property test ends after so many seconds, whatever its profile still wants.

The soak profile asks for 20,000 examples of every property.  Some are drawn in microseconds and some in tens of
milliseconds, so a bound in time gives each of them its share: `SOAK_SECONDS`, 10 a test when it is not set.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import pytest
from hypothesis.errors import FlakyStrategyDefinition

SECONDS = float(os.environ.get("SOAK_SECONDS") or 10)


class _TimeUpError(BaseException):
    """Ends a property test from within; hypothesis takes an `Exception` for a failure and lets this one through."""


@dataclass(slots=True)
class _Clock:
    """One property's time; `over` when it stopped the test, which it never does once a failure was found."""

    end: float = 0.0
    over: bool = False
    failed: bool = False


_CLOCKS: dict[int, _Clock] = {}
"""By the property: one with parameters is several tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every property test its clock."""
    for item in items:
        test = getattr(item, "obj", None)
        handle = getattr(test, "hypothesis", None)
        if isinstance(item, pytest.Function) and test is not None and handle is not None:
            clock = _CLOCKS.get(id(handle))
            if clock is None:
                clock = _CLOCKS[id(handle)] = _Clock()
                handle.inner_test = _bounded(handle.inner_test, clock)
            item.obj = _ending(test, clock)


def _bounded(test: Callable[..., Any], clock: _Clock) -> Callable[..., Any]:
    @wraps(test)
    def once(*args: Any, **kwargs: Any) -> Any:
        if time.monotonic() > clock.end and not clock.failed:
            clock.over = True
            raise _TimeUpError
        try:
            return test(*args, **kwargs)
        except Exception:
            clock.failed = True  # it will be repeated and made smaller
            raise

    return once


def _ending(test: Callable[..., Any], clock: _Clock) -> Callable[..., Any]:
    """Time that is up is a test that passed."""

    @wraps(test)
    def whole(*args: Any, **kwargs: Any) -> Any:
        clock.end, clock.over, clock.failed = time.monotonic() + SECONDS, False, False
        try:
            return test(*args, **kwargs)
        except (
            _TimeUpError,
            FlakyStrategyDefinition,
        ):  # the latter when an example ended before all of it was drawn
            if not clock.over:
                raise
            return None

    return whole
