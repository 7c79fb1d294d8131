"""Words lean towards a choice or a way by weights that were fitted to what is still in the tree."""

from __future__ import annotations

from benchmarks.capture_fit import fitted_to
from crucible.capture.leanings import leanings
from crucible.capture.sentences import sentences_of
from crucible.capture.weights import TABLE, shaped


def test_the_table_is_fitted_to_the_wordings_and_marks_as_they_are() -> None:
    assert TABLE.read_text("utf-8").startswith(f"# fitted to {fitted_to()}\n"), (
        "python -m benchmarks.capture_fit"
    )


def test_the_names_of_things_are_all_the_same() -> None:
    known = frozenset({"use", "for", "not"})
    assert shaped("use frobs for gizmos, not blergs", known) == ("use", "*", "for", "*", ",", "not", "*")


def test_a_choice_leans_more_than_the_next_step() -> None:
    choice, step = leanings(
        sentences_of("We take gizmos over blergs for the frobs.\n\nNow I run the tests.", 1)
    )
    assert choice.chances.choice > 2 * step.chances.choice
