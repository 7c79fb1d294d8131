"""The ordinary work of a session, of which nothing is worth keeping."""

from __future__ import annotations

from tests.capture.planted.plot import Plot

__all__ = ["change", "follow_up", "goal", "look"]


def goal(plot: Plot) -> str:
    """What the session is for."""
    return plot.fill(plot.any_of(plot.book.goals))


def look(plot: Plot) -> None:
    """Something is read."""
    plot.mumble(plot.book.looks)
    plot.talking = True
    names, trunk = plot.names, plot.trunk
    match plot.rng.randrange(4):
        case 0:
            trunk.read(names.src, "\n".join(f"line {n}" for n in range(names.n)))
        case 1:
            trunk.read(names.test, "one\ntwo\nthree")
        case 2:
            trunk.shell("git status --short", f" M {names.src}")
        case _:
            trunk.shell(f"grep -n {names.func} {names.src}", f"{names.n}: {names.func}")


def change(plot: Plot) -> None:
    """Something is written."""
    plot.mumble(plot.book.changes)
    if plot.rng.random() < 0.2:
        plot.talking = True
        plot.trunk.write(
            plot.names.src.replace(plot.names.mod, f"{plot.names.mod}_{plot.rng.randrange(90)}"),
            "one\ntwo\nthree",
        )
    for _ in range(plot.rng.choices([1, 2], [75, 25])[0]):
        plot.edit()


def follow_up(plot: Plot) -> None:
    """A later prompt, which begins a phase."""
    plot.ask(plot.fill(plot.any_of(plot.book.follow_ups)))
