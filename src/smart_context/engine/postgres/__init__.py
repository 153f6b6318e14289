"""The record in PostgreSQL, shared by many machines; the only package that knows it. Each machine derives a ranking of its own from it."""
