"""Fixtures for all end-to-end tests: the real clients, or a reason to skip."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.clients.install import Unavailable, client_program

Programs = Callable[[str], Path]


@cache
def _program(client: str) -> Path | Unavailable:
    try:
        return client_program(client)
    except Unavailable as reason:
        return reason


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The program of a client; skips, and says why, where it cannot be had."""

    def program(client: str) -> Path:
        found = _program(client)
        if isinstance(found, Unavailable):
            pytest.skip(f"the real clients are not here: {found}")
        return found

    return program
