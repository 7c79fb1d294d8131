"""`cru web --export` by real processes: several at once, killed ones, and a full disk.  The next export finishes the site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import pytest

from crucible.vault.notes.vault import Vault
from crucible.web.site_export import digest_of_bytes
from tests.killing import LAST, STRIDE, killed
from tests.paths import ROOT
from tests.running import Cru
from tests.unit.web.test_sharing import session_of
from tests.unit.web.test_site import MANIFEST, write

FEW = (1, 4, 9, 40, 77)
STEPS = range(1, LAST) if STRIDE == 1 else FEW
"""The writes before which an export is killed."""
ENDS = {".html": b"</html>", ".js": b"\n", ".css": b"\n", ".svg": b"\n"}


@pytest.fixture
def full_vault(vault: Vault) -> Vault:
    for number in range(12):
        write(vault, session_of(f"Word{number}", f"2026-11-2{number % 9}-s{number}"))
    return vault


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 96 KB, in which a site has no room."""
    place = tmp_path / "disk"
    place.mkdir()
    command: list[str | Path] = ["mount", "-t", "tmpfs", "-o", "size=96k", "none", place]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("may not mount a small file system")
    yield place
    subprocess.run(["umount", place], check=True)


def files_of(site: Path) -> Mapping[str, bytes]:
    """The files of a site, without its own folder."""
    found = (path for path in site.rglob("*") if path.is_file() and ".crucible-site" not in path.parts)
    return {str(path.relative_to(site)): path.read_bytes() for path in found}


def assert_no_half_page(site: Path) -> None:
    for path, data in files_of(site).items():
        if not path.endswith(".tmp"):
            assert data.rstrip(b"\n").endswith(ENDS[Path(path).suffix].rstrip(b"\n")), path


def assert_whole(site: Path, vault: Vault) -> None:
    """The manifest has what is there, nothing is left over, and another export has nothing to do."""
    rows = [orjson.loads(line) for line in (site / MANIFEST).read_bytes().split(b"\n")[1:] if line]
    assert {row["path"]: row["digest"] for row in rows} == {
        path: digest_of_bytes(data) for path, data in files_of(site).items()
    }
    assert_no_half_page(site)
    assert not list(site.rglob("*.tmp"))
    assert "0 files written, 0 removed" in Cru(vault)("web", "--export", site, "--yes").output


def test_of_exports_at_once_one_writes_and_the_site_is_whole(full_vault: Vault, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "crucible",
        "--vault",
        full_vault.root,
        "web",
        "--export",
        site,
        "--yes",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(3)]
    said = [one.communicate(timeout=60)[0].decode() for one in running]
    for one, words in zip(running, said, strict=True):
        assert one.returncode == 0 or (one.returncode == 2 and "another export is writing here" in words), words
    assert 0 in [one.returncode for one in running]
    assert_whole(site, full_vault)


def test_a_killed_export_leaves_no_half_page_and_the_next_finishes_it(full_vault: Vault, tmp_path: Path) -> None:
    for step in STEPS:
        site = tmp_path / f"site-{step}"
        was_killed = killed(site, "--vault", full_vault.root, "web", "--export", site, "--yes", step=step)
        assert was_killed or step > max(FEW)
        if not was_killed:
            break
        assert_no_half_page(site)
        assert Cru(full_vault)("web", "--export", site, "--yes").exit_code == 0
        assert_whole(site, full_vault)
        shutil.rmtree(site)


def test_a_full_disk_leaves_no_half_page_and_the_next_export_finishes_it(full_vault: Vault, small_disk: Path) -> None:
    site = small_disk / "site"
    result = Cru(full_vault)("web", "--export", site, "--yes")
    assert (result.exit_code, "no space left on device" in result.output) == (1, True), result.output
    assert_no_half_page(site)
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    assert Cru(full_vault)("web", "--export", site, "--yes").exit_code == 0
    assert_whole(site, full_vault)


def test_a_page_whose_end_was_lost_is_written_again(full_vault: Vault, tmp_path: Path) -> None:
    site = tmp_path / "site"
    Cru(full_vault)("web", "--export", site, "--yes")
    for name in ("index.html", "search/pages-0.js", next(iter(os.listdir(site / "sessions")))):
        path = site / "sessions" / name if name.startswith("2026") else site / name
        path.write_bytes(path.read_bytes()[:100])
    assert Cru(full_vault)("web", "--export", site, "--yes").exit_code == 0
    assert_whole(site, full_vault)
