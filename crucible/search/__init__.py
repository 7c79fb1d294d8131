"""Full-text search over the events of sessions and over knowledge items.

- `recall`: `Question`, `Answer`, `Hit`, `Event` and the protocol `Recall`
- `EmbeddedRecall` searches a vault in this process
- `TeamRecall` searches a team's PostgreSQL server; `Pusher` fills it
- `read_question` parses the text of a question
- `events_of` splits a session into searchable events

    EmbeddedRecall(root, settings).ask(Question("retry policy type:decision"), now)

This package does not depend on the command line or agents.  Knowledge items are passed in as an `ItemCatalog`.
"""
