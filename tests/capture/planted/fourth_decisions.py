"""How a decision is told in half 3: in a sentence, as a callout, by the user; slots as in `words_decisions`."""

from __future__ import annotations

__all__ = ["ANSWERS", "BARE", "CALLOUTS", "QUESTIONS", "SENTENCES", "USERS"]

SENTENCES = {
    "en": (
        "[<what>] take=<a> drop=<b> reason=<why>", "Yep, let's put <a> under <what>. I liked <b> at first, but <why>.", "Following evaluation, <a> is retained for <what>. <b> does not qualify, as <why>.", "Sold on <a> for <what>: <why>, and that's where <b> falls over.",
        "ok so <what>: it's <a>, mate. <b> just won't do when <why>", "The approach selected for <what> is <a>. Justification: <why>. <b> has been discarded.", "I say we do <what> the <a> way and bin <b>, because <why>.", "<what> goes to <a>; <b> was considered and declined on the grounds that <why>.",
        "Right, no more dithering about <what>. <a>. The thing that killed <b> for me: <why>.", "This work adopts <a> with regard to <what>, given that <why>; <b> is thereby excluded.", "fixed choice, <what>: <a>. <b> dead, <why>", "You know what? <why>. So forget <b>, I'm building <what> around <a>.",
        "Both would run, but <why>, which makes <a> the one for <what>. Parking <b> for good.", "In view of the fact that <why>, <what> shall be based on <a>. No further work on <b> is foreseen.", "I've decided: <a> for <what>, since <why>. <b> can go home.", "Considered <b>, chose <a> (<what>). <why>.",
        "<what>, closed. <a> in, <b> out. <why>", "Between us, <b> would be more fun for <what>. But <why>, so I'm settling on <a>.", "Trade-off made for <what>: we accept the cost of <a>, because <why> and <b> ignores that.", "I'm locking in <a> as our answer to <what>. Had to let <b> go: <why>.",
    ),
    "de": (
        "[<what>] Wahl: <a>, verworfen: <b>, Grund: <why>", "Also gut, wir machen <what> über <a>; <b> scheidet aus, denn: <why>.", "Nach Prüfung legen wir für <what> <a> fest. Begründung: <why>. Gegen <b> spricht dasselbe.", "Mich hat eins überzeugt: <why>. Darum <a> für <what> und nicht <b>.",
    ),
    "fr": (
        "[<what>] retenu : <a> ; écarté : <b> ; motif : <why>", "Allez, on part sur <a> pour <what>, parce que <why>. Tant pis pour <b>.", "Après examen, <a> est adopté pour <what>, attendu que <why>. <b> est rejeté.", "Ce qui m'a convaincu pour <what> : <why>. Ce sera donc <a>, pas <b>.",
    ),
}  # fmt: skip
BARE = {
    "en": ("[<what>] <a>. closed.", "Let's lock in <a> for <what>.", "We get <what> done with <a>, not with <b>.", "For <what> the selection is <a>.", "I'm all in on <a> for <what> now.", "<a> is adopted for <what>.", "<what>: dropping <b>, keeping <a>.", "Okay, <a> for <what>, that's my call.", "I decided on <a> for <what>."),
    "de": ("[<what>] <a>, erledigt.", "Für <what> lege ich <a> fest.", "Wir bauen für <what> auf <a>."),
    "fr": ("[<what>] <a>, réglé.", "Pour <what>, je retiens <a>.", "On fait <what> avec <a> et sans <b>."),
}  # fmt: skip
CALLOUTS = {
    "en": ("[<what>] <a>, not <b>", "<a> is the basis of <what>.", "Do <what> with <a>.", "For <what>: <a>.", "<a> selected for <what>.", "Build <what> around <a> and leave <b> aside.", "<what> rests on <a>.", "Keep to <a> in <what>.", "<a>, as far as <what> is concerned."),
    "de": ("<what>: <a> statt <b>", "<a> als Grundlage für <what>.", "Festgelegt für <what>: <a>."),
    "fr": ("<what> : <a> plutôt que <b>", "<a> comme base pour <what>.", "Retenu pour <what> : <a>."),
}  # fmt: skip
USERS = {
    "en": (
        "team call just ended, it's <a> for <what> now. <why>", "not <b> in <what> please, put <a> there", "Management has approved <a> for <what>; kindly proceed on that basis.", "ok my mind is made up: <a> for <what>, <why>", "<what>: <a>. not open for debate, <why>", "Let's do <what> with <a>, I've been burnt by <b>.",
        "scrap <b>! <what> should sit on <a>, because <why>", "Pursuant to yesterday's review, <what> is to be realised by <a>, not by <b>.", "hm, thinking about <what> again... <why>. so <a>, final answer", "I choose <a> for <what>. <why>.", "could you base <what> on <a>? that's settled on our side, <why>",
    ),
    "de": ("Für <what> bitte <a>, das ist mit dem Team abgestimmt.", "für <what> nicht <b>, sondern <a>: <why>", "Ich lege mich fest: <a> für <what>."),
    "fr": ("pour <what> mets <a>, pas <b> : <why>", "C'est validé avec l'équipe : <a> pour <what>.", "Je me décide : <a> pour <what>, car <why>."),
}  # fmt: skip
QUESTIONS = {
    "en": (
        "input needed / <what>: 1 = <first>, 2 = <second>", "Quick one for you: <what> with <first>, or with <second>?", "Two ways to go about <what>:\n\n1. <first>\n2. <second>\n\nYour preference?", "Before continuing with <what>, kindly indicate the option to be implemented: (1) <first>; (2) <second>.",
        "I'm torn on <what>. Would you rather have 1) <first> or 2) <second>?", "For <what> I see 1. <first> and 2. <second>. Which one do you want?", "How do you want <what>? First option <first>, second option <second>.", "<what> is yours to call: <first> (1) or <second> (2)?",
    ),
    "de": ("Wie hättest du <what> gern: 1. <first> oder 2. <second>?", "Rückfrage, es geht um <what>: (1) <first>, (2) <second>?", "Für <what> gibt es 1. <first> und 2. <second>. Was soll es sein?"),
    "fr": ("Comment veux-tu <what> : 1. <first> ou 2. <second> ?", "Une question, <what> : (1) <first>, (2) <second> ?", "Pour <what> je vois 1. <first> et 2. <second>. Que préfères-tu ?"),
}  # fmt: skip
ANSWERS = {
    "en": ("<number>!", "let's do <a>", "hm, I like the <place> one better", "Option <number>, as <why>.", "<a>, and please not <b>", "gotta be <a>", "I prefer <a>. <why>", "go for <number>"),
    "de": ("die <number> bitte", "<a>, bitte nicht <b>", "Lieber <a>, <why>"),
    "fr": ("la <number> s'il te plaît", "<a>, et pas <b>", "plutôt <a>, car <why>"),
}  # fmt: skip
