"""Search: segments, the record, the ranking index, queries, ranks and snippets."""
