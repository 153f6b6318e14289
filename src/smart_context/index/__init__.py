"""Indexing runs, and keeping an index up to date: intake, writer, jobs, watcher, upkeep, status."""
