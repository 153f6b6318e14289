"""Context v0: immutable, content-addressed caches, built, verified and resolved byte for byte."""
