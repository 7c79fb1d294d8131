"""The wheel works outside the checkout.

Nothing here needs the network: hatchling builds in this environment, and the clean environment sees our dependencies
through a `.pth` line that names this environment's site-packages.  That line comes after the wheel's own folder on the
path, and the wheel is installed for real, so `crucible` can only come from the wheel.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts" / "claude-code"
_SOURCES = ["crucible", "templates", "pyproject.toml", "README.md", "LICENSE"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is written into the checkout and two workers never meet."""
    source = tmp_path_factory.mktemp("source")
    for name in _SOURCES:
        here = ROOT / name
        if here.is_dir():
            shutil.copytree(here, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(here, source / name)
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(source / "dist"),
        str(source),
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next((source / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment with the wheel; the folder of its programs."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=False)
    scheme = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", "venv", scheme))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    programs = Path(sysconfig.get_path("scripts", "venv", scheme))
    python = programs / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    done = subprocess.run(
        [*pip, "--no-deps", "--no-index", "--ignore-installed", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return programs


def _run(installed: Path, cwd: Path, *args: str | Path) -> str:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "CRUCIBLE_VAULT"}}
    env |= {"HOME": str(cwd), "USERPROFILE": str(cwd)}
    done = subprocess.run([*map(str, args)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_templates_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for template in (ROOT / "templates").rglob("*"):
        if template.is_file():
            assert f"crucible/_templates/{template.relative_to(ROOT / 'templates').as_posix()}" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert not any(name.startswith(("tests", "templates/")) for name in names)


def test_the_installed_package_is_the_wheels_own_and_finds_its_templates(installed: Path, tmp_path: Path) -> None:
    ask = "import crucible.core.templates as t; print(t.__file__); print(*sorted(p.name for p in t.template_folder().iterdir()))"
    file, names = _run(installed, tmp_path, installed / "python", "-c", ask).splitlines()
    assert Path(file).is_relative_to(installed.parent)
    assert names.split() == sorted(p.name for p in (ROOT / "templates").iterdir())


def test_the_installed_command_does_the_main_job(installed: Path, tmp_path: Path) -> None:
    cru = installed / "cru"
    assert _run(installed, tmp_path, cru, "--version").startswith("cru ")
    _run(installed, tmp_path, cru, "init", "notes")
    _run(installed, tmp_path, cru, "--vault", "notes", "import", "claude-code", TRANSCRIPTS)
    rows = json.loads(_run(installed, tmp_path, cru, "--vault", "notes", "session", "list", "--format", "json"))[
        "sessions"
    ]
    assert rows
    assert "user" in _run(installed, tmp_path, cru, "--vault", "notes", "session", "show", rows[0]["id"])
