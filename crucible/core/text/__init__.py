"""Words, sentences and durations in plain text; nothing here knows Markdown."""
