"""Makes mutmut's verdicts right and its many runs of pytest cheap; loaded by `[tool.mutmut]` only.

mutmut names the tests of a mutant on pytest's command line.  Ids of hostile parameters do not survive that, and the
run that fails on them would count as a killed mutant.  So all cases of one test function share the function's id.
"""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item._nodeid = item.nodeid.partition("[")[0]  # type: ignore[attr-defined]
