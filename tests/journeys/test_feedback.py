"""Whether an item of knowledge helped: asked on a terminal, and answered there."""

from __future__ import annotations

import pytest

from crucible.memory.knowledge.knowledge_folder import load_items
from crucible.vault.notes.vault import Vault
from tests.journeys.terminals import Typing
from tests.running import Cru

ASKS = "Did “Retry with jitter” help?"


@pytest.fixture
def known(vault: Vault, cru: Cru) -> Vault:
    """A vault with an item, in which every recall asks."""
    config = vault.root / ".crucible" / "config.toml"
    config.write_text("[knowledge]\nask_one_in = 1\n")
    assert cru("knowledge", "add", "pattern", "Retry with jitter", "At most five times.").exit_code == 0
    return vault


def uses(vault: Vault) -> tuple[int, int]:
    [item] = [one.item for one in load_items(vault) if one.item]
    return item.use_count, item.useful_count


@pytest.mark.parametrize(("keys", "counted"), [("y\n", (1, 1)), ("n\n", (1, 0)), ("\n", (0, 0)), ("\x04", (0, 0))])
def test_a_recall_on_a_terminal_takes_the_answer(known: Vault, keys: str, counted: tuple[int, int]) -> None:
    with Typing("--vault", known.root, "recall", "jitter", cwd=known.root) as terminal:
        terminal.see(ASKS)
        terminal.type(keys)
        assert terminal.end() == 0
    assert uses(known) == counted


def test_feedback_without_an_option_asks_on_a_terminal(known: Vault) -> None:
    with Typing("--vault", known.root, "knowledge", "feedback", "retry-with-jitter", cwd=known.root) as terminal:
        terminal.see(ASKS)
        terminal.type("y\n")
        assert terminal.end() == 0
    assert uses(known) == (1, 1)


def test_a_recall_in_a_pipe_asks_nothing(known: Vault, cru: Cru) -> None:
    result = cru("recall", "jitter")
    assert (result.exit_code, result.stderr) == (0, "")
