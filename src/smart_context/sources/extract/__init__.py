"""One module a family of formats; each gives units of text with their pointers."""
