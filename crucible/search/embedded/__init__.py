"""The search engine in this process, built on tantivy."""
