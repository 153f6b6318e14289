"""Summaries and query rewriting, by a language model or without one."""
