"""`python -m crucible` is `cru`."""

from __future__ import annotations

from crucible.cli.main import run

__all__: list[str] = []

if __name__ == "__main__":
    run()
