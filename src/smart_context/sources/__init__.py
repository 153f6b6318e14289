"""Read files: walk a root, detect the format of a file, extract its text with pointers, in child processes."""
