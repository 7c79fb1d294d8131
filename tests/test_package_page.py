"""The page of the package on an index: every link of the README leads somewhere there."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from tests.paths import ROOT

ADDRESS = "https://github.com/ada/notes"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/ada/notes",
        "https://github.com/ada/notes.git",
        "https://ada:secret@github.com/ada/notes.git",
        "git@github.com:ada/notes.git",
        "ssh://git@github.com/ada/notes/",
    ],
)
def test_any_form_of_a_remote_gives_the_web_address_without_credentials(page: ModuleType, remote: str) -> None:
    assert page.address_of(remote) == ADDRESS


@pytest.mark.parametrize("remote", ["", "/srv/notes.git", "https://example.org/ada/notes", "https://github.com/ada"])
def test_a_host_that_we_do_not_know_gives_no_address(page: ModuleType, remote: str) -> None:
    assert page.address_of(remote) == ""


def test_links_to_files_become_absolute_and_others_stay(page: ModuleType) -> None:
    text = "[A [b]](docs/a.md#x) ![c](i.svg) [w](https://x.org) [s](#here)\n```\n[not](a.link)\n```\n"
    assert page.with_absolute_links(text, ADDRESS) == (
        f"[A [b]]({ADDRESS}/blob/HEAD/docs/a.md#x) ![c]({ADDRESS}/raw/HEAD/i.svg) [w](https://x.org) [s](#here)\n"
        "```\n[not](a.link)\n```\n"
    )
    assert page.with_absolute_links("[a](b.md), ![c](i.svg)", "") == "a, "


@pytest.mark.parametrize("address", [ADDRESS, ""])
def test_the_readme_keeps_no_relative_link(page: ModuleType, address: str) -> None:
    text = page.with_absolute_links((ROOT / "README.md").read_text(encoding="utf-8"), address)
    links = re.findall(r"\]\(([^)]*)\)", re.sub(r"(?ms)^```.*?^```$", "", text))
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
