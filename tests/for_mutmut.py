"""Makes mutmut's verdicts right and its many runs of pytest cheap; loaded by `[tool.mutmut]` only.

mutmut names the tests of a mutant on pytest's command line.  Ids of hostile parameters do not survive that, and the
run that fails on them would count as a killed mutant.  So all cases of one test function share the function's id.
"""

from __future__ import annotations

import pytest

_whole_id = pytest.Item.nodeid.fget  # type: ignore[attr-defined]


def _id_of_the_function(item: pytest.Item) -> str:
    return str(_whole_id(item)).partition("[")[0]


pytest.Item.nodeid = property(_id_of_the_function)  # type: ignore[assignment, method-assign]
