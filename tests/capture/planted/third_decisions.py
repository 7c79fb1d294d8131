"""How a decision is told in half 2: in a sentence, as a callout, by the user; slots as in `words_decisions`."""

from __future__ import annotations

__all__ = ["ANSWERS", "BARE", "CALLOUTS", "QUESTIONS", "SENTENCES", "USERS"]

SENTENCES = {
    "en": (
        "<what> -> <a>. <b> ruled out: <why>", "DECISION <what>: <a> (not <b>); why: <why>", "Given that <why>, I will implement <what> with <a>; <b> is not pursued any further.",
        "I looked long at <b>, but <why>. That leaves <a>, which I adopt for <what>.", "It is hereby resolved that <what> be handled by <a>. The ground for this is that <why>.", "Let us do <what> by <a>, yes? No: I am sure. <b> cannot work well when <why>.",
        "For me the case is clear. <why>, so <what> will rest upon <a> and we say goodbye to <b>.", "Two candidates for <what>, one left standing: <a>. What sank <b> is that <why>.", "As <why>, we adopt <a> to handle <what> and retire <b>.",
        "We're moving <what> over to <a>. Why not <b>? Because <why>.", "Verdict after an hour of reading: <a> wins <what>, <b> loses, and the deciding fact is that <why>.", "So be it: <a> will carry <what>. With <b> we'd be in trouble, since <why>.",
        "I'm ruling out <b> for <what>. <why>. We use <a>.", "My decision regarding <what> is <a>, mainly because <why>; <b> may be removed from the wish list.", "tl;dr <what> = <a>, <b> no, <why>", "Considering that <why>, the sensible thing is <a>, and I hereby fix it for <what>. <b> stays out.",
        "For <what> we stick with <a> even though <b> is trendier: <why>.", "<b> got a fair hearing for <what>. It fails on one point: <why>. I therefore adopt <a>.", "Chosen for <what>: <a>. Rejected: <b>. Grounds: <why>.", "We have decided that <a> is to be used for <what>, the reason being that <why>. <b> has been turned down.",
        "I chose to build <what> upon <a>, because <why>, and not upon <b>.", "The team goes for <a> as the way to do <what>; <b> was dismissed since <why>.", "Because <why>, I'm switching <what> from <b> to <a> for good.", "Okay, decided. <what> is done through <a>, <b> is history, and the reason is <why>.",
        "What we need for <what> is <a> instead of <b>; <why>, and that outweighs everything else.", "<a> has my vote for <what> and I'm implementing it now; <b> falls short as <why>.", "I am opting for <a> in the matter of <what>, seeing that <why>. Away with <b>.",
    ),
    "de": (
        "Nach Abwägung nehmen wir für <what> jetzt <a>: <why>. Damit ist <b> raus.", "Für <what> verwende ich <a>, weil folgendes zählt: <why>. <b> verfolge ich nicht weiter.", "Entscheidung für <what>: <a>, nicht <b> (<why>).",
        "Wir haben uns für <what> auf <a> geeinigt; gegen <b> sprach: <why>.", "Ich wähle für <what> <a> und nicht <b>, denn <why>.", "Fest steht: <what> bauen wir über <a>, denn <why>; <b> fällt weg.",
    ),
    "fr": (
        "Décision pour <what> : <a>, et non <b>, parce que <why>.", "Je choisis <a> pour <what> ; <why>, ce qui élimine <b>.", "Pour <what>, nous utiliserons <a>. Motif : <why>. On renonce à <b>.",
        "Vu que <why>, j'opte pour <a> dans le cas suivant : <what>. Exit <b>.", "Réflexion faite, <a> s'impose pour <what> et je laisse tomber <b>, car <why>.",
    ),
    "es": (
        "Para <what> me quedo con <a> y no con <b>, porque <why>.", "Decidido: <a> para <what>; descartamos <b>, ya que <why>.", "He elegido <a> para <what>: <why>. Con <b> no saldría bien.", "Como <why>, usaremos <a> para <what> en lugar de <b>.",
    ),
}  # fmt: skip

BARE = {
    "en": (
        "Using <a> for <what> then, <b> is cancelled.", "decided: <what> = <a>", "I hereby pick <a> for <what>.", "<what> it is with <a>; we do not take <b>.", "We'll use <a> for <what>, end of discussion.", "<a> over <b> for <what>, final.", "My choice regarding <what> is <a>.",
    ),
    "de": ("Für <what> nehmen wir <a>.", "Entschieden: <a> für <what>.", "Wir verwenden <a> für <what>, nicht <b>."),
    "fr": ("J'ai choisi <a> pour <what>.", "Décidé : <a> pour <what>.", "On prend <a> pour <what>, on oublie <b>."),
    "es": ("Elegimos <a> para <what>.", "Decidido: <a> para <what>.", "Usamos <a> para <what>, no <b>."),
}  # fmt: skip

CALLOUTS = {
    "en": (
        "<what> = <a>", "Adopt <a> for <what>; reject <b>.", "<a> handles <what> from now on.", "Settle <what> with <a>.", "<b> is out, <a> is in, for <what>.", "We will do <what> by means of <a>.", "Going with <a> on <what>.", "<what>: <a> it is", "Ship <what> with <a> only.",
    ),
    "de": ("<what>: <a>.", "Wir nehmen <a> für <what>.", "<a> ersetzt <b> für <what>."),
    "fr": ("<what> : <a>.", "Adopter <a> pour <what>.", "<a> remplace <b> pour <what>."),
    "es": ("<what>: <a>.", "Adoptar <a> para <what>.", "<a> sustituye a <b> para <what>."),
}  # fmt: skip

USERS = {
    "en": (
        "hey, quick thing: <what> should be <a>. we discussed it upstairs, <why>", "please do not use <b> for <what>, I want <a>", "I took my decision about <what>: we make it with <a>. Reason is that <why>.", "From my side it's final: <a> handles <what>. <b> was rejected by the security folks.",
        "change of plan! <what> with <a> now. <why>", "Kindly implement <what> using <a>. The steering group has ruled out <b>, as <why>.", "we're going with <a> for <what>, thx", "after sleeping on it: <a> for <what>, definitely not <b>", "I want <what> built on <a>. <why>. Don't bother with <b>.",
        "Use <a> whenever it is about <what>; <b> is banned here since last year.", "for <what>: <a>. <b> = nope. <why>", "The client signed off on <a> for <what>, so that is what we do.",
    ),
    "de": ("Für <what> will ich <a>, auf keinen Fall <b>.", "Entschieden ist: <what> läuft über <a>, weil: <why>.", "bitte <a> für <what> verwenden, <why>"),
    "fr": ("J'ai tranché : <a> pour <what>, parce que <why>.", "Utilise <a> pour <what>, surtout pas <b>.", "on a décidé en réunion : <a> pour <what>"),
    "es": ("Usa <a> para <what>, no <b>.", "Hemos decidido <a> para <what>, porque <why>.", "para <what> quiero <a>, <why>"),
}  # fmt: skip

QUESTIONS = {
    "en": (
        "Need input on <what>. (1) <first>, (2) <second>. Which?", "Should <what> be built on <first> or rather on <second>?", "Open point: <what>.\n\n1) <first>\n2) <second>\n\nPlease choose.", "I can do <what> either way, with <first> or with <second>. What shall I take?",
    ),
    "de": ("Soll ich <what> mit <first> oder mit <second> umsetzen?", "Offen ist noch <what>: 1. <first>, 2. <second>. Welche Variante?"),
    "fr": ("Dois-je traiter <what> avec <first> ou avec <second> ?", "Reste une question, <what> : 1. <first>, 2. <second>. Laquelle ?"),
    "es": ("¿Hago <what> con <first> o con <second>?", "Queda abierto <what>: 1. <first>, 2. <second>. ¿Cuál prefieres?"),
}  # fmt: skip
ANSWERS = {
    "en": ("number <number>", "take <a>", "<a> of course. <why>", "I'd go with the <place> option, thanks", "(<number>)", "definitely <a>, <b> gave us headaches before"),
    "de": ("nimm <a>", "Variante <number>", "<a>. <b> hatten wir schon, das reicht"),
    "fr": ("prends <a>", "la numéro <number>", "<a>, sans hésiter"),
    "es": ("la <number>", "mejor <a>", "<a>, porque <why>"),
}  # fmt: skip
