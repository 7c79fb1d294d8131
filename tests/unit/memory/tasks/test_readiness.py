"""Tasks are in progress, ready or blocked, for any dependencies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crucible.memory.tasks.readiness import MOST_RECENT, circles_of, cut_status, status_of
from crucible.memory.tasks.task import OpenTask, Ref, Stage, stage_of

IDS = st.sampled_from("abcdefgh")
TASKS = st.lists(
    st.builds(
        OpenTask,
        st.builds(Ref, st.sampled_from(["s", "t"]), IDS),
        st.text(max_size=5),
        st.sampled_from(Stage),
        st.sampled_from(["high", "medium", "low", "odd"]),
        st.lists(st.sampled_from("abcdefghxyz"), max_size=4).map(tuple),
        st.booleans(),
        st.none(),
        st.one_of(
            st.none(),
            st.text(max_size=4),
            st.datetimes(timezones=st.just(None)).map(str),
            st.datetimes(timezones=st.timezones()).map(str),
        ),
    ),
    max_size=12,
)


def task(ident: str, *needs: str, stage: Stage = Stage.PENDING, session: str = "s", **more: object) -> OpenTask:
    return OpenTask(Ref(session, ident), ident, stage, needs=needs, **more)  # type: ignore[arg-type]


def ids(standings: tuple) -> list[str]:
    return [one.task.ref.id for one in standings]


def test_the_four_lists_of_the_specification() -> None:
    done = [task(i, stage=Stage.COMPLETED) for i in "123"]
    work = [task("4", "2", "3", stage=Stage.IN_PROGRESS), task("5", "4", stage=Stage.IN_PROGRESS)]
    status = status_of([*done, *work, task("6"), task("7", "1"), task("8", "5", "6")])
    assert ids(status.in_progress) == ["4", "5"]
    assert ids(status.ready) == ["6", "7"]
    assert ids(status.blocked) == ["8"]
    assert [one.ref.id for one in status.blocked[0].waits_for] == ["5", "6"]
    assert status.in_progress[0].waits_for == ()
    assert (status.completed, status.in_progress_count, status.pending) == (3, 2, 3)


def test_lists_of_other_sessions_hold_nothing_up() -> None:
    status = status_of([task("1", session="other"), task("2", "1")])
    assert ids(status.ready) == ["1", "2"]
    assert status.ready[1].unknown == ("1",)


def test_a_circle_is_listed_once_and_its_dependents_are_blocked() -> None:
    status = status_of([task("a", "b"), task("b", "c"), task("c", "a"), task("d", "a"), task("e")])
    assert [[one.ref.id for one in ring] for ring in status.circles] == [["a", "b", "c"]]
    assert ids(status.blocked) == ["a", "b", "c", "d"]
    assert ids(status.ready) == ["e"]


def test_a_task_that_waits_for_itself_is_a_circle() -> None:
    assert [[one.ref.id for one in ring] for ring in circles_of([task("a", "a")])] == [["a"]]


def test_a_completed_task_breaks_the_circle() -> None:
    status = status_of([task("a", "b"), task("b", "a", stage=Stage.COMPLETED)])
    assert not status.circles
    assert ids(status.ready) == ["a"]


def test_a_dropped_task_blocks_nothing_and_is_not_counted() -> None:
    status = status_of([task("a", stage=Stage.DROPPED), task("b", "a")])
    assert ids(status.ready) == ["b"]
    assert (status.completed, status.in_progress_count, status.pending) == (0, 0, 1)


def test_a_task_that_its_list_calls_blocked_is_blocked() -> None:
    assert ids(status_of([task("a", held=True)]).blocked) == ["a"]


def test_a_chain_and_a_circle_of_twenty_thousand_tasks_are_no_trouble() -> None:
    count = 20_000
    chain = [task(str(n), str(n + 1)) for n in range(count)]
    assert len(status_of([*chain, task(str(count))]).blocked) == count
    assert len(circles_of([*chain, task(str(count), "0")])[0]) == count + 1


def test_the_latest_ten_completed_tasks_are_listed() -> None:
    done = [task(str(n), stage=Stage.COMPLETED, completed=f"2026-01-{n:02}T10:00:00Z") for n in range(1, 15)]
    status = status_of([*done, task("x", stage=Stage.COMPLETED, completed="yesterday")])
    assert [one.ref.id for one in status.recent] == [str(n) for n in range(14, 4, -1)]
    assert status.completed == 15


def test_higher_priority_comes_first() -> None:
    status = status_of([task("a", priority="low"), task("b"), task("c", priority="high")])
    assert ids(status.ready) == ["c", "b", "a"]


def test_words_for_a_stage_in_any_dress() -> None:
    assert stage_of("In-Progress") is Stage.IN_PROGRESS
    assert stage_of(" Cancelled ") is Stage.DROPPED
    assert stage_of("whatever") is Stage.PENDING


@given(TASKS)
def test_every_task_that_is_not_over_is_in_exactly_one_list(tasks: list[OpenTask]) -> None:
    status = status_of(tasks)
    shown = [one.task for one in (*status.in_progress, *status.ready, *status.blocked)]
    unfinished = [one for one in tasks if one.stage in {Stage.PENDING, Stage.IN_PROGRESS}]
    assert sorted(map(repr, shown)) == sorted(map(repr, unfinished))
    assert status.completed + status.in_progress_count + status.pending == sum(
        one.stage is not Stage.DROPPED for one in tasks
    )
    assert len(status.recent) == min(status.completed, MOST_RECENT)


@given(TASKS)
def test_a_ready_task_waits_for_no_unfinished_task(tasks: list[OpenTask]) -> None:
    open_ = {one.ref for one in tasks if one.stage in {Stage.PENDING, Stage.IN_PROGRESS}}
    status = status_of(tasks)
    for one in status.ready:
        assert not any(Ref(one.task.ref.session, need) in open_ for need in one.task.needs)
        assert not one.task.held
    for one in status.blocked:
        assert one.waits_for or one.task.held


@given(TASKS)
def test_a_task_is_in_a_circle_when_it_can_be_come_back_to(tasks: list[OpenTask]) -> None:
    """Held against walking every way."""
    open_ = [one for one in tasks if one.stage in {Stage.PENDING, Stage.IN_PROGRESS}]

    def reaches_itself(start: int) -> bool:
        seen: set[int] = set()
        front = [start]
        while front:
            here = open_[front.pop()]
            for at, other in enumerate(open_):
                if other.ref.session == here.ref.session and other.ref.id in here.needs:
                    if at == start:
                        return True
                    if at not in seen:
                        seen.add(at)
                        front.append(at)
        return False

    circles = circles_of(tasks)
    turning = [id(one) for ring in circles for one in ring]
    assert len(turning) == len(set(turning))
    assert set(turning) == {id(one) for at, one in enumerate(open_) if reaches_itself(at)}


@given(TASKS, st.integers(-1, 15))
def test_a_cut_status_shows_no_more_and_counts_the_same(tasks: list[OpenTask], most: int) -> None:
    whole = status_of(tasks)
    cut = cut_status(whole, most)
    lists = (cut.in_progress, cut.ready, cut.blocked, cut.recent)
    assert sum(map(len, lists)) <= max(most, 0)
    assert (cut.completed, cut.in_progress_count, cut.pending) == (
        whole.completed,
        whole.in_progress_count,
        whole.pending,
    )
    assert len(cut.in_progress) + len(cut.ready) + len(cut.blocked) + cut.left_out == (
        whole.in_progress_count + whole.pending
    )
    if cut.ready:
        assert cut.in_progress == whole.in_progress
