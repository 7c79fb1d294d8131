"""The in-process search engine, built on tantivy.  Its index is a cache in the vault.

Start with `EmbeddedRecall` in `embedded_recall`.
"""
