"""How a decision is told in half 4; slots as in `words_decisions`."""

from __future__ import annotations

__all__ = ["ANSWERS", "BARE", "CALLOUTS", "QUESTIONS", "SENTENCES", "USERS"]

SENTENCES = {
    "en": (
        "Given that <why>, <a> is the better fit for <what>, so that is what this branch implements; <b> I left out.", "Two candidates were on the table for <what>, <a> and <b>. <why>, and that tipped it towards <a>.",
        "I ended up building <what> on <a>. <b> looked simpler at first, but <why>.", "**<what>** is going to be <a>. **Not** <b>. The short version: <why>.",
        "After some back and forth on <what> I landed on <a>, mainly because <why>. <b> is not coming in.", "<why>. That alone is enough for me to do <what> with <a> and not with <b>.",
        "Note on <what>: implemented with <a> on purpose. <b> was considered and dropped, because <why>.", "The deciding factor for <what> was that <why>; I'm therefore using <a> and not <b>.",
        "Time to commit to one. <what> will get <a>, since <why>, and I delete the experiment with <b>.", "We'll be using <a> for <what> throughout. Reasoning: <why>. Rejected: <b>.",
        "Considered <b> for <what> and rejected it: <why>. <a> is in.", "Of everything I looked at for <what>, only <a> holds up, because <why>. <b> won't be used.",
        "So here is where I come out on <what>: <a>. The argument that convinced me is that <why>, and <b> has no answer to it.", "I've made <a> the one way to do <what>, and <b> is gone from the plan: <why>.",
        "<what> — done via <a>. I know <b> is what most people reach for, but <why>.", "To keep this short: <what> with <a>, since <why>. I won't pursue <b>.",
        "It has to be <a> for <what>. <why>, and nothing about <b> changes that.", "I've thought about <what> long enough: <a>, full stop. <why>, so <b> would only cost us.",
        "Picking <a> for <what> here, on the grounds that <why>. <b> stays out of the codebase.", "My plan replaces <b> with <a> for <what>, as <why>; that is how I am writing it.",
        "As <why>, I'm ruling out <b> and building <what> around <a>.", "You'll see <a> in the diff for <what>. I passed on <b>: <why>.",
        "This commit makes <a> the basis for <what>. I turned <b> down, because <why>.", "When it comes to <what>, <why>. Consequently I use <a>; <b> is not an option any more.",
        "Weighing it up: <b> is less typing, but <why>. <what> will therefore use <a>.", "Verdict after the spike: <a> for <what>. Into the bin with <b>, because <why>.",
        "I'm choosing <a> over <b> for <what>: <why>.", "I have decided that <what> will run on <a> and not on <b>, because <why>.",
        "Decided to handle <what> through <a>. Main reason: <why>. <b> was the other candidate.", "Opting for <a> on <what>; <why>, and <b> would work against that.",
        "For <what> I switched the design from <b> to <a>: <why>. It stays that way.", "Architecture-wise, <what> will from now on mean <a>. <b> was weighed and found wanting, as <why>.",
        "We are not doing <what> with <b>. We are doing it with <a>, for a simple reason: <why>.", "In the end <a> won out over <b> for <what>, because <why>.",
        "Chosen approach for <what>: <a>. Why not <b>? Because <why>.", "I'd rather live with the drawbacks of <a> than with those of <b>, so for <what> it will be <a>: <why>.",
        "That makes it an easy call for <what>: <a>. <b> is ruled out, because <why>.", "The design for <what> is fixed now — <a>, no longer <b> — because <why>.",
        "<b> and <a> both pass the tests for <what>, but <why>, so <a> is the one I keep and <b> I remove.", "Implementation choice, for the record: <what> by way of <a> instead of <b>, because <why>.",
        "I'm closing the question of <what> with <a>. <why>. If anyone asks about <b>: considered and declined.", "We standardise on <a> for <what> from this PR onwards; <b> gets phased out, since <why>.",
        "Since you left <what> to me: <a>. <why>, and so <b> was never going to work here.", "Design rationale for <what>: I use <a> and deliberately avoid <b>. <why>.",
        "That rules <b> out for <what>, because <why>. <a> is what goes in.", "I tried both on paper; for <what> I'm shipping <a> and dropping <b>, since <why>.",
    ),
    "de": (
        "Ich baue <what> mit <a>. Ausschlaggebend: <why>. Gegen <b> habe ich mich damit entschieden.", "Zwei Kandidaten gab es für <what>: <a> und <b>. Ich nehme das Erste, denn <why>.", "Was <what> angeht, steht die Lösung fest: <a>, keinesfalls <b>. <why>.",
        "Nach einigem Hin und Her für <what>: <a>. Der Grund ist einfach, <why>, und <b> hilft dagegen nicht.", "<why>. Deshalb kommt für <what> nur <a> hinein, <b> nicht.", "Für <what> habe ich mich gegen <b> und für <a> entschieden, denn <why>.",
        "Im Diff steht für <what> nun <a>. Verworfen habe ich <b>: <why>.", "<b> hatte ich für <what> erwogen, aber <why>. Es wird also <a>.", "Wir vereinheitlichen <what> auf <a>, <b> läuft aus: <why>.",
    ),
    "fr": (
        "J'ai finalement construit <what> sur <a> ; avec <b> cela semblait plus simple, mais <why>.", "Deux candidats pour <what> : <a> et <b>. Le premier passe, car <why>.", "Comme <why>, j'exclus <b> et je bâtis <what> autour d'une seule solution : <a>.",
        "La question est close pour <what> : <a>. J'ai écarté <b>, car <why>.", "Choix d'implémentation pour <what> : <a> au lieu de <b>, car <why>.", "Pour <what>, j'ai décidé de garder <a> et de supprimer <b>, car <why>.",
        "Vous verrez <a> dans le diff pour <what>. Pas question de <b> : <why>.", "Ce qui a fait pencher la balance pour <what> : <why>. Ce sera donc <a>, et non <b>.",
    ),
    "es": (
        "Al final he montado <what> con <a>; con <b> parecía más sencillo, pero <why>.", "Había dos candidatos para <what>: <a> y <b>. Me quedo con lo primero, porque <why>.", "Como <why>, descarto <b> y uso <a> para <what>.",
        "Queda cerrado el tema para <what>: <a>. <b> se descartó, ya que <why>.", "Para <what> he decidido usar <a> y no <b>, porque <why>.", "Elección de diseño para <what>: <a> en lugar de <b>, porque <why>.",
        "En el diff verás <a> para <what>. Dejé fuera <b>: <why>.", "Lo que inclinó la balanza en <what>: <why>. Así que uso <a>, no <b>.",
    ),
}  # fmt: skip

BARE = {
    "en": (
        "Using <a> for <what>, then, rather than <b>.", "I'll implement <what> with <a>, not <b>.", "<a> it is, as far as <what> goes.", "Going for <a> on <what>; not <b>.", "I'm building <what> with <a> and skipping <b>.", "For <what>: <a>. Done deliberating.",
        "Decision made: <a> for <what>.", "I'll stick with <a> for <what> and won't bring in <b>.", "Choosing <a> for <what>.", "<what> will get <a>. <b> doesn't make it.", "I have resolved <what> in favour of <a>.", "Between those two, I take <a> for <what>.",
    ),
    "de": ("Dann eben <a> für <what>, nicht <b>.", "<what> löse ich mit <a>, <b> bleibt draußen.", "Die Wahl für <what> ist getroffen: <a>.", "Es wird <a> für <what>.", "Ich nehme für <what> jetzt <a>.", "Für <what> habe ich <a> gewählt.", "Für <what> gilt: <a>, Schluss der Debatte.", "Zwischen beiden nehme ich für <what> lieber <a> und streiche <b>."),
    "fr": ("Donc <a> pour <what>, et pas <b>.", "Je réalise <what> avec <a>, sans <b>.", "C'est choisi pour <what> : <a>.", "Je prends <a> pour <what>.", "Pour <what>, j'opte pour <a>.", "Entre les deux, je garde <a> pour <what>.", "Adopté pour <what> : <a>.", "<what> : on fait avec <a>, le débat est clos."),
    "es": ("Entonces <a> para <what>, no <b>.", "Hago <what> con <a>, sin <b>.", "Elegido para <what>: <a>.", "Me quedo con <a> para <what>.", "Para <what> opto por <a>.", "Entre los dos, tomo <a> para <what>.", "Queda decidido, para <what> va <a>.", "<what>: va con <a> y no se hable más."),
}  # fmt: skip

CALLOUTS = {
    "en": (
        "<a> handles <what>", "<what>: settled on <a>.", "<what> will be built with <a>; not with <b>.", "Going with <a> for <what>", "<a> (not <b>) for <what>.", "Prefer <a> to <b> for <what>.", "<what> now on <a>.", "Adopt <a> for <what>.", "Drop <b>; <a> covers <what>.", "Selected <a> for <what>.",
        "Build <what> on top of <a>.", "We stop using <b> for <what> and adopt <a>.", "In this project: <a> only, as far as <what> goes.", "<a> replaces <b> for <what>, because <why>.", "Keep <a> for <what>, reject <b>.",
    ),
    "de": ("Nun fest, für <what>: <a>.", "Tragend für <what>: <a>.", "Umstieg auf <a> für <what>.", "Statt <b> steht jetzt <a> für <what>.", "<what> nur noch mit <a>.", "Gewählt für <what>: <a>, nicht <b>.", "Kein Weg mehr über <b>: <a> für <what>.", "Wir führen <a> für <what> ein."),
    "fr": ("<what> : arrêté sur <a>.", "Passage à <a> pour <what>.", "On troque <b> contre <a> pour <what>.", "<what> avec <a>, sans <b>.", "Le bon outil pour <what> : <a>, adopté.", "Abandonner <b>, garder <a> pour <what>.", "Nous prenons <a> pour <what>.", "Dans ce projet, <what> : toujours <a>."),
    "es": ("<what>: cerrado con <a>.", "Pasamos a <a> para <what>.", "Cambiamos <b> por <a> para <what>.", "<what> con <a>, sin <b>.", "Elegimos <a> para <what>.", "Fuera <b>; <a> para <what>.", "Con <a> resolvemos <what>.", "En este proyecto, <what>: siempre <a>."),
}  # fmt: skip

USERS = {
    "en": (
        "let's do <a> for <what>. <why>", "I want <a> for <what>, please take <b> out again", "please switch <what> to <a>. <b> was a bad idea, <why>", "we settled this in the planning: <what> with <a>, not <b>", "Do <what> with <a> please. Reason: <why>.", "you can stop comparing, <a> for <what> it is",
        "After talking to ops: <a> for <what>. <why>, so forget about <b>.", "don't use <b> for <what>, use <a>", "<a> for <what>. end of discussion :)", "Go with <a> on <what>.", "I prefer <a> for <what>, let's build that", "Regarding <what>, I've made up my mind: <a>. <why>.", "fine, you convinced me. <a> for <what>",
        "the answer to <what> is <a>, we can't afford <b>: <why>", "Quick ruling from me on <what>: <a> and nothing else.", "we'll be on <a> for <what> from now on, update the code accordingly", "Customer signed off on <a> for <what>, so do that and drop <b>.", "I chose <a> for <what> because <why>", "No, not <b>. <what> should be done with <a>: <why>.", "let's not overthink <what>: <a>, done",
        "Agreed with Maren: <what> moves over to <a>, <b> is history.", "for <what> we standardize on <a> company-wide, so use that here too",
    ),
    "de": (
        "mach <what> mit <a>, <b> fliegt raus", "Wir haben das im Planning geklärt: <a> für <what>, nicht <b>.", "Ich will <a> für <what>, bitte so umsetzen.", "Rücksprache mit dem Betrieb: wir machen <what> mit <a>, <why>.", "nimm <a> für <what> und gut", "Für <what> steht fest: <a>. <b> hatten wir schon, nie wieder.",
        "Ich habe mich entschieden: <a> für <what>.", "nicht <b>, sondern <a> für <what>, <why>",
    ),
    "fr": (
        "fais <what> avec <a>, on laisse tomber <b>", "On a tranché en réunion : <a> pour <what>, pas <b>.", "Je veux <a> pour <what>, merci de le coder ainsi.", "Vu avec l'exploitation : <a> pour <what>, car <why>.", "va pour <a>, pour <what> c'est réglé", "J'ai choisi <a> pour <what>.",
        "pas <b> mais <a> pour <what>, <why>", "Concernant <what>, c'est <a>, on n'en discute plus.",
    ),
    "es": (
        "haz <what> con <a>, olvídate de <b>", "Lo cerramos en la reunión: <a> para <what>, no <b>.", "Quiero <a> para <what>, impleméntalo así.", "Hablado con operaciones: <a> para <what>, porque <why>.", "venga, <a> para <what> y listo", "He elegido <a> para <what>.",
        "nada de <b>, usa <a> para <what>: <why>", "Sobre <what> ya está decidido: <a>.",
    ),
}  # fmt: skip

QUESTIONS = {
    "en": (
        "I need a call from you on <what>. Options:\n\n1. <first>\n2. <second>", "Should <what> go through <first> or through <second>?", "Blocked on one thing, <what>: do you want <first>, or rather <second>?", "How would you like <what>: <first> or <second>?",
        "<what> is open. I can do <first>, or I can do <second>. Tell me which.", "Two options for <what>:\n\n- <first>\n- <second>\n\nWhich should I implement?", "Before I continue I'd like your input on <what>: <first>? <second>?", "Quick check on <what> — <first> or <second>. Which way?",
    ),
    "de": ("Ich brauche eine Ansage für <what>: <first> oder <second>?", "Wie hättest du <what> gern: mit <first> oder mit <second>?", "Offen ist noch, wie ich <what> baue. Möglich sind <first> oder <second>. Was soll es sein?", "Für <what> zwei Möglichkeiten:\n\n1. <first>\n2. <second>\n\nWelche?", "Bevor ich weitermache, <what>: lieber <first> oder <second>?", "Kurz zu klären, für <what>: <first>? <second>?", "Wähl du für <what>: entweder <first>, oder <second>.", "Für <what> liegt es an dir: <first> oder <second>?"),
    "fr": ("J'ai besoin de ton avis sur <what> : <first> ou <second> ?", "Comment veux-tu <what> : avec <first> ou avec <second> ?", "Il reste <what>. Je peux prendre <first> ou <second>. Lequel ?", "Deux options pour <what> :\n\n1. <first>\n2. <second>\n\nLaquelle ?", "Avant de continuer, <what> : plutôt <first> ou <second> ?", "À clarifier : <what>. <first> ? <second> ?", "Je fais <what> avec <first> ou avec <second> ?", "Un choix t'attend pour <what> : <first>, ou bien <second> ?"),
    "es": ("Necesito tu opinión sobre <what>: ¿<first> o <second>?", "¿Cómo quieres <what>: con <first> o con <second>?", "Queda <what>. Puedo usar <first> o <second>. ¿Cuál?", "Dos opciones para <what>:\n\n1. <first>\n2. <second>\n\n¿Cuál prefieres?", "Antes de seguir, <what>: ¿mejor <first> o <second>?", "Por aclarar, <what>: ¿<first>? ¿<second>?", "¿Monto <what> con <first>, o con <second>?", "Te toca elegir para <what>: <first>, o bien <second>."),
}  # fmt: skip
ANSWERS = {
    "en": ("<a> please", "the <place> option", "number <number> please. <why>", "<place> one, and don't bother with <b>", "let's take <a>, since <why>", "I'd go with the <place>, build that", "definitely <a>", "<number>", "use <a> for that", "I choose <a>", "the <place>. <b> would hurt us later"),
    "de": ("nimm <a>", "bitte Nummer <number>", "die <number>, denn <why>", "ganz klar <a>", "<a>, auf keinen Fall <b>", "Dann <a>. <why>.", "mach <a>", "ich bin für <a>, bau das so"),
    "fr": ("<a> me va très bien", "l'option <number>", "la <number>, car <why>", "<a>, évidemment", "<a>, surtout pas <b>", "Alors <a>. <why>.", "fais <a>", "je choisis <a>"),
    "es": ("usa <a>", "la opción <number>", "la <number>, porque <why>", "<a>, sin dudarlo", "<a>, de ninguna manera <b>", "Entonces <a>. <why>.", "haz <a>", "elijo <a>"),
}  # fmt: skip
