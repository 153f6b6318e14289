"""Apply the current redaction rules to files that are indexed already.

In: an index open for writing.  Out: every file of it judged by these rules.
Always: no file is read again, because the record has its text; what is hidden now is removed from the ranking, with its old vectors.
"""

from __future__ import annotations

from smart_context.engine.model import FileRow
from smart_context.engine.port import Index
from smart_context.index import prepare
from smart_context.model import OnProgress, Progress, Segment, Stop
from smart_context.redact import Redactor, document
from smart_context.text.copies import Marks

_BATCH_CHARS = 16_000_000  # between two commits


def everything(index: Index, redactor: Redactor, *, on_progress: OnProgress, stop: Stop) -> int:
    """Judge every file that was judged by other rules; return how many these were."""
    rules = redactor.identity()
    done = chars = 0
    for row in index.record.judged_otherwise(rules):
        if chars == 0:
            on_progress(Progress(done, None, row.path))
        _again(index, row, redactor, rules)
        done += 1
        chars += row.chars
        if chars > _BATCH_CHARS:
            index.commit()
            chars = 0
        try:
            stop()
        except BaseException:
            index.commit()
            raise
    if done:
        index.commit()
    return done


def _again(index: Index, row: FileRow, redactor: Redactor, rules: str) -> None:
    before = recorded(index, row)
    after = document.judged(before, redactor)
    title, author = (document.head(text, after, redactor) for text in (row.title, row.author))
    is_same = before == after and (title, author) == (row.title, row.author)
    if row.judged not in index.unranked and is_same:
        index.record.mark_judged(row.file_id, rules)
        return
    known = prepare.marks(after) if row.same_text else Marks()
    new = row.again(title=title, author=author, judged=rules, same_text=known.same, like_text=known.like)
    index.put(new, after, prepare.named_years(row.path, after), row.indexed_at)


def recorded(index: Index, row: FileRow) -> list[Segment]:
    """A file's segments as the record has them."""
    rows = index.record.segments_of(row.file_id)
    known = index.record.passages(s.segment_id for s in rows)
    return [
        Segment(s.seq, s.pointer, s.heading, passage.text, passage.hidden, s.certainty)
        for s in rows
        for passage in (known[s.segment_id],)
    ]
