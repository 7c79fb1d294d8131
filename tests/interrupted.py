"""Runs of batches that end too early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crucible.core import batches


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A run within is interrupted when all results were used, and leaves them behind."""

    def interrupt(*_: object, **_more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(batches, "rmtree", interrupt)
        with pytest.raises(KeyboardInterrupt):
            yield
