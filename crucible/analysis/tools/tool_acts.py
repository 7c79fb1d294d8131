"""Acts: what a tool call did, for every client's tools, and tables of the commands that test, check and build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from crucible.core.named_tuples import NamedTuple
from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import Datum


class Deed(StrEnum):
    """The kind of act of a tool call, or of one command in a shell script."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    REVERT = "revert"
    SEARCH = "search"
    FETCH = "fetch"
    RUN = "run"
    TEST = "test"
    CHECK = "check"
    BUILD = "build"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Act:
    """One act.

    `what` is its object in one line: the file's path, the command, the query.  `reads` and `writes` are its input and
    output data, by file (path relative to the project, never absolute) or by kind (`test_results::TestReport`); an
    edited file is in both.  `REVERT` restores committed files; `PLAN` is an agent's own bookkeeping (task lists, plans,
    waiting).  `verdict` is the last line that a check printed, if requested.  `command` is the full command as a user
    would type it in the project's folder.
    """

    deed: Deed
    what: str = ""
    reads: tuple[Datum, ...] = ()
    writes: tuple[Datum, ...] = ()
    outcome: Outcome = Outcome.OK
    verdict: str = ""
    command: str = ""


class ToolKind(NamedTuple):
    """The kind of act that a command performs, and the data that it produces."""

    deed: Deed
    gives: Datum


TEST = ToolKind(Deed.TEST, Datum("test_results", "TestReport"))
LINT = ToolKind(Deed.CHECK, Datum("lint_results", "LintReport"))
TYPES = ToolKind(Deed.CHECK, Datum("type_results", "TypeReport"))
BUILD = ToolKind(Deed.BUILD, Datum("build_output", "Build"))

_ALONE_TEST = """
    pytest py.test tox nox unittest doctest nose2 trial jest vitest mocha ava jasmine karma cypress phpunit pest rspec
    ctest bats gotestsum busted prove minitest testem wdio behave cucumber robot hspec
"""
_ALONE_LINT = """
    ruff eslint flake8 pylint pycodestyle pydocstyle bandit stylelint shellcheck golangci-lint staticcheck rubocop
    oxlint hadolint yamllint markdownlint markdownlint-cli2 jshint standard xo tflint sqlfluff credo clang-tidy
    cpplint cppcheck ktlint detekt checkstyle swiftlint phpstan psalm phpcs vale codespell actionlint semgrep vulture
    isort-check
"""
_ALONE_TYPES = """
    mypy pyright basedpyright pyre pytype ty tsc vue-tsc svelte-check flow sorbet dialyzer
"""
_ALONE_BUILD = """
    make gmake ninja cmake meson bazel buck2 scons webpack rollup esbuild parcel tsup gcc g++ cc c++ clang clang++
    javac kotlinc rustc ghc msbuild xcodebuild sphinx-build mkdocs hugo jekyll build pyinstaller ant sbt just latexmk
    pdflatex
"""
ALONE: Mapping[str, ToolKind] = {
    **dict.fromkeys(_ALONE_TEST.split(), TEST),
    **dict.fromkeys(_ALONE_LINT.split(), LINT),
    **dict.fromkeys(_ALONE_TYPES.split(), TYPES),
    **dict.fromkeys(_ALONE_BUILD.split(), BUILD),
}
"""Commands with one kind, whatever their arguments."""

TASKS: Mapping[str, ToolKind] = {
    **dict.fromkeys(("test", "tests", "check-tests", "unit", "integration", "e2e", "spec", "specs", "coverage"), TEST),
    **dict.fromkeys(("lint", "linting", "check", "style", "format-check"), LINT),
    **dict.fromkeys(("typecheck", "type-check", "types", "tsc", "mypy", "typing"), TYPES),
    **dict.fromkeys(("build", "compile", "dist", "bundle", "package", "all"), BUILD),
}
"""Kinds by the name of a task that the project defines: `make lint`, `npm run build`."""

_VERBS = """
    make check:test
    gmake check:test
    cargo test t:test nextest:test bench:test clippy:lint check:types c:types build b:build doc:build
    go test vet:lint build install:build
    dotnet test build publish:build pack:build
    mvn test verify:test integration-test:test compile package install:build
    gradle test check:test connectedTest:test lint build assemble:build compileJava:build
    swift test build
    mix test credo:lint dialyzer:types compile
    flutter test analyze:lint build
    dart test analyze:lint compile
    deno test lint check:types compile
    bun test build
    zig test build
    stack test build
    cabal test build
    rake test spec
    rails test
    lein test compile
    composer test
    bazel test build
    sbt test compile
    playwright test
    ng test lint build
    xcodebuild test
    hatch test build fmt:lint
    poetry build
    uv build
    pdm build test
    docker build
    podman build
    buildah build
    vite build
    next build lint
    nuxt build
    biome check lint ci:lint
    terraform validate:lint
    bundle
    manage.py test
    npm test t:test tst:test build
    wasm-pack test build
    tsx
    vitest typecheck
    ninja test
    pre-commit run:lint
    trunk check build
    air
    meson test
    hardhat test compile
    forge test build
"""
"""Commands with the subcommands that test, check or build.

A colon precedes the kind if `TASKS` lacks the subcommand.
"""
VERBS: Mapping[str, Mapping[str, ToolKind]] = {
    name: {word: TASKS[kind or word] for word, _, kind in (entry.partition(":") for entry in words)}
    for name, *words in (line.split() for line in _VERBS.strip().split("\n"))
}
"""Kinds by command and subcommand."""
RUN_TASKS = frozenset({"make", "gmake", "just", "ninja", "task", "mise", "invoke", "tox", "nox", "turbo", "nx"})
"""Commands whose arguments are tasks that the project defines."""

LANGUAGES = {
    "Python": """
        pytest py.test tox nox unittest doctest nose2 trial ruff flake8 pylint pycodestyle pydocstyle bandit mypy pyright
        basedpyright pyre pytype ty python coverage black isort behave robot manage.py build hatch poetry pdm
    """,
    "JavaScript TypeScript Vue Svelte CSS": """
        jest vitest mocha ava jasmine karma cypress playwright eslint stylelint tsc vue-tsc svelte-check webpack rollup
        esbuild parcel tsup vite next nuxt npm yarn pnpm bun node deno tsx biome oxlint standard xo ng turbo nx
    """,
    "Rust": """
        cargo rustc
    """,
    "Go": """
        go golangci-lint staticcheck gotestsum
    """,
    "Java Kotlin Scala Groovy": """
        mvn mvnw gradle gradlew javac kotlinc sbt ant ktlint detekt checkstyle
    """,
    "CSharp FSharp": """
        dotnet msbuild
    """,
    "C Cpp": """
        gcc g++ cc c++ clang clang++ clang-tidy cpplint cppcheck
    """,
    "Ruby": """
        rspec rubocop rake rails minitest
    """,
    "PHP": """
        phpunit pest phpstan psalm phpcs composer
    """,
    "Shell": """
        shellcheck bats
    """,
    "Swift": """
        swift xcodebuild swiftlint
    """,
    "Elixir": """
        mix
    """,
    "Dart": """
        dart flutter
    """,
    "Terraform": """
        terraform tflint
    """,
    "Dockerfile": """
        hadolint
    """,
    "YAML": """
        yamllint actionlint
    """,
    "Markdown": """
        markdownlint markdownlint-cli2 vale mkdocs
    """,
}
"""The commands for each language, by file type."""
