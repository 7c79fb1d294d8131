"""File types by name, and the kind of a command: test, check or build."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from crucible.analysis.tools.tool_acts import (
    ALONE,
    LANGUAGES,
    LINT,
    RUN_TASKS,
    TASKS,
    TEST,
    VERBS,
    ToolKind,
)
from crucible.core.patterns import late_pattern

# --- files -----------------------------------------------------------------------------------------------------------

_ENDINGS = {
    "Python": "py pyi pyw", "Notebook": "ipynb", "JavaScript": "js mjs cjs jsx", "TypeScript": "ts mts cts tsx",
    "Rust": "rs", "Go": "go", "Java": "java", "Kotlin": "kt kts", "Scala": "scala sc", "Groovy": "groovy",
    "CSharp": "cs csx", "FSharp": "fs fsx", "C": "c h", "Cpp": "cc cpp cxx hh hpp hxx", "ObjectiveC": "m mm",
    "Swift": "swift", "Ruby": "rb", "PHP": "php", "Perl": "pl pm", "Lua": "lua", "R": "r rmd", "Julia": "jl",
    "Elixir": "ex exs", "Erlang": "erl hrl", "Haskell": "hs", "OCaml": "ml mli", "Clojure": "clj cljs cljc edn",
    "Dart": "dart", "Zig": "zig", "Nim": "nim", "Shell": "sh bash zsh fish", "PowerShell": "ps1 psm1", "Batch": "bat cmd",
    "SQL": "sql", "GraphQL": "graphql gql", "Protobuf": "proto", "Terraform": "tf tfvars", "Nix": "nix",
    "HTML": "html htm", "CSS": "css scss sass less", "Vue": "vue", "Svelte": "svelte", "Template": "j2 jinja tmpl hbs",
    "Markdown": "md markdown mdx", "Text": "txt rst adoc tex", "PDF": "pdf",
    "JSON": "json jsonc json5 jsonl ndjson", "YAML": "yaml yml", "TOML": "toml", "TOON": "toon", "XML": "xml xsd xsl",
    "CSV": "csv tsv", "Parquet": "parquet", "Config": "ini cfg conf env properties editorconfig", "Lock": "lock",
    "Image": "png jpg jpeg gif svg webp ico bmp", "Audio": "mp3 wav ogg flac", "Video": "mp4 mov webm mkv",
    "Archive": "zip tar gz tgz xz zst bz2 7z whl jar", "Database": "db sqlite sqlite3", "Log": "log", "Diff": "diff patch",
}  # fmt: skip
_BY_ENDING = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}
_BY_NAME = {
    "makefile": "Makefile", "gnumakefile": "Makefile", "justfile": "Makefile", "dockerfile": "Dockerfile", "containerfile": "Dockerfile",
    "cmakelists.txt": "CMake", "gemfile": "Ruby", "rakefile": "Ruby", "jenkinsfile": "Groovy", "license": "Text", "readme": "Text",
    ".gitignore": "Config", ".dockerignore": "Config", ".env": "Config", "requirements.txt": "Requirements", "go.mod": "GoModule", "go.sum": "Lock",
    "package-lock.json": "Lock", "pnpm-lock.yaml": "Lock",
}  # fmt: skip


def type_of(path: str) -> str | None:
    """Return the type of a file by its name: `Python` for `src/limiter.py`; None if unknown."""
    return _type_of(path.rpartition("/")[2])


@lru_cache(maxsize=1024)
def _type_of(name: str) -> str | None:
    name = name.casefold()
    if name in _BY_NAME:
        return _BY_NAME[name]
    stem, dot, ending = name.rpartition(".")
    if name.startswith(("dockerfile.", "containerfile.")):
        return "Dockerfile"
    return _BY_ENDING.get(ending) if dot and stem else None


# --- commands --------------------------------------------------------------------------------------------------------

_RUNNERS = {
    "npx": "", "bunx": "", "pnpx": "", "uvx": "", "uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run",
    "rye": "run", "conda": "run", "mamba": "run", "bundle": "exec", "pipx": "run", "mise": "exec", "direnv": "exec",
    "coverage": "run", "dotenv": "run", "pixi": "run",
}  # fmt: skip
"""Commands that run another command in an environment, and the subcommands that do so."""
_MAX_NESTED = 6
"""Maximum number of nested runners."""
_VALUED = frozenset(
    [
        "--with",
        "--from",
        "--python",
        "--env-file",
        "--project",
        "--directory",
        "-p",
        "--package",
        "-n",
        "--extra",
        "--group",
    ]
)
"""Options of runners that take a value."""
INTERPRETERS: Mapping[str, str] = {
    "python": "py", "node": "js", "nodejs": "js", "tsx": "ts", "ts-node": "ts", "bun": "ts", "deno": "ts", "ruby": "rb", "perl": "pl",
    "php": "php", "lua": "lua", "Rscript": "r", "julia": "jl", "bash": "sh", "sh": "sh", "zsh": "sh", "dash": "sh", "ksh": "sh",
}  # fmt: skip
"""Commands that run a script, and the file extension of its language."""
_PYTHON = late_pattern(r"(?:python|pypy)w?[\d.]*(?:\.exe)?|py")
_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun"})


def plain_words(words: Sequence[str]) -> tuple[str, ...]:
    """Strip runners and paths from a command.

    `uv run python -m pytest -q` becomes `pytest -q`, `./node_modules/.bin/jest` becomes `jest`, and every version of
    Python becomes `python`.  The arguments of a script are not changed.
    """
    rest = list(words)
    for _ in range(_MAX_NESTED):
        if not rest:
            break
        name = rest[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        inner = _inner_command(name, rest)
        if inner is None:
            break
        rest = inner
    if not rest:
        return ()
    name = rest[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return ("python" if _PYTHON.fullmatch(name) else name, *rest[1:])


def _inner_command(name: str, words: list[str]) -> list[str] | None:
    """Return the command that a runner runs; None if this is not a runner."""
    if _PYTHON.fullmatch(name) and "-m" in words[1:8]:
        at = words.index("-m", 1)
        earlier = words[1:at]
        return (
            words[at + 1 :]
            if all(word.startswith("-") and word != "-c" for word in earlier) and words[at + 1 :]
            else None
        )
    if name in ("pnpm", "yarn", "npm") and words[1:2] in (["exec"], ["dlx"]):
        return [word for word in words[2:] if word != "--"] or None
    if name not in _RUNNERS:
        return None
    by = _RUNNERS[name]
    at = _after_options(words, 1)
    if by:
        if words[at : at + 1] != [by]:
            return None
        at = _after_options(words, at + 1)
    return words[at:] or None


def _after_options(words: list[str], at: int) -> int:
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED else 1
    return at


_ALIASES = {"mvnw": "mvn", "gradlew": "gradle", "mvnd": "mvn", "mmake": "make", "buildx": "docker"}
_INFO = frozenset("--version -V --help -h help version".split())  # noqa: SIM905
_NO_CHECK = frozenset("serve server dev watch start preview new init install-hooks".split())  # noqa: SIM905
"""Subcommands that run until they are stopped, or set up a project."""
_TASKED = frozenset({"make", "gmake", "just", "ninja"})
_FORMATTERS = frozenset("black prettier isort gofmt rustfmt clang-format autopep8 yapf dprint".split())  # noqa: SIM905
_CHECKING = frozenset("--check --list-different -l --check-only --diff -d --dry-run -c".split())  # noqa: SIM905
_TEST_STEM = late_pattern(r"(?:tests?[_-].*|.*[_.-](?:tests?|specs?)|tests?|runtests?|.*(?<=[a-z])Tests?)", re.DOTALL)


def kind_of(words: Sequence[str]) -> ToolKind | None:
    """Return whether a command, given as its `plain_words`, tests, checks or builds; None if it does none of these."""
    return _kind_of(tuple(words))


@lru_cache(maxsize=1024)
def _kind_of(words: tuple[str, ...]) -> ToolKind | None:
    if not words or any(word in _INFO for word in words[1:3]):
        return None
    name, rest = _ALIASES.get(words[0], words[0]), [word for word in words[1:] if word[:1] not in ("-", "")]
    if _formats(name, rest):
        return None if changes_files(words) else LINT
    if any(word in _NO_CHECK for word in rest[:2]) or (name == "cmake" and "--build" not in words):
        return None
    if name in _MANAGERS:
        return _managed(name, rest)
    found = next((kind for word in rest[:6] if (kind := _word_kind(name, word)) is not None), None)
    if found is not None:
        return found
    if name in ALONE:
        return None if name in _TASKED and rest and not _makes_files(rest) else ALONE[name]
    if is_test_file(words[0]) or (name == "node" and "--test" in words[1:4]):  # a script in the project: ./run_tests.sh
        return TEST
    if name in INTERPRETERS:
        return TEST if _runs_a_test(words) else None
    return TASKS.get(name)  # `hatch run test`, ./build


def is_known_tool(name: str) -> bool:
    """Return whether a command with this name can test, check, build or format."""
    return name in VERBS or name in ALONE or name in _FORMATTERS


def changes_files(words: Sequence[str]) -> bool:
    """Return whether a command, given as its `plain_words`, reformats files in place: `black limiter.py`."""
    rest = [word for word in words[1:] if word[:1] != "-"]
    return bool(words) and _formats(words[0], rest) and not any(word in _CHECKING for word in words[1:])


def _formats(name: str, rest: list[str]) -> bool:
    return name in _FORMATTERS or (name, *rest[:1]) in (("cargo", "fmt"), ("ruff", "format"), ("go", "fmt"))


def _makes_files(rest: list[str]) -> bool:
    """Return whether all targets of `make` are files or settings; `clean` is neither."""
    return all("=" in word or "/" in word or "." in word or word.isdigit() for word in rest)


def _word_kind(name: str, word: str) -> ToolKind | None:
    found = VERBS.get(name, {}).get(word.rpartition(":")[2] if name == "gradle" else word)
    return found or (_task(word) if name in RUN_TASKS else None)


def _task(word: str) -> ToolKind | None:
    """Return the kind of a task by its name: `test`, `test:unit`, `lint-fix`, `build_all`."""
    return TASKS.get(word) or next((TASKS[part] for part in re.split(r"[:_./-]", word[:80]) if part in TASKS), None)


def _managed(name: str, rest: list[str]) -> ToolKind | None:
    """Return the kind of a package manager's command: `npm run lint`, `yarn build`, `pnpm test`."""
    runs = rest[1:2] if rest[:1] in (["run"], ["run-script"], ["workspace"]) else []
    if runs:
        return _task(runs[0]) or ALONE.get(runs[0])
    known = VERBS.get(name, {}).get(rest[0]) if rest else None
    if known is None and rest and name != "npm":
        return _task(rest[0]) or ALONE.get(rest[0])
    return known


def _runs_a_test(words: Sequence[str]) -> bool:
    """Return whether an interpreter runs a test file."""
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    if any(word in ("-c", "-e", "--eval") for word in words[1:4]):
        return False
    if script.rpartition("/")[2] == "manage.py":
        return "test" in words[2:4]
    return is_test_file(script)


def is_test_file(path: str) -> bool:
    """Return whether a file contains tests, by its name: `test_limiter.py`, `limiter_test.go`, `limiter.spec.ts`."""
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return bool(dot and ending.isalnum() and _TEST_STEM.fullmatch(stem))


_LANGUAGES_OF = {name: frozenset(kinds.split()) for kinds, names in LANGUAGES.items() for name in names.split()}
_NO_CODE = "Markdown Text PDF CSV Parquet Lock Image Audio Video Archive Database Log Diff Notebook"
_CODE = (frozenset(_ENDINGS) - frozenset(_NO_CODE.split())) | {"Makefile", "Dockerfile", "CMake"}


def languages_of(words: Sequence[str]) -> frozenset[str]:
    """Return the file types that a command checks or builds by default; all types of code for tools such as `make`."""
    return _LANGUAGES_OF.get(words[0], _CODE) if words else _CODE
