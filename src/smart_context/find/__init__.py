"""A question: read it, plan it, rank what matches, cut the part that answers."""
