"""The search engine in this process, built on tantivy; its index is a cache in the vault.

Start with `EmbeddedRecall` in `embedded_recall`.
"""
