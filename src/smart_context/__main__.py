"""`python -m smart_context` is the command `context`."""

from smart_context.cli import main

main()
