"""What every visible command prints, kept as golden files.

CRUCIBLE_GOLDEN=1 pytest tests/journeys/test_console.py writes them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from crucible.cli.command_table import COMMANDS, SECTIONS
from tests.cases import for_each
from tests.conftest import ROOT
from tests.journeys.console import CONSOLE, golden_name
from tests.paths import TESTS

GOLDEN = TESTS / "data" / "console"
VISIBLE = {name for section in SECTIONS if not section.hidden for name in section.commands}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="terminals differ")


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the commands print now, by golden file."""
    command = [sys.executable, "-m", "tests.journeys.console"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    shown: dict[str, str] = json.loads(done.stdout)
    if os.environ.get("CRUCIBLE_GOLDEN"):
        for path in GOLDEN.iterdir():
            path.unlink()
        for name, text in shown.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    return shown


@for_each("command", CONSOLE)
def test_a_command_prints_its_golden_file(printed: dict[str, str], command: str) -> None:
    name = golden_name(command)
    assert printed[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_visible_command_has_a_golden_file() -> None:
    commands = {"", *(name for name in COMMANDS if name.split()[0] in VISIBLE)}
    assert CONSOLE.keys() == commands, "add the command to tests/journeys/console.py"
    assert {path.name for path in GOLDEN.iterdir()} == {golden_name(name) for name in commands}
