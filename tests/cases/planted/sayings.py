"""What people and agents say: corrections, wishes that are none, decisions, and sentences that only sound like them.

Owns the words.  Slots are those of `stacks.Names`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CHOICES", "CORRECTIONS", "DECISIONS", "FOLLOW_UPS", "GOALS", "MIDWAY", "MIDWAY_NOISE", "PROSE_DECISIONS", "SOUNDS_LIKE",
    "Correcting", "Deciding",
]  # fmt: skip


class Correcting(NamedTuple):
    """The user's words, and what the agent says when it does otherwise."""

    tone: str
    words: str
    reply: str


CORRECTIONS = (
    Correcting("no", "No, <field> must never be negative. Clamp it at zero.", "You are right, I'll clamp it."),
    Correcting("no", "no. <func> has to stay synchronous", "Understood, I'll take the async part out again."),
    Correcting("no", "Nope, wrong file. I meant <test>.", "Sorry, I'll move the change over to the test."),
    Correcting("curt", "wrong. the <field> comes from the header not the body", "Reading it from the header now."),
    Correcting("flat", "It must be per tenant, not global", "Understood, per tenant rather than global."),
    Correcting("flat", "It should keep the old <field> when the new one is empty, not overwrite it.", "I see, an empty one must not win. Changing that."),
    Correcting("dont", "Don't touch <test>, only fix the code.", "I'll put the test back as it was and change the code alone."),
    Correcting("dont", "please don't add a dependency for this, the standard library can do it", "Then I'll write it with the standard library."),
    Correcting("dont", "Do not catch every exception there! Only the timeout.", "I'll narrow it to the timeout."),
    Correcting("meant", "That's not what I meant. I wanted <func> to be faster, not to return less.", "I misunderstood you; all rows come back and I'll look at the time."),
    Correcting("meant", "not what I asked for - I asked for a flag, you made it the default", "I'll turn it into a flag that is off."),
    Correcting("meant", "You misunderstood: the limit is for the whole batch.", "Then the count has to be over the batch."),
    Correcting("instead", "Use a migration instead of editing the table by hand.", "I'll write a migration for it."),
    Correcting("instead", "Can you do this with a plain loop instead? The comprehension is unreadable.", "A plain loop it is."),
    Correcting("instead", "Rather than a new class, put this into <mod>.", "I'll fold the class into the module."),
    Correcting("revert", "Please revert that last change, it breaks the nightly job.", "Reverting it."),
    Correcting("revert", "undo the rename please. everybody else still calls it <func>", "The old name is coming back."),
    Correcting("revert", "Roll this back, we never change published interfaces.", "I'll restore the interface and add to it."),
    Correcting("forgot", "You forgot to handle an empty <field>.", "True, an empty one was not handled. Adding that."),
    Correcting("forgot", "this ignores the time zone, fix that", "I'll carry the time zone through."),
    Correcting("forgot", "You only changed one of the two callers.", "The second caller is missing indeed."),
    Correcting("broken", "that's still broken, <func> returns None for guests", "I'll look at guests, too."),
    Correcting("broken", "This doesn't work: the button stays grey after saving.", "I see it; the state is not refreshed."),
    Correcting("broken", "Your fix hides the warning but the value is still wrong.", "I'll go for the value itself."),
    Correcting("polite", "Could you please keep the public name as it was? Renaming it was not part of the task.", "Of course, the name goes back."),
    Correcting("polite", "Thanks, but I'd rather have the check in <func> than in every caller.", "I'll move the check into it."),
    Correcting("polite", "Almost! The order of the arguments should be the other way round, though.", "Swapping them."),
    Correcting("stern", "Stop inventing options. There is no <field> in our config.", "I'll take the option out and read what is there."),
    Correcting("stern", "I told you before: never write to production from a script.", "I'll point it at staging and add a guard."),
    Correcting("stern", "Too complicated. Ten lines are enough here.", "I'll cut it down."),
    Correcting("fact", "Actually the <field> is in cents, so dividing by 100 twice is wrong.", "Then one of the two divisions goes."),
    Correcting("fact", "the API returns a list there, you treat it as a dict", "I'll read it as a list."),
    Correcting("fact", "Wrong assumption: <mod> is used by the mobile app, too.", "Then both shapes have to be kept."),
    Correcting("style", "We write tests with fixtures here, not with setUp.", "I'll use fixtures as the others do."),
)  # fmt: skip

MIDWAY = (
    Correcting("stop", "stop, not in that folder", "I'll work in the right folder."),
    Correcting("stop", "wait, that deletes the cache for everybody. only drop the key of <mod>", "Only that key, then."),
    Correcting("no", "no no, keep the old column until the release", "The old column stays."),
    Correcting("flat", "you're editing a generated file, change the template", "Then the template it is."),
    Correcting("dont", "don't run the whole suite, it costs money. only <test>", "Only that one from here on."),
    Correcting("instead", "use the existing helper in <mod> instead of writing a new one", "I'll use what is there."),
)  # fmt: skip
"""Said while the agent works, or to a call that is refused."""

MIDWAY_NOISE = (
    "btw the staging database is up again",
    "take your time",
    "I'm off for lunch, go on without me",
    "fyi the failing job on main has nothing to do with this",
    "looks good so far",
)

FOLLOW_UPS = (
    "Now add docs for <func>.", "thanks!", "continue", "Go on.", "Great, now do the same for the other module.", "Why did you put <field> first?",
    "And add a test for an empty <field>, please.", "Thank you. Please commit this.", "What does <func> return for a guest?", "ok, next: the changelog",
    "No problem, ship it.", "No need to rush. What is left?", "Don't worry about the warnings, just go on.", "Nothing wrong with that. Please write the release note.",
    "Perfect, that's exactly what I wanted. Can you also show me how to call it?", "Could you explain the error handling in <mod>?", "Why did the first run fail?",
    "Is there a reason not to cache this?", "Run it once more with <n> rows and tell me the time.", "Let's also cover the case of two <field>s.",
    "Looks right to me, open a pull request.", "How would I undo this later?", "Next, extend <func> to accept a list.", "Summarise what you changed.",
    "Also log the <field> when it is unusual.", "yes please", "Do you think <m> is enough?", "I haven't decided about the name yet; leave it for now and write the tests.",
)  # fmt: skip
"""Later prompts that correct nothing."""

GOALS = (
    "Add <func> to <mod>", "Fix the bug in <func> that loses the <field>", "Make <func> handle a missing <field>", "Refactor <mod> so that <func> can be tested",
    "Speed up <func>, it takes <n> ms", "The <field> in <mod> is wrong for new accounts, find out why", "Write tests for <func> in <mod>",
    "Migrate <mod> to the new <field> format", "Please review <mod> and clean up what is dead", "Users report an error in <func> when <field> is empty. Reproduce and fix it.",
    "Show the failed logins of the last day on the <mod> page", "Implement retries with a limit of <n> in <func>", "Prepare <mod> for the release on Friday",
    "Upgrade <mod> and make sure nothing breaks", "Add an audit trail to <func>", "Explain how <mod> computes the <field>, then make it configurable",
)  # fmt: skip


class Deciding(NamedTuple):
    """A choice between two things: which, over which, and why."""

    choice: str
    over: str
    why: str


CHOICES = (
    Deciding("a token bucket", "a sliding log", "it needs constant memory per key"), Deciding("exponential backoff with jitter", "a fixed pause", "it keeps clients from coming back all at once"),
    Deciding("SQLite", "a server of its own", "one file is all there is to back up"), Deciding("a dict keyed by tenant", "one global list", "tenants must not see each other"),
    Deciding("server-side rendering", "a client-side fetch", "the first paint must not wait for two requests"), Deciding("a cursor", "offset paging", "rows may be inserted meanwhile"),
    Deciding("feature flags", "a long-lived branch", "the change can be taken back without a deployment"), Deciding("an advisory lock", "a lock file", "it goes away with the connection"),
    Deciding("Parquet", "CSV", "the types survive the trip"), Deciding("a materialized view", "a nightly job", "it is refreshed where the data is"),
    Deciding("UUIDv7 keys", "serial keys", "they sort by time and need no round trip"), Deciding("a visitor", "a switch over all nodes", "new node kinds must fail to compile"),
    Deciding("an arena", "reference counting", "the tree is freed as a whole"), Deciding("interning the strings", "comparing them each time", "names repeat thousands of times"),
    Deciding("a rolling update", "recreating the pods", "there must be no minute without an instance"), Deciding("one secret per environment", "a shared one", "a leak stays where it happened"),
    Deciding("a ring buffer", "a linked list", "the interrupt handler must not allocate"), Deciding("DMA", "polling", "the core may sleep meanwhile"),
    Deciding("optimistic locking", "row locks", "conflicts are rare and waiting is not"), Deciding("cents as integers", "floats", "sums have to be exact"),
    Deciding("a background worker", "doing it in the request", "the mail server takes seconds"), Deciding("WebSockets", "long polling", "messages go both ways"),
    Deciding("structured logs", "plain text", "the alerts filter by field"), Deciding("a monorepo package", "a published library", "only two of our own apps use it"),
    Deciding("property tests", "more examples", "the bug was in a shape nobody thought of"), Deciding("a stable sort", "a heap", "equal scores must keep their order"),
    Deciding("mini-batches", "full batches", "the whole set does not fit into memory"), Deciding("a Bloom filter", "a set", "a false positive costs one lookup only"),
    Deciding("gRPC", "REST", "the schema is checked on both sides"), Deciding("an enum", "three booleans", "only four of the eight states are legal"),
    Deciding("copy-on-write", "a mutex", "there are a thousand readers for each writer"), Deciding("Room", "raw SQL", "its queries are checked at build time"),
    Deciding("a recursive-descent parser", "a generated one", "its messages can name what was expected"), Deciding("content hashes", "timestamps", "a checkout changes the times"),
)  # fmt: skip

PROSE_DECISIONS = (
    "I chose {choice} over {over} because {why}.", "I decided to use {choice} because {why}.", "Decided: {choice}, since {why}.",
    "I'll go with {choice} rather than {over}: {why}.", "We'll go with {choice}, because {why}.", "I went with {choice} instead of {over}, since {why}.",
    "After weighing {choice} against {over}, I'm going with {choice}: {why}.", "Actually the better approach is {choice}, because {why}.",
    "Decision: use {choice}, not {over}. Reason: {why}.", "I opted for {choice} over {over} as {why}.", "Between {over} and {choice} I prefer {choice} here because {why}.",
    "I'm choosing {choice} over {over}; {why}.", "I settled on {choice}, given that {why}.", "The better option is {choice}: {why}.",
    "I picked {choice} over {over}: {why}.", "So {choice} it is, because {why}.", "My choice is {choice}, since {why}.", "I've decided on {choice} because {why}.",
    "I decided against {over}: {why}. So it becomes {choice}.", "Rather than {over} I'm using {choice}, because {why}.", "{choice} beats {over} here, because {why}, so I'm taking it.",
    "We decided on {choice} instead of {over}; {why}.", "I considered {over}, but {why}, so I'm going with {choice}.", "Chose {choice} (not {over}): {why}.",
    "**Decision:** {choice}. {why}.", "I have chosen {choice} for this, since {why}.", "Given that {why}, I'll use {choice} instead of {over}.",
    "I'm going to use {choice} and not {over}, because {why}.", "We are going with {choice} over {over} because {why}.", "I ended up choosing {choice}: {why}.",
)  # fmt: skip

DECISIONS = (
    "Use {choice}.", "{choice}, not {over}", "We use {choice} here.", "Go with {choice} for <mod>.", "<func> uses {choice} from now on.", "{choice} instead of {over}.",
)  # fmt: skip
"""Texts of `[!decision]` callouts."""

SOUNDS_LIKE = (
    "The run ended with 0 failed and no errors.", "There are no errors left in <mod>.", "I'll look at how the failed login page is rendered.",
    "I haven't decided yet whether <field> should be optional; that can wait.", "The error message of <func> is already translated.",
    "`<func>` raises a ValueError for bad input, which is documented.", "The query planner chose a nested loop, which is fine for <n> rows.",
    "This decision was made by the team last year and is written down in docs/adr-<n>.md.", "Error handling in <mod> follows the usual pattern.",
    "The failed jobs of last night are listed in the dashboard; none concerns <mod>.", "All <m> tests pass and nothing failed.",
    "The scheduler decides which worker gets the <field>.", "I'll use grep to find all callers.", "Let me choose a few rows at random to look at.",
    "The rejected rows go to a table of their own, as before.", "Correct: <func> already clamps the <field>.", "Next I'll go through the callers one by one.",
    "Which of the two names is better can be decided in the review.", "Users choose the <field> themselves on that page.", "No failures so far.",
    "The test for wrong passwords checks that an error is shown.", "I'll start with the tests and go on with <func>.",
)  # fmt: skip
