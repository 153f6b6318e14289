"""A search: read the query, plan it, rank what matches, cut the snippets.

search        the whole flow, and the page of results; `model` has the request and the answer
filters       types and years named in the query, with `kinds` (is "slides" a type or a word?), `when` (times), `labels` (`author:`)
query         the query language; `questions`, `synonyms`, `dates`, `exact` and `corrections` read its words
plan          what to match and to score by (`plan_model`), from `lookup` (each word in the index), `naming` (file names) and `clauses`; `missing` lists what no text has
order         candidates in their final order, scored by `score` (`score_each`, `proximity`)
hybrid        the same by words and meaning, with `alike` and `feedback`
fold          copies shown once; `beginning`, `sorting`, `present` change or drop results; `notes` says what changed
snippet       the part of a segment that answers, with its hits from `marking`
contents      the text of one file, for `preview`, `file_view` and `picture`; `safe` says what must not be shown of it
evaluate      how well search answers; `known_items` makes the queries for that from the files themselves
"""
