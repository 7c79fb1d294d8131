"""Makes mutmut's verdicts right and its many runs of pytest cheap; loaded by `[tool.mutmut]` only.

mutmut names the tests of a mutant on pytest's command line.  Ids of hostile parameters do not survive that, and the
run that fails on them would count as a killed mutant.  So all cases of one test function share the function's id.

So would a run that trips over another one's temporary folders: pytest tidies up those of earlier runs, all of them at
once.  So every run has a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

_whole_id = pytest.Item.nodeid.fget  # type: ignore[attr-defined]


def _id_of_the_function(item: pytest.Item) -> str:
    return str(_whole_id(item)).partition("[")[0]


pytest.Item.nodeid = property(_id_of_the_function)  # type: ignore[assignment, method-assign]

_folder = pytest.StashKey[str]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_folder] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp(prefix="mutant-")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[_folder], ignore_errors=True)
