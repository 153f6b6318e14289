"""Synonyms: the words in which a manual answers a question that was asked in other words.

In: a word of a question in English, as it was typed.  Out: its synonyms.
Always: only words that can replace it in nearly any text about files, programs or data; never the word itself.

People who ask do not know the word of the page: *get rid of* for *remove*. Each line of the table has a word of questions, in the forms that
people type, and the words of answers, in one form each, because they are looked for by their stems.
"""

from __future__ import annotations

from collections.abc import Mapping

_TABLE = """
rid: remove delete discard
remove removed removing: delete drop discard erase
delete deleted deleting: remove drop discard erase
erase erased: delete remove
throw: discard
undo undone: revert reset
change changed changing: modify edit alter update
edit edited editing: modify change
modify modified: change edit alter
rename renamed: move
show shown: display print list
see seen view: show display
display displayed: show print
find found look: search locate
search searching: find
start started starting: launch run begin
stop stopped stopping: end terminate cancel abort kill
end: terminate stop
cancel cancelled: abort stop
pick choose chosen: choose select
select selected: choose
create created creating: make new
make made: create
copy copied copying: duplicate clone
duplicate duplicates: copy
combine combined glue: merge join concatenate
join joined: merge concatenate combine
split: divide separate
compare compared comparing: diff
save saved saving: store write
store stored storing: save
speed: performance
fast: quick performance
faster: performance speed
quickly: fast faster
slow slowly: performance
largest biggest longest: maximum
smallest shortest: minimum
limit: maximum restrict
allow allowed: permit grant
permission permissions: privilege
safe: secure security
dangerous: unsafe insecure security
wait waiting: sleep delay block
error errors: exception failure
broken damaged: corrupt
folder folders: directory
directory directories: folder
picture pictures: image
computer: machine host system
program programs: application command
text: string
letter letters: character
capital: uppercase
repeat repeated: loop
check checked checking: verify test
test tested: check
forbid forbidden: prevent disable
prevent: disable
read reading: parse load
hide hidden: ignore
skip skipped: ignore bypass
several: multiple
order ordered: sort
sort sorted sorting: order
empty: blank
run running: execute
execute executed: run
call called calling: invoke
convert converted: transform
turn: convert
backup: dump
restore restored: recover
recover recovered: restore
old older: earlier previous
previous: earlier
last: latest recent
recent recently: latest
long: length maximum timeout
often: interval frequency
many: maximum number limit
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    lines = (line.partition(":") for line in table.strip().splitlines())
    return {
        word: tuple(other for other in others.split() if other != word)
        for words, _, others in lines
        for word in words.split()
    }


_OTHERS: Mapping[str, tuple[str, ...]] = _read(_TABLE)


def of(word: str) -> tuple[str, ...]:
    """The synonyms of a word; none for most words."""
    return _OTHERS.get(word, ())
