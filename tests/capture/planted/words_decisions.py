"""How a decision is told: in a sentence, as a callout, by the user.

Owns the wording; slots are those of `topics` (`<what>`, `<a>`, `<b>`, `<why>`) and of `stacks.Names`.
"""

from __future__ import annotations

__all__ = ["ANSWERS", "BARE", "CALLOUTS", "QUESTIONS", "SENTENCES", "USERS"]

SENTENCES = {
    "en": (
        "For <what> I'm taking <a> over <b>, because <why>.", "<what> will be <a> from here on; <why>, which rules <b> out.",
        "Between <a> and <b> the first wins for <what>: <why>.", "Settled: <a> for <what>. <b> is off the table, since <why>.",
        "We go ahead with <a> for <what>, not <b>: <why>.", "My verdict on <what>: <a>. The reason is that <why>, and <b> does not help there.",
        "I compared <a> and <b>. <a> it is for <what>, given that <why>.", "<b> would have been the usual thing for <what>, but <why>, so <a> it shall be.",
        "That tips the scales for <what>: <why>. Hence <a>, and no <b>.", "From now on <what> means <a> in this project. <b> loses because <why>.",
        "I weighed <b> against <a> for <what> and come down on the side of <a>: <why>.", "Since <why>, <what> gets <a> and <b> is dropped.",
        "Design choice for <what>: <a>, with <b> ruled out as <why>.", "The call on <what> is made: <a>, as <why>; <b> goes back on the shelf.",
        "So the plan of record for <what> is <a>. <b> was the runner-up, yet <why>.", "<a> beats <b> for <what> because <why>, and that is what I build.",
        "I'm committing to <a> for <what>: <why>. Nothing speaks for <b> after that.", "As for <what>, the question is closed: <a> stays and <b> goes, because <why>.",
        "Rather than <b>, <what> now rests on <a>; <why>.", "We'll live with <a> for <what>. <b> is nicer on paper, but <why>.",
        "Out of the two, <a> is what <what> needs, because <why>; <b> is out.", "I picked <a> for <what>. With <b> we would suffer, as <why>.",
        "After reading both, I prefer <a> to <b> for <what> and build on it: <why>.", "<what>: <a>. Not <b>. Reason: <why>.",
        "Trade-off for <what> accepted: <a> costs a little more code than <b>, but <why>.", "Final answer for <what> is <a>; <why>, so I throw the <b> draft away.",
        "The team convention for <what> becomes <a> as of this change, because <why> (<b> was considered).", "I drop <b> here. <what> is going to be <a>, for one reason: <why>.",
        "Let's make it <a> for <what>, because <why>; <b> can rest.", "I'm standardising <what> on <a>. <b> is retired, since <why>.",
        "I decided on <a> for <what> rather than <b>, because <why>.", "For <what> we chose <a>; <b> falls away, as <why>.",
        "We went with <a> for <what>. <b> lost because <why>.", "I opted for <a> when it came to <what>: <why>, unlike with <b>.",
        "Having looked at <b>, I selected <a> for <what>, because <why>.", "The better approach to <what> is <a> instead of <b>, since <why>.",
        "My strategy for <what> is settled: <a>, not <b>, because <why>.", "I chose <a> instead of <b> for <what>; <why>.",
        "It was decided here that <what> uses <a>: <why>. That leaves <b> unused.", "We selected <a> as our technique for <what> over <b>, because <why>.",
        "What tilts it is that <why>. Therefore <what> is done by <a> and <b> is discarded.", "Going forward, <a> is how <what> works here; <b> was the alternative, but <why>.",
        "Locking this in: <a> for <what>, <b> rejected, because <why>.", "There is no free lunch with <what>, yet <why>, and so I side with <a> against <b>.",
    ),
    "de": (
        "Für <what> nehme ich <a> statt <b>, denn <why>.", "Damit ist es entschieden: <a> für <what>, nicht <b>, weil eben gilt: <why>.",
        "Ich lege mich fest: für <what> gibt es <a>. Gegen <b> spricht: <why>.", "Für <what> bauen wir auf <a>; <b> scheidet aus, denn <why>.",
        "Zwischen <a> und <b> gewinnt für <what> klar das Erste: <why>.", "Meine Wahl für <what> fällt auf <a>, denn <why>; <b> entfällt.",
        "Ab jetzt gilt für <what>: <a>. Der Grund: <why>. <b> lassen wir sein.", "Wir setzen für <what> auf <a> und verwerfen <b>: <why>.",
        "Beschlossen für <what>: <a>. Begründung: <why>. Die Alternative <b> ist vom Tisch.",
    ),
    "fr": (
        "Pour <what>, je retiens <a> plutôt que <b> : <why>.", "C'est tranché pour <what> : <a>, pas <b>, car <why>.",
        "On part sur <a> pour <what> ; <b> est écarté, car <why>.", "Mon choix pour <what> : <a>. Raison : <why>. Donc <b> tombe.",
        "Entre <a> et <b>, c'est <a> qui l'emporte pour <what>, car <why>.", "Désormais <what> repose sur <a> et non sur <b> : <why>.",
        "J'ai pesé les deux pour <what> et je m'engage sur <a> ; <b> ne convient pas, car <why>.", "Nous adoptons <a> pour <what>, car <why>, et abandonnons <b>.",
    ),
}  # fmt: skip
"""The agent's own, with the reason."""

BARE = {
    "en": (
        "<what>: we take <a>, not <b>.", "I settle on <a> for <what>.", "I'm going with <a> for <what> and leave <b> alone.", "So <what> is <a> now, and that is final.",
        "Let us say <a> for <what> and be done with it; <b> is out.", "Of the two, <a> for <what>.", "I went with <a> for <what>.", "For <what> I decided to use <a>.",
        "<a> is my pick for <what>, over <b>.", "The choice for <what> falls on <a>.",
    ),
    "de": ("Für <what> also <a>, nicht <b>.", "Ich entscheide mich bei der Frage nach <what> für <a>.", "Es bleibt bei <a> für <what>."),
    "fr": ("Pour <what>, ce sera <a>, pas <b>.", "Je me décide pour <a> en ce qui concerne <what>.", "Va pour <a> dans <what>."),
}  # fmt: skip
"""Without any reason."""

CALLOUTS = {
    "en": (
        "<a> for <what>.", "<what>: <a> over <b>.", "Use <a> for <what>, not <b>.", "We keep <what> on <a>.", "<what> moves to <a>; <b> is dropped.", "No <b> for <what>: <a>.",
        "<a>, because <why>.", "Chose <a> for <what> over <b>.", "Decided: <what> is <a>.", "From this release on, <a> for <what>.", "<what> — <a>", "Replace <b> with <a> in <what>.",
        "Do <what> with <a> instead of <b>.", "Standard for <what>: <a>.",
    ),
    "de": ("<a> für <what>.", "<what>: <a> statt <b>.", "Kein <b> für <what>, sondern <a>."),
    "fr": ("<a> pour <what>.", "<what> : <a> plutôt que <b>.", "Pas de <b> pour <what>, mais <a>."),
}  # fmt: skip

USERS = {
    "en": (
        "For <what> please use <a>, not <b>: <why>.", "we use <a> for <what> here, full stop. <why>", "About <what>: make it <a>. <b> is a no, <why>.",
        "I talked to the others, we want <a> for <what>. <why>.", "ok then <a> for <what>, forget <b>", "Decision on <what>: <a>. Please build it like that.",
        "no <b> for <what> please. <a>, because <why>", "Let's go for <a> with <what>. I know <b> is popular, but <why>.", "Thanks for the comparison. <a> for <what> then; <why>.",
        "Take <a> for <what>.", "<what> has to be <a>. That is not negotiable: <why>.", "Let me settle <what>: <a>. We had <b> in the old system and regretted it.",
        "I'd say we do <what> with <a> and revisit in a year", "Go ahead with <a> for <what>, I am convinced: <why>", "My call: <what> → <a>. No <b>.",
        "we have chosen <a> for <what>, <b> is too much for us", "I've decided, <a> for <what>", "Please keep <b> out of this. <what> runs on <a>, since <why>.",
    ),
    "de": (
        "Nimm für <what> bitte <a>, nicht <b>. <why>", "Wir machen das so: <a> für <what>. <b> kommt nicht in Frage.", "Ich habe mit dem Team gesprochen: <a> für <what>, denn <why>.",
        "bei <what> bleibt es bei <a>, <b> will hier keiner",
    ),
    "fr": (
        "Pour <what>, prends <a>, pas <b> : <why>.", "On fait <what> avec <a>, c'est décidé avec l'équipe.", "pour <what> je veux <a>, <why>", "Oublie <b>. Pour <what>, c'est <a>, point final.",
    ),
}  # fmt: skip
"""Of their own accord."""

QUESTIONS = {
    "en": ("There are two ways to do <what>:\n\n1. <first>\n2. <second>\n\nWhich one do you want?", "For <what> I see <first> or <second>. What do you prefer?", "One question about <what> before I go on: <first> or <second>?", "<what> can be done in two ways:\n\n- <first>\n- <second>\n\nYour preference?", "Before I write <what>: shall it be <first>, or <second>?"),
    "de": ("Für <what> gibt es zwei Wege: <first> oder <second>. Was ist euch lieber?", "Eine Frage zu <what>: <first> oder <second>?"),
    "fr": ("Pour <what>, il y a deux voies : <first> ou <second>. Que préférez-vous ?", "Une question sur <what> : <first> ou <second> ?"),
}  # fmt: skip
ANSWERS = {
    "en": ("the <place> one please", "<a>", "<a>, because <why>", "Option <number>.", "<place>. <why>", "clearly the <place>, we can't have <b>", "go with <number>"),
    "de": ("<a> bitte", "<a>, denn <why>", "lieber <a>"),
    "fr": ("<a>, s'il te plaît", "<a>, car <why>", "plutôt <a>"),
}  # fmt: skip
