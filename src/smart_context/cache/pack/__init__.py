"""Pack the passages of a cache that answer a question into a token budget, the same bytes on every machine."""
