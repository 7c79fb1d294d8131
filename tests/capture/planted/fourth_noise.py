"""What only sounds like something worth keeping, in half 3; as in `noise_words` and `noise_calls`, whose other tables are those of half 2."""

from __future__ import annotations

from tests.capture.planted.truth import Reason

__all__ = ["AFTER_ENVIRONMENT", "AFTER_SUITE", "AFTER_TRANSIENT", "ANYTHING", "FIRST_RED", "GIVEN_UP", "LEFT_OUT", "PROMPTS", "PROSE", "PUT_OFF", "REPEATED", "SECRET_CALLOUTS"]  # fmt: skip

PROSE = {
    Reason.STORY: {
        "en": (
            "Fun: your intern selected a rubber duck the size of a monitor.", "The canteen went with lentils again, I gather from the channel.", "Today is the release anniversary, three years to the day.", "My favourite bug is still the one that only showed up on Wednesdays in Norway.", "Somebody drew a fox on the sprint board.",
            "Team lunch moved to one o'clock, the tram has an issue.", "What a fine morning for a merge.", "They opted for purple hoodies, by the way.", "The band at the summer party was called Null and the Pointers.", "It is the thirteenth, let's not tempt fate.",
        ),
        "de": ("Das Sommerfest beginnt um fünf.", "Die Kantine hat sich wieder für Linsen entschieden.", "Da hat jemand einen Fuchs an die Tafel gemalt."),
        "fr": ("La fête d'été commence à cinq heures.", "La cantine a encore choisi les lentilles.", "Quelqu'un a dessiné un renard au tableau."),
    },
    Reason.QUOTED: {
        "en": (
            "The vendor's brochure says that they selected <a> for their own product.", "In the talk abstract: 'we ditched <b> and never looked back', says the speaker's employer.", "A Reddit user swears by <a>.", "The library's changelog: 'decided to deprecate <b>'.", "Quote from the RFC's appendix: 'the working group chose <a>'.",
            "The scheduler opted for node seven, says its log.", "According to the city's website, their IT took <b> instead.", "That comment was copied from another project: 'best approach is <a>'.", "The optimiser picked a merge join, per the plan output.", "A competitor's blog describes how they proved <b> wrong; it concerns their system.",
        ),
        "de": ("Der Hersteller schreibt im Prospekt, er habe <a> gewählt.", "Ein Vortrag anderswo lobt <b>.", "Der Planer hat laut Protokoll Knoten sieben gewählt."),
        "fr": ("Le fabricant écrit avoir choisi <a> pour son produit.", "Une conférence, ailleurs, vante <b>.", "L'ordonnanceur a choisi le nœud sept, dit le journal."),
    },
    Reason.HYPOTHETICAL: {
        "en": (
            "If money were no object, <a> might be fun for <what>.", "One could imagine <what> on <b> some day.", "Suppose we chose <a> here, what would break? Just thinking aloud.", "Should <what> ever grow, <a> may become worth a look.", "It would be conceivable to use <b> instead, in another life.",
            "What if <func> failed silently? It doesn't, but what if.", "We might have decided differently with more time, who knows.", "A later version could perhaps opt for <a>.", "Were the load ten times higher, <b> would possibly be an option for <what>.", "Idle thought: is there a better approach to <what>?",
        ),
        "de": ("Mit mehr Geld könnte man über <a> nachdenken.", "Was wäre, wenn <b> eines Tages nicht reicht?", "Vielleicht wäre <a> später einmal einen Blick wert."),
        "fr": ("Avec plus de moyens, on pourrait imaginer <a>.", "Et si un jour <b> ne suffisait pas ?", "Peut-être que <a> vaudra un coup d'œil plus tard."),
    },
    Reason.NEGATED: {
        "en": (
            "status <what>: undecided", "We still don't know which way <what> goes, <a> or <b>.", "No selection has been made in respect of <what>.", "I'm not choosing between <a> and <b> today.", "That was not a correction, I only repeat myself.", "I wouldn't call this a pattern yet, just a coincidence.",
            "The run neither confirms nor refutes anything.", "There is no error here to fix.", "Nobody has chosen anything for <what>, relax.", "What I said above stands, nothing to take back.",
        ),
        "de": ("Stand <what>: unentschieden.", "Weder <a> noch <b> haben wir bisher gewählt.", "Am Gesagten ändert sich nichts."),
        "fr": ("Non tranché à ce jour : <what>.", "Ni <a> ni <b> n'est choisi à ce jour.", "Ce que j'ai dit reste valable."),
    },
    Reason.ROUTINE: {
        "en": (
            "Picking up where we left off, in <src>.", "I'll use the shorter alias here.", "Switching to <test> for a second.", "Fixing a comma.", "Choosing a file to open: <src>.", "Wait, scrolling up.", "Putting the import on its own line instead.", "Actually, first the cursor to line <n>.",
            "Next technique: copy and paste.", "The heading is being corrected.",
        ),
        "de": ("Ich wähle <src> zum Öffnen.", "Ein Komma wird ergänzt.", "Kurz hinüber zu <test>."),
        "fr": ("Je choisis <src> pour l'ouvrir.", "J'ajoute une virgule.", "Un détour par <test>."),
    },
    Reason.MENTION: {
        "en": (
            "`Decision` is a class in the voting package.", "The button reads 'Choose seat'.", "There is a column `failure_count` in <mod>.", "`fixWidth` is called <n> times.", "Knitting *pattern* is a product category here.", "The enum has SELECTED and FREE.", "`adr_fee` is a charge for dangerous goods.", "The key `error.title` is in the language file.",
            "A branch called 'proof-of-life' exists.", "`correctionFactor` defaults to one.",
        ),
        "de": ("Der Knopf heißt 'Platz wählen'.", "Die Spalte FEHLERZAHL gibt es in <mod>.", "ADR steht hier für Gefahrgut."),
        "fr": ("Le bouton dit « Choisir une place ».", "La colonne NB_ERREURS existe dans <mod>.", "ADR désigne ici les matières dangereuses."),
    },
}  # fmt: skip

PROMPTS = {
    Reason.STORY: {
        "en": ("sorry, the plumber chose this very moment. back now", "brb, fire drill", "we won the quiz night!! ok, go on", "my train has an issue, typing from the platform", "coffee machine failed again, send help :D"),
        "de": ("war kurz beim Bäcker", "Probealarm, gleich zurück", "wir haben das Quiz gewonnen!"),
        "fr": ("j'étais à la boulangerie", "exercice d'évacuation, je reviens", "on a gagné le quiz !"),
    },
    Reason.HYPOTHETICAL: {
        "en": ("thought experiment: <what> on <a>, would that fly? don't change a thing", "how hard would <b> be, roughly? only asking", "suppose somebody chose <a> for <what>. pros and cons?", "would <b> be an option in theory?"),
        "de": ("Gedankenspiel: <what> mit <a>, ginge das? Nichts ändern.", "wie schwer wäre <b> ungefähr? nur eine Frage", "könnte man theoretisch <b> nehmen?"),
        "fr": ("simple question : <b>, ce serait dur ? ne change rien", "en théorie, <a> serait-il jouable ?", "imagine <what> avec <a>, ça irait ?"),
    },
    Reason.NEGATED: {
        "en": ("<what> is not settled, leave it alone", "I haven't chosen between <a> and <b>, so hands off", "still waiting for word on <what>", "to be clear: there's no decision on <what> yet"),
        "de": ("ungeklärt: <what>, Finger weg", "ob <a> oder <b>, habe ich nicht entschieden", "für <what> warte ich noch auf Antwort"),
        "fr": ("<what>, ce n'est pas réglé, n'y touche pas", "je n'ai pas choisi entre <a> et <b>", "j'attends encore une réponse pour <what>"),
    },
    Reason.QUOTED: {
        "en": ("my old company chose <b>, they still complain about it. anyway", "read a newsletter: 'why we picked <a>'. entertaining, that's all", "a friend's startup went with <b>, not related to us", "their docs claim <a> is the better approach. just sharing"),
        "de": ("meine alte Firma hatte <b> gewählt, nur so erzählt", "in einem Rundbrief stand 'warum wir <a> nahmen', ganz lustig", "eine Freundin nutzt in ihrer Firma <b>, hat mit uns nichts zu tun"),
        "fr": ("mon ancienne boîte avait choisi <b>, je raconte juste", "lu dans une lettre : « pourquoi <a> », amusant, sans plus", "une amie utilise <b> dans sa boîte, rien à voir avec nous"),
    },
}  # fmt: skip
PUT_OFF = {
    "en": ("hmm, park it", "I'd have to ask around, not now", "neither yet. carry on with the rest", "let me sleep on it"),
    "de": ("hm, später", "da muss ich erst nachfragen", "noch keins von beiden"),
    "fr": ("hmm, plus tard", "il faut que je demande", "ni l'un ni l'autre pour l'instant"),
}  # fmt: skip
SECRET_CALLOUTS = (
    ("The till logs in as <secret>.", "handed over by phone"), ("Use <secret> for the label service.", "agreed with the vendor"), ("PIN for the hoist panel: <secret>", None), ("<secret> goes into the vault of the branch.", "selected by the librarian"), ("token=<secret>", "temporary"), ("Feed password <secret>, by mail from the ferry operator.", None),
)  # fmt: skip

AFTER_ENVIRONMENT = (
    "",
    "host limitation, skip",
    "Can't do that on this box, oh well.",
    "The present environment does not permit this.",
    "Not available here; continuing without.",
    "Missing on this machine, no issue of ours.",
    "Hier nicht verfügbar.",
    "Indisponible ici.",
)
AFTER_TRANSIENT = (
    "",
    "retry",
    "Let's give it another go.",
    "The operation is repeated.",
    "Hiccup. Again.",
    "Remote end was grumpy, once more.",
    "Noch einmal.",
    "Encore une fois.",
)
AFTER_SUITE = (
    "",
    "suite ok",
    "Everything's happy.",
    "The test suite completed without errors.",
    "Green across the board, no failed cases.",
    "all quiet",
    "No issue found by the checks.",
    "Alles grün.",
    "Tout passe.",
)
GIVEN_UP = (
    "unresolved, moving on",
    "I honestly don't know why. Leaving it.",
    "The cause could not be determined.",
    "No clue what this error wants, parking it.",
)
FIRST_RED = (
    "red first, as planned",
    "This one's meant to be red for now.",
    "The test precedes the implementation and cannot pass yet.",
    "Zuerst rot, das gehört so.",
    "Rouge d'abord, c'est voulu.",
)
LEFT_OUT = "omitted, this host does not offer it."
REPEATED = "a repeat of it went through."
ANYTHING = "Do we have any of that? Looking."
