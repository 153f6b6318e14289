"""Semantic ranking, the extra `[semantic]`: an encoder from a local folder, vectors stored beside the index, and their search.

Nothing here is imported unless a model is configured, and nothing here opens a socket.
"""
