"""After any sequence of actions by users, editors, git, `cru` and crashes, the index equals a rebuild, row for row."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from crucible.core.errors import CrucibleError
from crucible.documents.session.task_edits import set_field
from crucible.vault.index.index import Index
from crucible.vault.index.schema import TABLES
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_for_file_clock
from tests.killing import in_child, killed_at_call
from tests.unit.vault.index.tables import (
    SETTINGS,
    new_vault,
    note,
    paths_of,
    same_as_rebuilt,
    write,
    writes_the_index,
)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL"),
    # Python 3.12 warns of forks beside threads, which pytest-xdist has; the child uses none of them.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

SEQUENCES = {"soak": 1000, "mutants": 3}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 10)

FOLDERS = ("sessions", "sessions/s", "sessions/s/t", "sessions/u.md")
folders = st.sampled_from(FOLDERS)
names = st.sampled_from(("a.md", "b.md", "c.MD", "é\ufffd.md", os.fsdecode(b"\xff.md"), '"x, y".md'))
paths = st.builds("{}/{}".format, folders, names)
texts = st.one_of(
    st.builds(
        note,
        st.sampled_from(("one", "two", 'a "b", c', "")),
        st.sampled_from(("2026-11-21T20:26:47Z", "2026-10-01T00:00:00Z", "2025-01-01T00:00:00+02:00", None)),
    ),
    st.sampled_from(("", "no session", "---\nstarted: [\n---\n", "---\nsession_id: other\n---\n## P @x\n")),
    st.sampled_from((b"\xff\xfe\x00", b"---\r\nstarted: 2026-10-01\r\n---\r\n# T \xff\r\n")),
)
numbers = st.integers(0, 10_000)


class IndexedVault(RuleBasedStateMachine):
    """A vault on disk that many hands change; what is drawn as a number chooses among what is there."""

    @initialize()
    def begin(self) -> None:
        self.place = Path(tempfile.mkdtemp())
        self.root = new_vault(self.place / "v")

    def teardown(self) -> None:
        if not hasattr(self, "place"):
            return
        try:
            found = same_as_rebuilt(self.root)
            assert not found.unsaved
            vault = Vault(self.root, SETTINGS)
            assert len(paths_of(found)) == len(vault.session_paths())
            assert same_as_rebuilt(self.root).changes == ()
        finally:
            shutil.rmtree(self.place)

    # What people and editors do

    @rule(path=paths, text=texts)
    def write(self, path: str, text: str | bytes) -> None:
        if self._is_free(path):
            write(self.root, path, text)

    @rule(path=paths, text=texts)
    def save_as_an_editor_does(self, path: str, text: str | bytes) -> None:
        if self._is_free(path):
            write(self.root, "sessions/.saving", text).replace(write(self.root, path, b""))

    @rule(number=numbers)
    def edit_keeping_size_and_time(self, number: int) -> None:
        path = self._note(number)
        if path is None:
            return
        before = path.stat()
        data = path.read_bytes()
        path.write_bytes(data.replace(b"one", b"eno") if b"one" in data else data.replace(b"2", b"1"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(number=numbers)
    def touch(self, number: int) -> None:
        if path := self._note(number):
            os.utime(path)

    @rule(number=numbers, seconds=st.sampled_from((0, 1, 4_000_000_000)))
    def set_the_time(self, number: int, seconds: int) -> None:
        if path := self._note(number):
            os.utime(path, (seconds, seconds))

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        if path := self._note(number):
            path.unlink()

    @rule(number=numbers, to=paths)
    def move(self, number: int, to: str) -> None:
        path = self._note(number)
        if path and self._is_free(to):
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            path.replace(self.root / to)

    @rule(one=numbers, two=numbers)
    def exchange(self, one: int, two: int) -> None:
        first, second = self._note(one), self._note(two)
        if first and second and first != second:
            first.rename(self.root / "x")
            second.rename(first)
            (self.root / "x").rename(second)

    @rule(folder=folders)
    def delete_a_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    @rule(folder=folders, to=folders)
    def move_a_folder(self, folder: str, to: str) -> None:
        if (self.root / folder).is_dir() and not to.startswith(folder) and not (self.root / to).exists():
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / folder).rename(self.root / to)

    @rule(folder=folders)
    def replace_a_folder_by_a_symlink(self, folder: str) -> None:
        path = self.root / folder
        if path.is_dir() and not path.is_symlink() and folder != "sessions":
            other = self.root / "sessions" / "z"
            shutil.rmtree(other, ignore_errors=True)
            if path.is_dir():  # it may have been in there, behind another symlink
                path.rename(other)
                path.symlink_to(other)

    @rule(path=paths, to=paths)
    def link(self, path: str, to: str) -> None:
        if self._is_free(path) and not os.path.lexists(self.root / path):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).symlink_to(self.root / to)

    @rule(number=numbers)
    def put_a_folder_in_place_of_a_note(self, number: int) -> None:
        if path := self._note(number):
            path.unlink()
            path.mkdir()

    @rule()
    def wait(self) -> None:
        wait_for_file_clock()

    # What `cru` does

    @rule(number=numbers, value=st.sampled_from(("failed", "completed", "paused")))
    def save_through_the_vault(self, number: int, value: str) -> None:
        path = self._note(number)
        if path is None:
            return
        try:
            Vault(self.root, SETTINGS).update(
                path, lambda given: set_field(given.source, given.session, "status", value)
            )
        except CrucibleError:  # a note that cannot take the field
            return
        Index(self.root, SETTINGS).refresh([path])

    @rule(places=st.lists(st.one_of(paths, folders, st.just("sessions/z")), min_size=1, max_size=4))
    def refresh_some_places(self, places: list[str]) -> None:
        Index(self.root, SETTINGS).refresh([self.root / place for place in places])

    @rule()
    def refresh(self) -> None:
        Index(self.root, SETTINGS).refresh()

    @rule()
    def compare(self) -> None:
        same_as_rebuilt(self.root)

    @rule(number=st.integers(1, 1500))
    def refresh_and_be_killed(self, number: int) -> None:
        killed_at_call(number, Index(self.root, SETTINGS).refresh, writes_the_index)

    @rule(number=numbers, text=texts)
    def refresh_in_two_processes_at_once(self, number: int, text: str | bytes) -> None:
        path = self._note(number)

        def refresh_twice() -> None:
            index = Index(self.root, SETTINGS)
            index.refresh()
            index.ask(lambda view: [list(view.rows(table)) for table in TABLES])

        def both() -> None:
            child = os.fork()
            if not child:
                os._exit(in_child(refresh_twice))
            refresh_twice()
            if os.waitpid(child, 0)[1]:
                os._exit(2)

        child = os.fork()
        if not child:
            os._exit(in_child(both))
        if path:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        assert os.waitpid(child, 0)[1] == 0

    @rule(number=numbers, at=numbers, how=st.sampled_from(("cut", "flip", "random", "delete", "empty", "fold")))
    def damage_the_index(self, number: int, at: int, how: str) -> None:
        files = sorted(path for path in (self.root / ".crucible").rglob("*") if path.is_file() and path.name != "lock")
        if not files:
            return
        path = files[number % len(files)]
        data = bytearray(path.read_bytes())
        if how in {"delete", "fold"}:
            path.unlink()
            if how == "fold" and path.name != "manifest.toon":  # in whose place nothing could be kept
                path.mkdir()
        elif data:
            at %= len(data)
            data[at] ^= 1 << at % 8
            changed = {"cut": data[:at], "flip": data, "random": os.urandom(len(data)), "empty": b""}
            path.write_bytes(bytes(changed[how]))

    @rule()
    def delete_the_index(self) -> None:
        shutil.rmtree(self.root / ".crucible" / "index", ignore_errors=True)

    def _is_free(self, path: str) -> bool:
        """Whether a note may be written there."""
        folder = (self.root / path).parent
        while folder != self.root:
            if os.path.lexists(folder) and not folder.is_dir():
                return False
            folder = folder.parent
        return not (self.root / path).is_dir() and not (self.root / path).is_symlink()

    def _note(self, number: int) -> Path | None:
        """One of the notes that are files."""
        found = sorted(path for path in (self.root / "sessions").rglob("*") if path.is_file())
        return found[number % len(found)] if found else None


TestTheIndex = IndexedVault.TestCase
TestTheIndex.settings = settings(
    max_examples=SEQUENCES,
    stateful_step_count=25,
    deadline=None,
    # Explaining a failure takes minutes: each sequence forks and waits.
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
