"""The engine of one machine: SQLite holds the record, tantivy the ranking that is derived from it."""
