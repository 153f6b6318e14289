"""Language: words, stems and stop words of a text, its language, its segments. Used by indexing, searching, packing and summaries."""
