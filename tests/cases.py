"""One test over many rows, and properties with fewer examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from hypothesis import settings

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call the test with each case, as `pytest.mark.parametrize` does, and name those that fail.

    An item of pytest's costs more than most of our cases, so what states one fact is one item.  The cases share the
    test's fixtures.
    """
    keys = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    found = [case if len(keys) > 1 else (case,) for case in cases]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def each(**fixtures: Any) -> None:
            failed = []
            for number, case in enumerate(found):
                try:
                    test(**fixtures, **dict(zip(keys, case, strict=True)))
                except Exception as error:  # noqa: BLE001  the other cases are looked at, too
                    error.add_note(f"in case {number}: {dict(zip(keys, case, strict=True))!r:.400}")
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(found)} cases", failed)

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        each.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # what pytest asks for
        return each

    return decorate


def fewer(costs: int) -> settings:
    """Settings of a property whose examples are costly: it tries fewer, by this factor."""
    return settings(max_examples=max(settings().max_examples // costs, 1))
