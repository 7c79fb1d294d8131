"""Parsing shell scripts: quoting, here-documents, redirections, wrappers, and any text at all."""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.tools.shell_parser import ShellCommand, parse_script
from crucible.analysis.tools.shell_paths import command_text
from crucible.documents.workflow.workflow_reader import gc_paused
from tests.cases import for_each


def _words(script: str) -> list[tuple[str, ...]]:
    return [part.words for part in parse_script(script)]


def _only(script: str) -> ShellCommand:
    (part,) = parse_script(script)
    return part


@for_each(
    ("script", "words"),
    [
        ("ls && cat app.py", [("ls",), ("cat", "app.py")]),
        ("a; b\nc & d || e", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("echo 'a b' \"c d\" e\\ f $'g\\nh'", [("echo", "a b", "c d", "e f", "g\nh")]),
        ("echo a\\\n b", [("echo", "a", "b")]),
        ("echo '' \"\"", [("echo", "", "")]),
        ("echo a#b # rm -rf x", [("echo", "a#b")]),
        ("if [ -f a ]; then cat a; else cat b; fi", [("cat", "a"), ("cat", "b")]),
        ('for f in a b; do wc "$f"; done', [("wc", "$f")]),
        ("while true; do ls; done", [("true",), ("ls",)]),
        ("! grep x y", [("grep", "x", "y")]),
        ("{ ls; cat a; }", [("ls",), ("cat", "a")]),
        ("sudo -u me timeout 9 make test", [("make", "test")]),
        ("env -i A=b nohup python x.py &", [("python", "x.py")]),
        ("nice -n 5 stdbuf -oL make", [("make",)]),
        ("time pytest", [("pytest",)]),
        ("bash -lc 'cat a; ls'", [("cat", "a"), ("ls",)]),
        ("/bin/sh -c \"bash -c 'cat a'\"", [("cat", "a")]),
        ("bash <<'E'\ncat a\nE", [("cat", "a")]),
        ("bash run.sh -c x", [("bash", "run.sh", "-c", "x")]),
        ("eval cat a", [("cat", "a")]),
        ("x=$(cat a)", [("cat", "a")]),
        ('echo "a $(cat b) c"', [("cat", "b"), ("echo", "a $(cat b) c")]),
        ("echo `cat b`", [("cat", "b"), ("echo", "`cat b`")]),
        ("diff <(sort a) b", [("sort", "a"), ("diff", "<(sort a)", "b")]),
        ("find . | xargs -n 1 grep x", [("find", "."), ("grep", "x")]),
        ("[[ a < b ]] && cat c", [("cat", "c")]),
    ],
)
def test_the_commands_of_a_script_are_found_in_order(script: str, words: list[tuple[str, ...]]) -> None:
    assert _words(script) == words


def test_redirections_are_the_files_read_written_and_added_to() -> None:
    part = _only("sort -u < in.txt > out.txt 2>> err.log")
    assert (part.words, part.takes, part.gives, part.adds) == (
        ("sort", "-u"),
        ("in.txt",),
        ("out.txt",),
        ("err.log",),
    )


@pytest.mark.parametrize("script", ["make 2>&1", "make >&2", "make 1>&2 2>&-"])
def test_a_stream_that_goes_to_a_stream_is_no_file(script: str) -> None:
    assert _only(script) == ShellCommand(("make",))


@pytest.mark.parametrize("script", ["make &> log", "make >& log", "make >| log", "make >log"])
def test_every_way_to_overwrite_a_file_is_recognised(script: str) -> None:
    assert _only(script).gives == ("log",)


def test_a_here_document_is_what_its_command_is_fed_and_its_lines_are_no_commands() -> None:
    parts = parse_script("cat <<'A' > x && cat <<-B >> y\nrm x > z\nA\n\tq\n\tB\nls")
    assert [(p.words, p.gives, p.adds, p.fed) for p in parts] == [
        (("cat",), ("x",), (), "rm x > z\n"),
        (("cat",), (), ("y",), "q\n"),
        (("ls",), (), (), None),
    ]


def test_a_here_document_without_its_end_goes_to_the_end() -> None:
    assert _only("cat > a <<E\nx\nrm b").fed == "x\nrm b\n"


def test_a_message_in_a_here_document_within_a_substitution_is_no_command() -> None:
    script = 'git commit -m "$(cat <<\'EOF\'\nFix "foo" > bar (x)\nEOF\n)" && ls > out'
    parts = parse_script(script)
    assert [p.words[0] for p in parts] == ["cat", "git", "ls"]
    assert [p.gives for p in parts] == [(), (), ("out",)]


def test_cd_is_the_folder_of_what_follows_and_ends_with_its_parentheses() -> None:
    parts = parse_script("cd src && (cd sub; cat a) && cat b; cd /x; cat c")
    assert [(p.folder, p.words[-1]) for p in parts] == [("src/sub", "a"), ("src", "b"), ("/x", "c")]


def test_settings_before_a_command_are_kept_beside_it() -> None:
    part = _only("A=1 B='x y' pytest -q")
    assert (part.settings, part.words) == (("A=1", "B=x y"), ("pytest", "-q"))


def test_only_what_reads_from_a_pipe_is_piped() -> None:
    assert [p.piped for p in parse_script("a | b |& c; d | xargs e")] == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("A=1 B='x y' pytest ''", "A=1 B='x y' pytest ''"),
        ('PATH=$PWD/bin:$PATH X="$Y \\"z" pytest', 'PATH=$PWD/bin:$PATH X="$Y \\"z" pytest'),
        ("env CI=1 sudo B=2 pytest -q", "CI=1 B=2 pytest -q"),
        ("A= pytest", "A= pytest"),
    ],
)
def test_quoted_settings_keep_their_meaning(script: str, told: str) -> None:
    assert command_text(_only(script)) == told


PLAIN = ("cd", "a", "b/c.py", "A=1", "-c", "bash", "timeout", "9", "if", "time", "[", "for", "sudo", "éa", "%1", "", "..")  # fmt: skip


@given(st.lists(st.sampled_from(PLAIN), max_size=6))
def test_plain_words_are_the_same_command_however_a_script_ends(words: list[str]) -> None:
    assert parse_script(" ".join(words)) == parse_script(" ".join(words) + " \n")


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    words = ["command-of-mine", *words]
    assert _words(shlex.join(words)) == [tuple(words)]


@given(st.lists(st.from_regex(r"[a-z$#'\"\\ ()&;<>|\n\t]{1,10}", fullmatch=True), min_size=1, max_size=5))
def test_the_text_of_a_command_is_read_as_the_same_words(words: list[str]) -> None:
    part = ShellCommand(("command-of-mine", *words))
    assert _only(command_text(part)).words == part.words


_SIGNS = "'\"`\\$(){}[]<>|&;#!=\n\t *?~-_./aA0cE"


@given(st.text(alphabet=_SIGNS, max_size=120) | st.text(max_size=80))
def test_any_text_has_an_answer(script: str) -> None:
    for part in parse_script(script):
        assert all(isinstance(word, str) for word in (*part.words, *part.takes, *part.gives, *part.adds))


_HOSTILE = [
    "$(", "'", '"$(', "<<a ", "$(<<a ", "`", "(", "a|", "<<E\n", "\\", "bash -c ", "cd a;", "<(", '"`', "sudo ", "eval ",
    "$(eval ", "\n'", '"$(<<a\n', "a=", "x>y ", "${", "((", "case x in ", '"\\', "$'", "<<'", "<<-\t", "$(cat <<E\n", "if ", "grep x | ", "'<<a ' ", "<<a\\\n",
]  # fmt: skip


@pytest.mark.timed
@pytest.mark.parametrize("piece", _HOSTILE, ids=repr)
def test_a_long_hostile_command_costs_ten_times_what_a_tenth_of_it_costs(piece: str) -> None:
    @gc_paused()  # else the collector looks at all that other tests left
    def cost(size: int) -> float:
        script = (piece * (size // len(piece) + 1))[:size]
        before = time.process_time()
        parse_script(script)
        return time.process_time() - before

    small = min(cost(5_000) for _ in range(3))
    large = next((taken for taken in (cost(50_000) for _ in range(3)) if taken <= 25 * small + 0.05), None)
    assert large is not None, small
