from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.running import Cru

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="about systemd")


def test_a_service_is_shown_first_and_never_started(cru: Cru) -> None:
    shown = cru("install", "service", "--dry-run")
    assert "ExecStart=" in shown.stdout
    assert ".service:\n\n" in shown.stdout
    assert "would install in  " in shown.stdout
    assert not list(Path.home().rglob("*.service"))
    refused = cru("install", "service")
    assert refused.exit_code == 2
    assert "no terminal to ask on" in refused.stderr
    assert not list(Path.home().rglob("*.service"))
    written = cru("install", "service", "--yes")
    (path,) = Path.home().rglob("*.service")
    assert path.read_text() in written.stdout
    assert f"\n  systemctl --user enable --now {path.stem}\n" in written.stderr
    assert cru("install", "service").stdout == f"already in  {path}\n"
    removed = cru("install", "service", "--remove")
    assert removed.stdout == f"removed from  {path}\n"
    assert f"stop it: systemctl --user disable --now {path.stem}\n" in removed.stderr
    assert not path.exists()
    assert cru("install", "service", "--mcp").exit_code == 2
