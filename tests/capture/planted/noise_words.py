"""What only sounds like something worth keeping: sentences, prompts and callouts, by why it is not.

Owns the wording; slots are those of `topics` and of `stacks.Names`, and `<secret>`.
"""

from __future__ import annotations

from tests.capture.planted.truth import Reason

__all__ = ["PROMPTS", "PROSE", "PUT_OFF", "SECRET_CALLOUTS"]

PROSE = {
    Reason.STORY: {
        "en": (
            "We decided on pizza at the retro, by the way, because the Thai place was closed.", "Fun fact: the bug in the name of this repo is a ladybug, chosen by the founder's daughter.", "My favourite joke: a byte walks into a bar with a parity error. The bartender says, I thought you looked a bit off.",
            "The demo is on Thursday at three; I chose the blue slides.", "Today is the 29th, the release party was moved to Friday instead of Saturday.", "It took me three cups of virtual coffee, but we got there.", "Happy birthday to the maintainer, who opted for cake over meetings.", "Ha, somebody named the test cat Schrödinger; it is both passing and failing.",
            "I actually like how tidy this folder is.", "Nice weather for refactoring.", "The last commit here was on Christmas Eve at 23:58, what a story.", "Whoever wrote that comment in 2019 had a sense of humour: 'here be dragons, we chose to feed them'.", "The stand-up was moved to nine, so this has to be ready by then.", "Your colleague went with the window seat, I read in the chat log; lucky them.",
            "Congratulations on the thousandth commit!", "This reminds me of the old joke about the two hard problems, naming things and off-by-one errors.", "The offsite in Lisbon was chosen over Oslo by seven votes to five.", "Lunch break on your side, I suppose; I'll go on quietly.",
        ),
        "de": ("Beim Mittagessen wurde übrigens für Nudeln entschieden.", "Am Donnerstag um drei ist die Vorführung.", "Alter Witz: Es gibt zehn Arten von Menschen."),
        "fr": ("La démo est jeudi à quinze heures.", "On a choisi la pizza pour la rétro, paraît-il.", "Joyeux anniversaire à l'équipe !"),
    },
    Reason.QUOTED: {
        "en": (
            'The README of upstream says: "We chose <a> over <b>." That is their project, not ours.', "In a blog post from 2021 the Shopify people decided to use <a> for <what>.", "The ticket quotes the vendor: 'after long debate we went with <a>'.", "Someone on the mailing list wrote that they had opted for <b>, for what it's worth.",
            "According to the changelog, the framework selected <a> in version <n>.", 'The docs of the library read: "Decision: <a>. Rationale: <why>."', "The comment above says `// we decided against <b> here`, dated 2017.", "As the old wiki tells, another team once settled <what> with <b>.", 'Quoting the RFC: "implementations SHOULD go with <a>".',
            "The compiler chose another overload, it says in the log.", "The query planner went with a nested loop.", "Their post-mortem ends with 'lesson learned: always <a>'.", "The conference talk recommended the pattern of <a> for <what>.", "The competitor's whitepaper claims a benchmark of theirs proves <a> superior.",
            "> We decided that <what> uses <b>.\n\nThat is from the minutes of the other department.", "The scheduler picked node-<n> over node-<m>.", "The error page of the browser says: 'Correction: this site moved'.",
        ),
        "de": ('Im Blog eines anderen Teams steht: "Wir haben uns für <a> entschieden."', "Der Planer hat sich für den Tabellenscan entschieden.", "Laut Änderungsprotokoll nutzt das Framework nun <a>."),
        "fr": ("Le blog d'une autre équipe dit : « nous avons choisi <a> ».", "Le planificateur a choisi une boucle imbriquée.", "La documentation cite : « on retient <b> »."),
    },
    Reason.HYPOTHETICAL: {
        "en": (
            "We could decide on <a> for <what> some day.", "If we had chosen <b>, <what> would look different today.", "One might have opted for <a>, or for <b>; both are thinkable.", "Suppose we selected <a> for <what>: then the tests would need a container.", "Would <a> be the better approach? Perhaps.", "In theory <what> could use <b> instead.",
            "Had they opted for <a>, there would be no <mod> at all.", "Imagine that <func> failed here: nobody would notice.", "Maybe <a>, maybe <b>. I have no view on <what> at this point.", "If it came to <what>, I might lean towards <a> instead.", "An alternative strategy would be <a>, should <b> ever become too slow.", "It is conceivable to do <what> by the <a> approach.",
            "Let me think aloud: with <a> we'd gain speed, with <b> we'd fix nothing but the looks.", "One could write an ADR on <what>, if the team wants one.", "Were I to take <a>, I would have to fix <n> files.", "What if <what> used <a> instead? Just a thought.", "I might be wrong about <func>, who knows.", "Should the benchmark ever pass on ARM, <a> would be proven, but that is far off.",
        ),
        "de": ("Man könnte sich für <what> auch <a> vorstellen.", "Hätten wir <b> gewählt, sähe das hier anders aus.", "Vielleicht <a>, vielleicht <b>."),
        "fr": ("On pourrait décider de <a> pour <what>, un jour.", "Si on avait choisi <b>, ce serait différent.", "Peut-être <a>, peut-être <b>."),
    },
    Reason.NEGATED: {
        "en": (
            "No decision on <what> yet.", "We have not decided between <a> and <b>.", "I did not choose <a>; that line was there before.", "<what> remains undecided, so I leave it alone.", "Nothing was selected for <what> so far.", "There is no pattern in these numbers.", "The choice of <a> or <b> is still open.", "This is not a decision, nothing was chosen, only sketched.", "I have no better approach for <what> at hand.",
            "No errors, no failures, nothing to correct.", "It would be too early to settle the approach to <what>.", "Whichever is selected is up to you; I won't decide that.", "Nobody chose <b>, it just grew.", "The benchmark is not conclusive, so it proves nothing about <func>.", "Neither <a> nor <b> was selected for the time being.", "I see no problem with <func>.", "We never opted for <a>, whatever the comment says.", "Don't take <a> as given; <what> is up to the architects.",
        ),
        "de": ("Über <what> ist noch nicht entschieden.", "Das ist keine Entscheidung, nur eine Skizze.", "Weder <a> noch <b>, vorerst."),
        "fr": ("Rien n'est décidé pour <what>.", "Ce n'est pas un choix, juste une esquisse.", "Ni <a> ni <b> pour l'instant."),
    },
    Reason.ROUTINE: {
        "en": (
            "I'll fix the typo in the docstring of <func>.", "Let me select the rows and look at them.", "The dropdown shows the selected <field>; I rename its label.", "Next I decide which file to read: <src> first.", "The error class moves up by two lines.", "I chose <src> as the file to open first.", "Adding the missing comma in <test>.", "The strategy class gets a docstring.", "I'll wait for the server to come up.",
            "Renaming the method <func>_old to <func>.", "Instead of tabs the file has blanks; the formatter sees to that.", "Sorting the imports in <mod>.", "Bumping the version to 1.<n>.", "The pattern matching arm for <field> moves down.", "Actually opening <src> now.", "I went with you through <src> above; here is the next file.", "Correction of a spelling mistake in a comment.", "The issue template gets a link.",
            "Reformatting, nothing else.", "I'll take the first function, then the second.",
        ),
        "de": ("Ich berichtige den Tippfehler im Kommentar.", "Jetzt wähle ich die Zeilen aus und sehe sie mir an.", "Nur die Formatierung, sonst nichts."),
        "fr": ("Je corrige la faute de frappe dans le commentaire.", "Je sélectionne les lignes pour les lire.", "Juste le formatage."),
    },
    Reason.MENTION: {
        "en": (
            "`isDecided()` in <mod> is called <n> times.", "The word ADR stands in the glossary twice: once for records, once for adverse drug reactions.", "The column `chosen_at` of <mod> is indexed.", "The enum has the members DECIDED, FAILED and OPTED_OUT.", "The bug tracker's label 'decision' has <n> entries.", "`BetterApproachError` is thrown from <func>.", "The template folder has a file adr.md.j2 that renders the form.",
            "The field `correction` in the lens table is an optical one.", "The ADR parser of this tool reads headings.", "The class FailurePolicy has a subclass.", "In the German catalogue ADR means dangerous goods by road.", "The retry_strategy key is read at start.", "`selected_option` is a prop of the picker.", "The `benchmark` extra pulls in numpy.", "The README links to the ADR folder at the bottom.", "`approach_angle` is given in radians.",
        ),
        "de": ("Der Enum-Wert ENTSCHIEDEN kommt <n>-mal vor.", "Im Gefahrgutkatalog heißt ADR etwas anderes."),
        "fr": ("La colonne `choix` est indexée.", "Le mot ADR figure dans le glossaire."),
    },
}  # fmt: skip

PROMPTS = {
    Reason.STORY: {
        "en": ("haha the build failed on friday the 13th, of course", "sorry, was at lunch. we chose sushi. go on", "By the way I'm off on the 24th.", "good morning! how was your night, actually?", "the new coffee machine has a bug, literally", "lol that method name. anyway, continue"),
        "de": ("Mahlzeit! Ich war kurz weg, mach weiter.", "Am Freitag bin ich nicht da."),
        "fr": ("bonjour ! j'étais au café, continue", "je suis absent le 24"),
    },
    Reason.HYPOTHETICAL: {
        "en": ("What if we had chosen <a> for <what>?", "Could we go with <b> for <what>? Just asking.", "would <a> have been better for <what>? don't change anything", "what would happen if <func> failed?", "Is it possible to do <what> with <a>? No action needed."),
        "de": ("Könnte man <what> auch mit <a> machen? Nur eine Frage.",),
        "fr": ("Et si on avait choisi <a> pour <what> ?",),
    },
    Reason.NEGATED: {
        "en": ("we haven't decided about <what>, leave it out", "no decision from the board on <what> yet", "I can't say yet which is the better approach, <a> or <b>, skip that part", "Don't choose anything for <what> now, I'll come back to it."),
        "de": ("Zu <what> gibt es noch keine Entscheidung, lass das weg.",),
        "fr": ("rien n'est décidé pour <what>, laisse de côté",),
    },
    Reason.QUOTED: {
        "en": ("fyi the other team wrote 'we went with <b>', not relevant for us though", "Bob says at his last job they selected <a> for <what>. Anyway, please go on.", 'their docs: "decision: use <a>". just so you know what they do'),
        "de": ("Bei der Konkurrenz nimmt man <a>, habe ich gelesen. Egal, weiter.",),
        "fr": ("chez les concurrents ils ont choisi <a>, pour info",),
    },
}  # fmt: skip
"""As the user says it."""

PUT_OFF = {
    "en": ("hm, let me sleep on it. do something else first", "I don't know yet, that is not decided here", "neither of them convinces me, wait with that", "good question, I have to ask the others before anything is chosen", "no opinion, leave <what> as it is for the moment", "not now, wait"),
    "de": ("Weiß ich noch nicht, das entscheidet Anna nächste Woche.", "Lass das erst mal offen."),
    "fr": ("je ne sais pas encore, laisse cela ouvert", "il faut que je demande aux autres d'abord"),
}  # fmt: skip
"""What a user says who settles nothing."""

SECRET_CALLOUTS = (
    ("Use <secret> for the staging calls.", "it has the widest scope"), ("Chose the API key <secret>.", "the other one expired"), ("Token: <secret>", None), ("Decided on the password <secret> for the test account.", "it is long enough"), ("Go with <secret> as the webhook secret instead of the old one.", None),
    ("<secret>", "given by the user"), ("The connection string is postgres://app:<secret>@db.internal/app.", "as agreed"), ("For the deploy key we take <secret>.", "generated today"), ("DB_PASSWORD=<secret>", "chosen over the default"), ("Bearer <secret> from now on.", None),
)  # fmt: skip
"""Decisions that consist of a secret, or of the mark that stands where one was."""
