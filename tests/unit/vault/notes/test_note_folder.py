"""A note's digest matches as long as the note is unchanged."""

from __future__ import annotations

import pytest

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Source
from crucible.vault.notes.note_folder import is_stamped, stamped
from tests.cases import for_each

NOTE = '---\ntype: case\nstatus: proposed\nsession: "[[s]]"\n---\n\n# Case\n'
BESIDES = ("session", "status")


def holds(text: str) -> bool:
    return is_stamped(Source(text), "written", BESIDES)


def test_a_stamp_is_the_last_property_and_holds() -> None:
    text = stamped(NOTE, "written", BESIDES)
    head, _, digest = text.split("\n---\n")[0].rpartition("\nwritten: ")
    assert head == NOTE.split("\n---\n", maxsplit=1)[0]
    assert len(digest.strip('"')) == 16
    assert holds(text)
    assert not holds(NOTE)


@pytest.mark.parametrize("text", [NOTE, NOTE.replace("\n", "\r\n"), "# No properties\n"])
def test_stamped_again_it_is_the_same(text: str) -> None:
    once = stamped(text, "written", BESIDES)
    assert stamped(once, "written", BESIDES) == once
    assert holds(once)


@for_each(
    ("old", "new", "still"),
    [
        ("status: proposed", "status: accepted", True),
        ("status: proposed\n", "", True),
        ("status: proposed", "status: rejected\nstatus: accepted", True),
        ('"[[s]]"', "[[t]]", True),
        ("\n", "\r\n", True),
        ("type: case", "type: Case", False),
        ("# Case", "# Case ", False),
        ("status: proposed", "mine: 1\nstatus: proposed", False),
        ("status: proposed", "# mine\nstatus: proposed", False),
        ("status: proposed", 'status: "prop', False),
        ("---\n\n#", "\n#", False),
    ],
)
def test_what_is_besides_may_change_and_nothing_else(old: str, new: str, *, still: bool) -> None:
    text = stamped(NOTE, "written", BESIDES)
    assert old in text
    assert holds(text.replace(old, new)) is still


def test_broken_properties_are_not_stamped() -> None:
    with pytest.raises(EditRefused):
        stamped("---\na: [\n---\n", "written")
