"""Guardrails of the servers: rates, time limits, audit."""
