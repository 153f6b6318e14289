"""Where text comes from: walk a root, tell what a file is, extract its text with pointers, in child processes."""
