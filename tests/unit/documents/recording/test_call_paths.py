"""Paths in lines of ours are seen from where the agent stood."""

from __future__ import annotations

import pytest

from crucible.documents.recording.call_lines import shorten_paths
from tests.cases import for_each

HERE = "/home/ada/work/shop"


@for_each(
    ("text", "told"),
    [
        ("Read /home/ada/work/shop/a/b.py", "Read a/b.py"),
        ("cd /home/ada/work/shop && make", "cd . && make"),
        ("find /home/ada/work/shop/ -type f", "find . -type f"),
        ("ls /home/ada/work/shop-2/x /home/ada", "ls ~/work/shop-2/x ~"),
        ("cat /home/ada/.zshrc /home/adam/x", "cat ~/.zshrc /home/adam/x"),
        ("gcc -I/home/ada/work/shop/inc", "gcc -Iinc"),
        ('"file:///home/ada/work/shop/x.md"', '"x.md"'),
        ("/home/ada/work/shop/.github/x", ".github/x"),
        ("cp /home/ada/work/shop.bak /tmp", "cp ~/work/shop.bak /tmp"),
        ("https://x.org/home/ada/work/shop/y", "https://x.org/home/ada/work/shop/y"),
        ("a/home/ada/work/shop/b", "a/home/ada/work/shop/b"),
    ],
)
def test_the_folder_and_its_owners_home_are_left_out(text: str, told: str) -> None:
    assert shorten_paths(text, HERE) == told


def test_a_folder_of_windows_is_one_too() -> None:
    assert shorten_paths(r"Read C:\Users\ada\shop\a.py C:\Users\ada\x", r"C:\Users\ada\shop") == r"Read a.py ~\x"


@pytest.mark.parametrize("folder", ["", "/", "C:\\"])
def test_no_folder_shortens_nothing(folder: str) -> None:
    assert shorten_paths("cat /etc/hosts /a/b", folder) == "cat /etc/hosts /a/b"
