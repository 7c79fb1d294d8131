"""The wheel, built from the source distribution, works in an empty environment without this repository beside it.

`make package` runs this: it builds both and downloads the dependencies.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts" / "claude-code"
MOST_MEGABYTES = 62

pytestmark = pytest.mark.package


def _succeed(*words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _succeed(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(packages: Path) -> Path:
    (found,) = packages.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def programs(wheel: Path, home: Path) -> Path:
    """The folder of programs of an environment with the wheel and its dependencies, and nothing else."""
    venv.create(home / "venv", with_pip=False)
    scheme = {"base": str(home / "venv"), "platbase": str(home / "venv")}
    found = Path(sysconfig.get_path("scripts", "venv", scheme))
    pip = [sys.executable, "-m", "pip", "--python", str(found / "python"), "--disable-pip-version-check"]
    _succeed(*pip, "install", wheel)
    _succeed(*pip, "check")
    return found


@pytest.fixture(scope="module")
def notes(programs: Path, home: Path) -> Path:
    """A vault with an imported transcript, made by the installed command."""
    shutil.copytree(TRANSCRIPTS, home / "logs")
    _run(programs, home, "init", "notes", "--default")
    _run(programs, home, "import", "claude-code", "logs")
    return home / "notes"


def _run(programs: Path, home: Path, *args: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CRU", "XDG"))}
    return _succeed(programs / "cru", *args, cwd=home, env=env | {"HOME": str(home), "USERPROFILE": str(home)})


def test_both_packages_are_valid_and_their_page_renders(packages: Path) -> None:
    _succeed(sys.executable, "-m", "twine", "check", "--strict", *packages.iterdir())


def test_the_wheel_holds_the_templates_the_types_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    templates = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    assert {f"crucible/_templates/{path.relative_to(ROOT / 'templates').as_posix()}" for path in templates} <= {*names}
    assert "crucible/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"crucible", "crucible_vault"}


def test_the_source_distribution_holds_what_contributors_need(packages: Path) -> None:
    (source,) = packages.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "hatch_build.py", "tests/conftest.py"} <= names
    assert not [name for name in names if name.startswith((".venv", ".cache", "build/"))]


def test_a_plain_install_is_small(programs: Path) -> None:
    size = sum(path.stat().st_size for path in programs.parent.rglob("*") if path.is_file() and not path.is_symlink())
    assert size / 1e6 <= MOST_MEGABYTES


def test_the_package_is_the_installed_one(programs: Path, home: Path) -> None:
    file = _succeed(programs / "python", "-c", "import crucible.api; print(crucible.api.__file__)", cwd=home)
    assert Path(file.strip()).is_relative_to(programs.parent)


def test_the_command_starts(programs: Path, home: Path) -> None:
    assert _run(programs, home, "--version").startswith("cru ")
    assert "session" in _run(programs, home, "--help")


def test_a_new_vault_has_its_obsidian_files(notes: Path) -> None:
    names = {path.relative_to(notes).as_posix() for path in notes.rglob("*")}
    assert {"Sessions.base", "Cases.base", "Knowledge.base", "Start here.md"} <= names
    assert [name for name in names if name.startswith(".obsidian/snippets/") and name.endswith(".css")]


def test_a_session_is_listed_shown_and_found(programs: Path, home: Path, notes: Path) -> None:
    rows = json.loads(_run(programs, home, "session", "list", "--json"))["sessions"]
    assert rows
    assert "user" in _run(programs, home, "session", "show", rows[0]["id"])
    assert "limiter" in _run(programs, home, "recall", "rate", "limiter")
    assert (notes / "sessions" / f"{rows[0]['id']}.md").exists()


@pytest.mark.usefixtures("notes")
def test_doctor_finds_nothing_broken(programs: Path, home: Path) -> None:
    assert "vault" in _run(programs, home, "doctor")


@pytest.mark.usefixtures("notes")
def test_the_server_names_the_extra_that_it_needs(programs: Path, home: Path, wheel: Path) -> None:
    done = subprocess.run([programs / "cru", "mcp"], cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{wheel.as_posix()}[mcp]" in done.stderr
