"""The shortener removes every absolute path from a text, and changes nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.memory.history.history import shortener
from tests.cases import for_each

ROOTS = ("/home/dev/shop", r"C:\work\till", "/app")
shorten = shortener(ROOTS)


@for_each(
    ("text", "told"),
    [
        ("see /home/dev/shop/src/a.py.", "see src/a.py."),
        ("in `/home/dev/shop`", "in `shop`"),
        ("/home/dev/shop-2/x.py", "shop-2/x.py"),
        (r"C:\work\till\a\b.py and C:/work/till/c.py", r"a\b.py and c.py"),
        ("/app/src/x.py:12", "src/x.py:12"),
        ("/home/ada/notes/plan.md", "notes/plan.md"),
        ("/Users/ada and /root", "the home folder and the home folder"),
        ("~ada/notes.txt", "notes.txt"),
        ("{root}/home/ada/x.md", "{root}x.md"),
        (r"D:\Users\ada\x.txt", "x.txt"),
        ("file:///home/ada/x.md", "x.md"),
        ("'/etc/nginx/nginx.conf'", "'nginx/nginx.conf'"),
        ("(/var/folders/a/b/c)", "(b/c)"),
        ("/srv1/data/x.csv", "data/x.csv"),
    ],
)
def test_a_path_is_short(text: str, told: str) -> None:
    assert shorten(text) == told


@for_each(
    "text",
    [
        "GET /api/users/:id",
        "PATCH /api/v1/users.json",
        "/users/:id",
        "and/or",
        "src/a/b.py",
        "https://example.com/home/x.html",
        "s/a/b/g",
        "/help shows it",
        "1/2",
        "~ 40 s",
        "~/.local/share/tools/shims/",
        "run `${PROJECT_DIR}/cmd/shop/main.go` and $(pwd)/cmd/shop/main.go",
        "C: is a drive",
    ],
)
def test_text_that_is_no_path_stays(text: str) -> None:
    assert shorten(text) == text


@given(st.text(alphabet="/~C:\\ .ab`'(=home", max_size=60))
def test_whose_home_it_is_never_shows(text: str) -> None:
    assert "/home/ada" not in shorten(f"{text} /home/ada/{text}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("PATH=/usr/bin:/home/ada/bin", "PATH=usr/bin:bin"),
        ("-v /home/dev/shop:/home/node/app", "-v shop:app"),
        ("gcc -I/home/ada/include -L/usr/lib", "gcc -Iinclude -Lusr/lib"),
        ("-I/home/dev/shop/include", "-Iinclude"),
        ("src/home/ada", "src/home/ada"),
        ("https://home:8080/home/x", "https://home:8080/home/x"),
    ],
)
def test_a_path_after_an_option_or_another_path_is_shortened(text: str, told: str) -> None:
    assert shorten(text) == told


def test_a_home_that_lies_elsewhere_is_known() -> None:
    short = shortener(["/data/ada/shop"], "/data/ada")
    assert short("/data/ada/shop/a.py, /data/ada/x/y, /data/ada.") == "a.py, x/y, the home folder."
    assert shortener(["/data/ada"], "/data/ada/")("in /data/ada") == "in ada"
    assert shortener([], "/")("see /data/x") == "see /data/x"
