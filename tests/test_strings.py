"""The list of texts that users and agents see."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT


def test_the_list_of_texts_is_current() -> None:
    """`python docs/strings.py` renews it, so that a review shows every change of wording."""
    done = subprocess.run(
        [sys.executable, "docs/strings.py", "--check"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
