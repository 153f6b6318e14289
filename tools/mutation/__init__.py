"""How well do the tests watch? `python -m tools.mutation`."""
