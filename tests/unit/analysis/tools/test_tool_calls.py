"""Acts of calls: the same for the same work of every client, from recorded arguments and from the note's lines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.tools.recorded_calls import RecordedCalls, recorded_calls_of
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.shell_acts import command_acts
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.documents.recording.call_lines import call_line
from crucible.documents.session.session import Outcome, ToolCall
from crucible.documents.workflow.flow_line import read_flow_line, render_flow_line
from crucible.documents.workflow.workflow import UNPLACED, Datum, Flow
from crucible.vault.events.event_reader import EventRecord
from tests.cases import for_each

ROOT = "/home/dev/project"
LIMITER = "import time\n\n\nclass TokenBucket:\n    pass\n"
TESTS = "from limiter import TokenBucket\n\nassert TokenBucket()\n"


def _evidence(
    calls: Iterable[tuple[str, Mapping[str, object], str]], root: str = ROOT
) -> tuple[list[ToolCall], RecordedCalls]:
    """The calls of a session as its note has them, and what the recorder knows of them."""
    records = [EventRecord(1, "ContextSeen", values={"cwd": root})]
    noted = []
    for at, (name, arguments, result) in enumerate(calls):
        records += [
            EventRecord(2 * at + 2, "ToolUsed", values={"call": str(at), "name": name, "arguments": arguments}),
            EventRecord(2 * at + 3, "ToolReturned", values={"call": str(at), "text": result, "end": "ok"}),
        ]
        noted.append(ToolCall(call_line(name, arguments, root), result[:100]))
    return noted, recorded_calls_of(records)


def _all(*calls: tuple[str, Mapping[str, object], str]) -> list[Act]:
    noted, evidence = _evidence(calls)
    files = Files()
    return [act for call in noted for act in acts_of(call, evidence, files)]


def _noted(*lines: str) -> list[Act]:
    files = Files()
    return [act for line in lines for act in acts_of(ToolCall(line), RecordedCalls(), files)]


def _told(acts: Iterable[Act]) -> list[tuple[str, list[str], list[str]]]:
    """Deeds with their data, without the words of commands."""
    return [(act.deed.value, _names(act.reads), _names(act.writes)) for act in acts]


def _names(data: Iterable[Datum]) -> list[str]:
    return [f"{datum.name}::{datum.type}" for datum in data]


def _claude() -> list[Act]:
    return _all(
        ("Write", {"file_path": f"{ROOT}/limiter.py", "content": LIMITER}, "created"),
        ("Write", {"file_path": "test_limiter.py", "content": TESTS}, "created"),
        ("Bash", {"command": "python3 test_limiter.py", "description": "Run"}, "ok"),
        ("Edit", {"file_path": f"{ROOT}/limiter.py", "old_string": "time", "new_string": "clock"}, "updated"),
        ("Grep", {"pattern": "Token", "output_mode": "content"}, "limiter.py:4:class TokenBucket:"),
        ("Read", {"file_path": f"{ROOT}/app.py"}, "     1→import sys"),
        ("TodoWrite", {"todos": []}, ""),
    )


def _codex() -> list[Act]:
    def run(command: str) -> tuple[str, Mapping[str, object], str]:
        return (
            "exec_command",
            {"cmd": command},
            "./limiter.py:4:class TokenBucket:" if "grep" in command else "",
        )

    return _all(
        run(f"cat > limiter.py <<'END'\n{LIMITER}\nEND"),
        run(f"cat > test_limiter.py <<'END'\n{TESTS}END"),
        run("python3 test_limiter.py"),
        run("sed -i 's/time/clock/' limiter.py"),
        run("grep -rn Token . --include=*.py | head -20"),
        run(f"cd {ROOT} && cat app.py"),
        ("update_plan", {"plan": []}, ""),
    )


def _opencode() -> list[Act]:
    return _all(
        ("write", {"filePath": f"{ROOT}/limiter.py", "content": LIMITER}, "Wrote file"),
        ("write", {"filePath": "test_limiter.py", "content": TESTS}, "Wrote file"),
        ("bash", {"command": "python3 test_limiter.py"}, ""),
        ("edit", {"filePath": "limiter.py", "oldString": "time", "newString": "clock"}, ""),
        ("grep", {"pattern": "Token"}, f"Found 1 matches\n{ROOT}/limiter.py:\n  Line 4: class TokenBucket:"),
        ("read", {"filePath": "app.py"}, "<file>\n00001| import sys\n</file>"),
        ("TaskCreate", {}, "unavailable tool"),
    )


def _gemini() -> list[Act]:
    return _all(
        ("write_file", {"file_path": "limiter.py", "content": LIMITER}, ""),
        ("write_file", {"file_path": f"{ROOT}/test_limiter.py", "content": TESTS}, ""),
        ("run_shell_command", {"command": "python3 test_limiter.py"}, ""),
        ("replace", {"file_path": "limiter.py", "old_string": "time", "new_string": "clock"}, ""),
        (
            "search_file_content",
            {"pattern": "Token"},
            "Found 1 match\n---\nFile: limiter.py\nL4: class TokenBucket:\n---",
        ),
        ("read_file", {"absolute_path": f"{ROOT}/app.py"}, "import sys"),
        ("write_todos", {"todos": []}, ""),
    )


_WORK = [
    ("write", [], ["limiter.py::Python"]),
    ("write", [], ["test_limiter.py::Python"]),
    ("test", ["test_limiter.py::Python", "limiter.py::Python"], ["test_results::TestReport"]),
    ("edit", ["limiter.py::Python"], ["limiter.py::Python"]),
    ("search", [], []),
    ("read", ["app.py::Python"], []),
    ("plan", [], []),
]


@pytest.mark.parametrize("client", [_claude, _codex, _opencode, _gemini], ids=lambda f: f.__name__)
def test_the_same_work_is_the_same_acts_in_every_client(client: object) -> None:
    assert _told(client()) == _WORK  # type: ignore[operator]


@pytest.mark.parametrize("client", [_claude, _codex, _opencode, _gemini], ids=lambda f: f.__name__)
def test_an_act_on_a_file_names_the_file(client: object) -> None:
    done = [act.what for act in client() if act.deed in (Deed.WRITE, Deed.EDIT, Deed.READ)]  # type: ignore[operator]
    assert done == ["limiter.py", "test_limiter.py", "limiter.py", "app.py"]


def test_a_cut_line_gives_its_complete_words() -> None:
    acts = _noted(
        "Write limiter.py",
        "Bash printf 'from limiter import TokenBucket\\n' > per_user.py && python3 -c 'import per_user; print(per_us…",
    )
    assert _told(acts[1:]) == [
        ("write", [], ["per_user.py::Python"]),
        ("run", [], []),
    ]
    assert acts[2].what.endswith("…")


def test_the_last_word_of_a_cut_line_is_no_file() -> None:
    assert _told(_noted("Bash cat a.py src/applicat…")) == [("read", ["a.py::Python"], [])]
    assert _told(_noted("Read src/applicat…")) == [("read", [], [])]


def test_a_here_document_of_a_line_of_the_note_is_one() -> None:
    acts = _noted("exec_command cat > a.sh <<'END'⏎rm -rf b > c⏎END")
    assert _told(acts) == [("write", [], ["a.sh::Shell"])]


def test_a_test_reads_by_its_name_what_is_known_where_its_content_is_not() -> None:
    assert _told(_noted("Write limiter.py", "Bash pytest tests/test_limiter.py"))[1][1] == [
        "tests/test_limiter.py::Python",
        "limiter.py::Python",
    ]
    assert _told(_noted("Bash pytest tests/test_limiter.py"))[0][1] == ["tests/test_limiter.py::Python"]


def test_a_run_of_all_tests_reads_the_tests_and_what_was_written_in_their_language() -> None:
    acts = _noted("Write limiter.py", "Write README.md", "Write web/app.ts", "Write test_limiter.py", "Bash pytest -q")
    assert _told(acts[-1:]) == [
        ("test", ["test_limiter.py::Python", "limiter.py::Python"], ["test_results::TestReport"])
    ]


def test_every_call_of_a_failed_command_has_its_outcome_and_its_data() -> None:
    acts = acts_of(ToolCall("Bash sed -i s/a/b/ x.py && cat y.py", "", Outcome.FAILED), RecordedCalls(), Files())
    assert [(act.deed, act.outcome) for act in acts] == [
        (Deed.EDIT, Outcome.FAILED),
        (Deed.READ, Outcome.FAILED),
    ]


@for_each(
    ("script", "acts"),
    [
        ("cp a.py b.py", [("write", ["a.py::Python"], ["b.py::Python"])]),
        ("mv a.py lib/", [("write", ["a.py::Python"], ["lib/a.py::Python"]), ("delete", [], [])]),
        ("rm -f a.py", [("delete", [], [])]),
        ("git rm a.py", [("delete", [], [])]),
        ("git checkout -- a.py", [("revert", ["a.py::Python"], ["a.py::Python"])]),
        ("cd src && git checkout HEAD~2 -- a.py", [("edit", ["src/a.py::Python"], ["src/a.py::Python"])]),
        ("git checkout -b fix main", [("run", [], [])]),
        ("git checkout -- .", [("run", [], [])]),
        ("touch a.py; git checkout a.py", [("write", [], ["a.py::Python"]), ("revert", ["a.py::Python"], ["a.py::Python"])]),
        ("git restore a.py", [("revert", ["a.py::Python"], ["a.py::Python"])]),
        ("git restore --source HEAD~1 -- a.py", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("git restore -s HEAD~1 -SW a.py", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("git restore --staged a.py", [("run", [], [])]),
        ("echo x >> new.txt", [("write", [], ["new.txt::Text"])]),
        ("cat a.py > b.py", [("write", ["a.py::Python"], ["b.py::Python"])]),
        ("ls | tee b.txt", [("search", [], []), ("write", [], ["b.txt::Text"])]),
        ("pytest x_test.py > o.log 2>&1", [("test", ["x_test.py::Python"], ["test_results::TestReport", "o.log::Log"])]),
        ("cat < a.py", [("read", ["a.py::Python"], [])]),
        ("head -n 5 a.py | wc -l", [("read", ["a.py::Python"], [])]),
        ("sed -n 1,5p a.py", [("read", ["a.py::Python"], [])]),
        ("sed -i '' -e s/a/b/ a.py", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("perl -pi -e 's/a/b/' a.py", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("black a.py", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("cd src; cat a.py", [("read", ["src/a.py::Python"], [])]),
        ("cat *.py $X /dev/null", [("plan", [], [])]),
        ("mkdir -p a && cd a && echo hi && sleep 5", [("plan", [], [])]),
        ('rm -rf "$OUT"', [("run", [], [])]),
        *[(f"git {words}", [("run", [], [])]) for words in ("tag -f v1", "tag v1", "tag -d v1", "branch new", "branch -D old", "remote add up URL", "config user.name me", "reflog expire --all", "stash", "worktree add ../x")],
        *[(f"git {words}", [("search", [], [])]) for words in ("tag", "tag -l 'v*'", "tag --sort=-v:refname", "branch -a", "branch", "remote -v", "config --get user.name", "config user.name", "reflog", "stash list", "-C x log -3")],
        ("git status && git commit -m 'a > b'", [("search", [], []), ("run", [], [])]),
        ("curl -s https://x.org/a.json -o a.json", [("fetch", [], ["a.json::JSON"])]),
        ("python gen.py > out.json", [("run", ["gen.py::Python"], ["out.json::JSON"])]),
        ("kubectl apply -f k8s.yaml", [("run", ["k8s.yaml::YAML"], [])]),
        ("gcc -o app main.c", [("build", ["main.c::C"], ["app::None", "build_output::Build"])]),
        ("mypy a.py", [("check", ["a.py::Python"], ["type_results::TypeReport"])]),
        ("python - <<'E'\np = 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s)\nE", [("edit", ["a.py::Python"], ["a.py::Python"])]),
        ("python -c \"open('a.csv','w')\"", [("write", [], ["a.csv::CSV"])]),
        ("git apply <<'E'\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\nE", [("edit", ["a.py::Python"], ["a.py::Python"])]),
    ],
)  # fmt: skip
def test_a_command_does(script: str, acts: list[tuple[str, list[str], list[str]]]) -> None:
    assert _told(command_acts(script, Files())) == acts


@for_each(
    ("script", "told"),
    [
        ("cd src && pytest x", "cd src && pytest x"),
        (f"cd {ROOT}/src && pytest {ROOT}/src/x.py {ROOT}/y.py", "cd src && pytest x.py ../y.py"),
        (f"cd {ROOT} && pytest x", "pytest x"),
        ("cd src && cd .. && pytest", "pytest"),
        ("cd 'my src' && env CI=1 cargo test | tail -5", "cd 'my src' && CI=1 cargo test"),
        ("(cd web; npm test)", "cd web && npm test"),
        ("cd /elsewhere/src && pytest", "pytest"),
        ("cd $HERE && pytest", "pytest"),
        ("PYTHONPATH=/elsewhere:lib /usr/bin/python3 -m pytest", "python3 -m pytest"),
        (f"PYTHONPATH={ROOT}/lib pytest", "PYTHONPATH=lib pytest"),
    ],
)
def test_a_check_is_shown_as_a_user_would_type_it(script: str, told: str) -> None:
    (act,) = command_acts(script, Files([ROOT]))
    assert act.what == told


def test_a_path_of_the_project_is_no_part_of_another() -> None:
    files = Files(["/p"])
    assert files.shown("/usr/python/p /p/a.py /pp /p") == "/usr/python/p a.py /pp ."
    assert files.seen_from("a/b", "/p/a/b/c /p/a/d /p") == "c ../../a/d ../.."


def test_a_patch_adds_changes_moves_and_deletes() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a.py\n+import b\n+++ c\n*** Update File: b.py\n@@\n+x\n"
        "*** Update File: old.py\n*** Move to: new.py\n*** Delete File: d.py\n*** End Patch"
    )
    wanted = [
        ("write", [], ["a.py::Python"]),
        ("edit", ["b.py::Python"], ["b.py::Python"]),
        ("write", ["old.py::Python"], ["new.py::Python"]),
        ("delete", [], []),
        ("delete", [], []),
    ]
    ways: list[tuple[str, Mapping[str, object]]] = [
        ("apply_patch", {"input": patch}),
        ("apply_patch", {"patchText": patch}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'E'\n{patch}\nE"]}),
        ("shell", {"command": ["apply_patch", patch]}),
        ("exec", {"input": f"const r = await tools.apply_patch({_quoted(patch)}); text(r);"}),
    ]
    for name, arguments in ways:
        assert _told(_all((name, arguments, ""))) == wanted, name


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def test_a_program_of_tools_does_what_its_tools_do() -> None:
    program = 'const a = await tools.exec_command({cmd:"cat a.py"});\nawait tools.exec_command({"cmd": \'pytest b_test.py\'});'
    assert [act.deed for act in _all(("exec", {"input": program}, ""))] == [Deed.READ, Deed.TEST]
    assert [act.deed for act in _all(("exec", {"input": "text(1)"}, ""))] == [Deed.RUN]


@for_each(
    ("line", "deed"),
    [
        ("TaskCreate Write it", Deed.PLAN),
        ("TodoWrite 3 tasks", Deed.PLAN),
        ("update_plan 2 tasks", Deed.PLAN),
        ("write_todos 1 task", Deed.PLAN),
        ("wait_agent 2 agents", Deed.PLAN),
        ("TaskCreate", Deed.PLAN),
        ("WebFetch https://example.com", Deed.FETCH),
        ("web_search retry patterns", Deed.FETCH),
        ("mcp__fetch__fetch https://example.com", Deed.FETCH),
        ("mcp__github__create_issue x", Deed.OTHER),
        ("Glob **/*.py", Deed.SEARCH),
        ("LS src", Deed.SEARCH),
        ("Task Look into it", Deed.DELEGATE),
        ("spawn_agent Look into it", Deed.DELEGATE),
        ("write_stdin ", Deed.PLAN),
        ("frobnicate x", Deed.OTHER),
        ("cargo test -p core", Deed.TEST),
        ("read src/session/", Deed.READ),
        ("", Deed.OTHER),
    ],
)
def test_a_tool_is_of_a_kind(line: str, deed: Deed) -> None:
    assert [act.deed for act in _noted(line)] == [deed]


def test_paths_are_seen_from_the_project() -> None:
    files = Files([ROOT])
    assert files.path_of(f"{ROOT}/src/a.py") == "src/a.py"
    assert files.path_of("./src//a.py") == "src/a.py"
    assert files.path_of("a.py", "src/x/..") == "src/a.py"
    assert files.path_of("/tmp/x/a.py") == "a.py"
    assert files.path_of("../../a.py") == "a.py"
    files.learn("src/a.py")
    assert files.path_of("/elsewhere/src/a.py") == "src/a.py"
    assert files.path_of("C:\\work\\src\\a.py") == "src/a.py"
    assert not any(
        map(
            files.path_of,
            ["", ".", "..", "/", "a/", "/dev/null", "*.py", "$A/b", "https://x.org/a.py", "-", ROOT],
        )
    )


@given(st.text(max_size=40) | st.text(alphabet="./~\\ab,`->→:;[]{}#@\x01\u202e \n", max_size=30))
def test_a_file_s_name_is_legal_whatever_it_is(path: str) -> None:
    name = Files(["/home/x"]).path_of(path, "/home/x/y")
    _check_name(name)


def _check_name(name: str) -> None:
    """Never absolute, never upwards, and a flow that has it reads back as it."""
    if not name:
        return
    assert not name.startswith(("/", "~/"))
    assert ".." not in name.split("/")
    assert not any(c in name for c in "\n\r`,→")
    assert "->" not in name
    assert "::" not in name
    flow = Flow(((Datum(name, "Python"),), (Datum("made"),)))
    (read,) = read_flow_line(render_flow_line(flow), UNPLACED).flows
    assert read == flow


_SIGNS = st.text(alphabet="'\"`\\$(){}[]<>|&;#=\n .-/*aA0", max_size=60)
_WORDS = st.lists(
    st.sampled_from(
        [
            "cat",
            ">",
            "a.py",
            ">>",
            "<<E",
            "\nE\n",
            "sed",
            "-i",
            "s/a/b/",
            "python3",
            "-c",
            "'import|a'",
            "&&",
            "|",
            ";",
            "cd",
            "/x",
            "../y",
            "pytest",
            "cp",
            "mv",
            "rm",
            "tee",
            "b/c.ts",
            "~/z",
            "`x`",
            "$(y)",
            "xargs",
            "grep",
            "git",
            "rm",
            "apply_patch",
            "-",
            "-o",
            "--",
            "→",
            "a,b",
            "c::d",
        ]
    ),
    max_size=14,
).map(" ".join)
_RESULT = st.text(max_size=40) | st.just("./a.py:4: x\n/etc/passwd:1:root")


@given(
    st.sampled_from(["Bash", "exec_command", "Read", "Edit", "apply_patch", "exec", "Grep", "mcp__x__y", "make", "?"]),
    _SIGNS | _WORDS,
    _RESULT,
)
def test_any_call_has_acts_with_legal_names(tool: str, rest: str, result: str) -> None:
    acts = acts_of(ToolCall(f"{tool} {rest}".replace("\n", "⏎"), result), RecordedCalls(), Files())
    assert acts
    for act in acts:
        assert "\n" not in act.what
        for datum in (*act.reads, *act.writes):
            assert datum.name
            _check_name(datum.name)


@given(
    st.sampled_from(["Bash", "Read", "Write", "MultiEdit", "apply_patch", "exec", "Grep", "write_stdin", "read_many_files", "shell"]),
    st.dictionaries(
        st.sampled_from(["command", "cmd", "file_path", "path", "content", "edits", "paths", "input", "patch", "pattern", "url", "workdir", "chars", "text"]),
        st.none() | st.booleans() | st.integers() | _SIGNS | st.lists(_SIGNS | st.none() | st.dictionaries(_SIGNS, _SIGNS, max_size=2), max_size=3),
        max_size=4,
    ),
)  # fmt: skip
def test_any_arguments_have_acts(tool: str, arguments: dict[str, object]) -> None:
    for act in _all((tool, arguments, "x.py:3: a")):
        for datum in (*act.reads, *act.writes):
            _check_name(datum.name)


@pytest.mark.timed
@pytest.mark.parametrize(
    "script",
    [
        "cat a.py; " * 10_000, "echo x > a.py; " * 7_000, "grep x a.py | " * 7_000, "cat " + "a/" * 50_000, "python3 -c '" + "import a;" * 11_000,
        "cat > a.py <<E\n" + "from a import b\n" * 6_000, "pytest " + "a.py " * 20_000, "apply_patch <<E\n*** Begin Patch\n" + "*** Add File: a\n+x\n" * 5_000,
        "python3 - <<E\n" + "open('a','w')\n" * 7_000, "sed -i " + "-e x " * 20_000, "npx " * 25_000, "git " * 25_000, "find . | xargs " * 7_000, "cd a; cat b;" * 8_000,
        "curl " + "http://x.org/" * 8_000, "python3 - <<E\n" + "a = '" * 20_000,
    ],
    ids=range(16),
)  # fmt: skip
def test_a_command_of_40_kb_costs_little(script: str) -> None:
    before = time.process_time()
    command_acts(script[:40_000], Files())
    assert time.process_time() - before < 1


@pytest.mark.timed
def test_a_thousand_runs_of_all_tests_of_a_thousand_files_cost_little() -> None:
    files = Files()
    for at in range(1_000):
        files.write(f"src/m{at}.py")
    before = time.process_time()
    for _ in range(300):
        command_acts("pytest -q", files)
        command_acts("ruff check src", files)
    assert time.process_time() - before < 5
