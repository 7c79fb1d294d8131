"""Types of files by name, and kinds of commands by their words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.tools.file_kinds import changes_files, is_test_file, kind_of, languages_of, plain_words, type_of
from crucible.analysis.tools.tool_acts import BUILD, LINT, TEST, TYPES, ToolKind
from tests.cases import for_each


@for_each(
    ("path", "kind"),
    [
        ("limiter.py", "Python"),
        ("src/App.TSX", "TypeScript"),
        ("a/b/lib.rs", "Rust"),
        ("main.go", "Go"),
        ("Makefile", "Makefile"),
        ("docker/Dockerfile.dev", "Dockerfile"),
        ("package.json", "JSON"),
        ("package-lock.json", "Lock"),
        ("README.md", "Markdown"),
        ("README", "Text"),
        (".gitignore", "Config"),
        (".py", None),
        ("app", None),
        ("x.unheardof", None),
        ("", None),
    ],
)
def test_the_type_of_a_file_follows_from_its_name(path: str, kind: str | None) -> None:
    assert type_of(path) == kind


@for_each(
    ("command", "kind"),
    [
        ("pytest -q", TEST), ("python3 -m pytest x", TEST), ("python3.12 -m unittest", TEST), ("uv run pytest", TEST),
        ("poetry run python -m pytest", TEST), ("coverage run -m pytest", TEST), ("npm test", TEST), ("npm t", TEST),
        ("npm run test:unit", TEST), ("yarn test", TEST), ("pnpm exec vitest run", TEST), ("npx jest --ci", TEST),
        ("./node_modules/.bin/jest", TEST), ("cargo test --lib", TEST), ("cargo nextest run", TEST), ("go test ./...", TEST),
        ("make test", TEST), ("mise run test:ci", TEST), ("make check", TEST), ("tox", TEST), ("tox -e py312", TEST), ("mvn -q test", TEST),
        ("./mvnw verify", TEST), ("./gradlew :app:test", TEST), ("dotnet test", TEST), ("bundle exec rspec", TEST), ("bun test", TEST),
        ("python test_limiter.py", TEST), ("python3 tests/limiter_test.py -v", TEST), ("node a.spec.js", TEST),
        ("python manage.py test", TEST), ("./run_tests.sh", TEST), ("bash scripts/test.sh", TEST), ("hatch run test", TEST),
        ("ruff check .", LINT), ("uvx ruff check", LINT), ("eslint src", LINT), ("npm run lint", LINT), ("cargo clippy", LINT),
        ("go vet ./...", LINT), ("make lint", LINT), ("mise run lint", LINT), ("tox -e lint", LINT), ("black --check .", LINT), ("prettier --check .", LINT),
        ("ruff format --check", LINT), ("pre-commit run -a", LINT), ("cargo fmt --check", LINT),
        ("mypy src", TYPES), ("python -m mypy src", TYPES), ("tsc --noEmit", TYPES), ("npx tsc", TYPES), ("pyright", TYPES),
        ("cargo check", TYPES), ("npm run typecheck", TYPES),
        ("make", BUILD), ("make -j4 CC=gcc", BUILD), ("cargo build --release", BUILD), ("npm run build", BUILD), ("yarn build", BUILD),
        ("go build -o x", BUILD), ("mvn package", BUILD), ("dotnet publish", BUILD), ("cmake --build out", BUILD),
        ("docker build .", BUILD), ("docker compose build", BUILD), ("python -m build", BUILD), ("gcc -o a a.c", BUILD),
        ("vite build", BUILD), ("./build.sh", None), ("npm install", None), ("npm run dev", None), ("npm run", None),
        ("vite", None), ("next dev", None), ("cmake -B out", None), ("make clean", None), ("cargo run", None), ("go run .", None),
        ("python app.py", None), ("python -c 'import test_x'", None), ("pytest --version", None), ("mypy --help", None),
        ("ruff format .", None), ("black .", None), ("docker run x", None), ("uv sync", None), ("poetry install", None),
        ("git test", None), ("tests", TEST),
    ],
)  # fmt: skip
def test_a_command_tests_checks_or_builds(command: str, kind: ToolKind | None) -> None:
    assert kind_of(plain_words(command.split())) == kind


@pytest.mark.parametrize(
    "name", ["test_a.py", "a_test.go", "a.test.ts", "a.spec.tsx", "AppTest.java", "AppTests.cs", "tests.py"]
)
def test_a_file_of_tests_is_one_by_its_name(name: str) -> None:
    assert is_test_file(f"src/{name}")


@for_each(
    "name",
    ["latest.py", "contest.py", "attestation.go", "test_a", "test", "testing", "tester.py", "greatest.rs"],
)
def test_a_word_with_test_in_it_is_no_file_of_tests(name: str) -> None:
    assert not is_test_file(name)


def test_a_formatter_changes_files_unless_it_only_looks() -> None:
    assert changes_files(("black", "a.py"))
    assert changes_files(("ruff", "format", "a.py"))
    assert not changes_files(("black", "--check", "a.py"))
    assert not changes_files(("ruff", "check", "a.py"))


def test_a_command_is_about_the_files_of_its_language() -> None:
    assert languages_of(("cargo", "test")) == {"Rust"}
    assert languages_of(("pytest",)) == {"Python"}
    assert {"Python", "Rust", "TypeScript"} <= languages_of(("make", "test"))
    assert "Markdown" not in languages_of(("make",))


@given(
    st.lists(
        st.text(max_size=8) | st.sampled_from(["npm", "run", "test", "-m", "python", "uv", "make", "--", "exec", "-p"]),
        max_size=8,
    )
)
def test_any_words_have_an_answer(words: list[str]) -> None:
    plain = plain_words(words)
    assert kind_of(plain) in (None, TEST, LINT, TYPES, BUILD)
    assert plain_words(plain) == plain or plain[:1] != plain_words(plain)[:1]


@pytest.mark.timed
def test_long_words_and_many_of_them_cost_little() -> None:
    before = time.process_time()
    kind_of(plain_words(["npx"] * 20_000))
    kind_of(plain_words(["python", "-m"] * 20_000))
    kind_of(("make", "test_" * 20_000))
    is_test_file("tests_" * 20_000 + "x.py")
    type_of("." * 100_000)
    assert time.process_time() - before < 1
