"""Full-text search over sessions and knowledge: what was said, decided and learned."""
