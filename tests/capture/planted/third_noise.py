"""What only sounds like something worth keeping, in half 2: sentences, prompts and callouts by why it is not; as in `noise_words`."""

from __future__ import annotations

from tests.capture.planted.truth import Reason

__all__ = ["PROMPTS", "PROSE", "PUT_OFF", "SECRET_CALLOUTS"]

PROSE = {
    Reason.STORY: {
        "en": (
            "The office dog chose your chair again, it seems from the commit message.", "Rumour has it that the mascot was selected by a coin toss.", "Sunday is the marathon; half of the reviewers opted for the ten kilometres.", "An old hand once told me every bug was a moth. This one has wings at least.", "Somebody ordered ninety-nine doughnuts, an off-by-one error of the tasty kind.", "Anyone up for chess? I would go with the Caro-Kann.",
            "It's raining in your log timestamps, figuratively.", "What a lovely variable name, <field>. It sounds like a villain.", "The kick-off was pushed to Tuesday at ten, room Curie.", "Your team decided to call the printer Gutenberg, cute.", "The person on call last week solved a crossword instead, says the chat.", "Season's greetings to all reviewers.",
        ),
        "de": ("Der Bürohund hat sich übrigens für deinen Stuhl entschieden.", "Am Montag ist Richtfest, da fällt der Termin aus.", "Schöner Name, diese Variable."),
        "fr": ("Le chien du bureau a choisi votre chaise, dit le journal.", "Lundi c'est férié.", "Quel joli nom de variable."),
        "es": ("El lunes es fiesta en Madrid.", "El perro de la oficina eligió tu silla, dicen.", "Bonito nombre de variable."),
    },
    Reason.QUOTED: {
        "en": (
            "The datasheet says on page <n>: 'the vendor selected <a> for best noise'.", "A maintainer of another engine writes in his forum post that they chose <b> long ago.", 'In the textbook: "the authors opted for <a>, because <why>."', "The linker picked the weak symbol, as its map file tells.", "The paper by Okafor et al. decided on <a> for their study, which is not ours.", "Release notes of the SDK: 'we now go with <b> by default'.",
            "The press article calls <a> a better approach. It is marketing.", "> lesson learned: avoid <b>\n\n(from the incident report of a different company)", "A comment from the former contractor reads: 'actually <b> would be fine'.", "The garbage collector chose a full sweep here.", "An answer on a Q&A site claims that <a> is the pattern everyone should follow for <what>.", "The customer's own wiki records the decision for <b>; their system, not this one.",
        ),
        "de": ("Im Datenblatt steht: 'Der Hersteller hat <a> gewählt.'", "Ein fremdes Forum schwört auf <b>.", "Der Compiler hat sich für die andere Überladung entschieden, sagt das Protokoll."),
        "fr": ("La fiche technique dit : « le fabricant a retenu <a> ».", "Un article de presse vante <b>.", "L'éditeur de liens a choisi le symbole faible."),
        "es": ("La hoja de datos dice: «el fabricante eligió <a>».", "Un foro ajeno recomienda <b>.", "El planificador eligió otro nodo."),
    },
    Reason.HYPOTHETICAL: {
        "en": (
            "Perhaps one day <a> gets selected for <what>; not today.", "Had we selected <b>, the numbers might be worse or better, nobody can tell.", "Switching <what> to <a> could be a strategy, if the budget allows.", "It might be that <b> would do for <what> instead.", "Assuming a rewrite, would <a> be what one opted for? Possibly.", "Picture a world in which <what> fails every night: who would wake up?", "I wonder whether <a> could be a better approach at all.",
            "Theoretically, <b> might fix the slowness, but it is only a theory.", "In case the board ever approves, the approach by <a> could come into question for <what>.", "If <func> ever had a bug like that, we would see it in the log.", "Would it hurt to try <a> some time? Hard to say.", "An ADR about <what> may be useful at some point.",
        ),
        "de": ("Denkbar wäre auch <a>, irgendwann.", "Falls <b> je zu langsam würde, könnte man wechseln.", "Wäre <a> besser gewesen? Schwer zu sagen."),
        "fr": ("Il serait envisageable de prendre <a>, plus tard.", "Si jamais <b> devenait trop lent, on pourrait changer.", "Aurait-on mieux fait avec <a> ? Difficile à dire."),
        "es": ("Quizá algún día convenga <a>.", "Si <b> fuera lento, se podría cambiar.", "¿Habría sido mejor <a>? No se sabe."),
    },
    Reason.NEGATED: {
        "en": (
            "Whether <a> or <b>: that has not been decided by anyone.", "I make no choice on <what> here, the issue is outside of the ticket.", "So far neither option was selected, <what> waits for the product owner.", "No correction needed, the statement above holds.", "This is no fix, merely a place to put a breakpoint.", "I can't call it a pattern, it happened once.", "We haven't opted for anything regarding <what>.", "There was no failure here, the log level is just noisy.",
            "The numbers do not show any difference between the approaches, so nothing is proven.", "Which technique <what> gets is to be decided later, by others.", "Not a decision, only the order in which I list things: <a>, <b>.", "I did not find a better approach than what is there.",
        ),
        "de": ("Kein Beschluss über <what> bisher.", "Das ist noch offen und bleibt es heute auch: <a> oder <b>.", "Hier ist nichts zu berichtigen."),
        "fr": ("Aucune décision n'a été prise pour <what>.", "Il n'y a rien à corriger ici.", "Cela reste ouvert : <a> ou <b>."),
        "es": ("No se ha decidido nada sobre <what>.", "Aquí no hay nada que corregir.", "Sigue abierto: <a> o <b>."),
    },
    Reason.ROUTINE: {
        "en": (
            "Selecting the branch, then pulling.", "Fixing indentation in <src>.", "I picked <test> to read next.", "Let me wait for the build, then look at <func>.", "The issue number goes into the commit message.", "Using the editor's rename for <field>.", "Error strings get a full stop each.", "I decided to scroll down to <func> first.", "Moving one import instead of two; nothing else happens here.", "Actually reading the file from the top now.", "Swapping two lines so that the list is alphabetical.", "Correcting the heading level in the readme.",
            "Instead of the long path I type the short one.", "Opening the bug report to copy its title.",
        ),
        "de": ("Ich rücke die Zeilen in <src> richtig ein.", "Jetzt wähle ich den Zweig aus und hole ihn.", "Zwei Zeilen tauschen, mehr nicht."),
        "fr": ("Je corrige l'indentation.", "Je choisis la branche et je la récupère.", "Deux lignes échangées, rien de plus."),
        "es": ("Corrijo la sangría.", "Elijo la rama y la descargo.", "Cambio dos líneas de sitio, nada más."),
    },
    Reason.MENTION: {
        "en": (
            "`chooseWeapon` is bound to the left trigger.", "The label 'wontfix' has a red colour in the tracker.", "Table `decided_votes` has <n> rows, all from the voting module.", "A constant named MAX_FAILED_LOGINS is defined in <src>.", "In the docs, ADR is expanded as average daily rate.", "The menu entry 'Select pattern…' opens the stencil dialog.", "The type ErrorBoundary wraps <func>.", "`waitFor` is imported and used <n> times.",
            "Keyframe correction is a slider in the inspector.", "The log topic is called sys.bugcheck.", "The folder name 'adr/fixed' appears in the ignore list.", "`strategy: recreate` stands in line <n>.",
        ),
        "de": ("Die Konstante AUSWAHL_FEHLER kommt <n>-mal vor.", "In diesem Glossar heißt ADR der mittlere Zimmerpreis."),
        "fr": ("La constante CHOIX_MAX vaut <n>.", "Dans ce glossaire, ADR est le prix moyen."),
        "es": ("La constante ELECCION_MAX vale <n>.", "En este glosario, ADR es la tarifa media."),
    },
}  # fmt: skip

PROMPTS = {
    Reason.STORY: {
        "en": ("my cat walked over the keyboard, that error was hers :)", "back! the dentist chose violence today. continue please", "we have town hall at 4, I will be slow to answer", "guess what, they selected our photo for the calendar"),
        "de": ("Bin wieder da, der Zug hatte Verspätung.", "Kollegin hat Geburtstag, es gibt Kuchen!"),
        "fr": ("me revoilà, le train était en retard", "il y a du gâteau aujourd'hui !"),
        "es": ("ya estoy aquí, había atasco", "hoy hay tarta en la oficina"),
    },
    Reason.HYPOTHETICAL: {
        "en": ("just curious: what would it take to move <what> to <a>? do nothing yet", "say we opted for <b> some day, how long would that take?", "could <a> ever fail in production, in your view?", "hypothetically, is <a> a better approach than <b>?"),
        "de": ("Rein theoretisch: Wie aufwendig wäre <a>?",),
        "fr": ("juste par curiosité : <a> serait-il possible ?",),
        "es": ("por curiosidad: ¿sería posible <a>? no cambies nada",),
    },
    Reason.NEGATED: {
        "en": ("please don't read my last message as a decision on <what>", "the choice for <what> is still with legal, skip it", "nothing has been selected for <what>, whatever Tom says", "no final word on <a> vs <b> so far"),
        "de": ("Was <what> angeht, ist noch alles offen, bitte überspringen.",),
        "fr": ("pour <what> rien n'est encore arrêté, passe",),
        "es": ("sobre <what> aún no hay nada decidido, sáltalo",),
    },
    Reason.QUOTED: {
        "en": ("the keynote said 'we chose <a>', lol, everybody does these days", "saw on a forum that somebody solved it by <b>; different product, no need to act", "the vendor's mail: 'we decided to discontinue <b> for our own portal'. just fyi"),
        "de": ("Im Podcast hieß es, dort habe man <a> gewählt. Nur so am Rande.",),
        "fr": ("dans un podcast, ils disent avoir choisi <b>, juste pour info",),
        "es": ("en un pódcast cuentan que ellos eligieron <a>, solo por comentar",),
    },
}  # fmt: skip

PUT_OFF = {
    "en": ("can't say. ask me again on friday", "both are fine or both are bad, I don't know. leave it out for now", "that's for the architect to decide, skip it", "no idea tbh, let's postpone"),
    "de": ("Keine Ahnung, verschieben wir das.", "Das muss der Kunde entscheiden, lass es weg."),
    "fr": ("aucune idée, on verra plus tard", "c'est au client de décider, laisse ça de côté"),
    "es": ("ni idea, lo dejamos para luego", "eso lo decide el cliente, sáltalo"),
}  # fmt: skip

SECRET_CALLOUTS = (
    ("Sign in at the registry with <secret>.", "robot account"), ("We use <secret> as the pepper.", "long enough"), ("SMTP_PASS is <secret> from today.", None), ("Adopt <secret> for the sandbox tenant.", "sent by the customer"), ("<secret>", "chosen by the admin"), ("key = <secret>", None), ("Authorization header: token <secret>", "works for staging"),
)  # fmt: skip
