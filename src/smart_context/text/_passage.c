/* What `passage` does for each word of a text: cut it, look up what is known of it, and put its terms and their codes together.

   In: texts; of a new word, its stem and its other forms.  Out: a text as the numbers of its words and tokens; its terms, by these.
   Always: the answers are those of `analysis.py`, which does the same where this could not be compiled. What a word means is told by Python: its
   stem, whether it carries meaning, which characters belong to words. Numbers hold for the table that gave them; another one refuses or misreads them. */

#include "_passage_table.h"
#include "_passage_tokens.h"
#include "_passage_plain.h"

/* ---- the words of a text ---- */

static inline int add_bytes(Walk *walk, const unsigned char *word, size_t length)
{
    uint32_t number = number_of(walk->table, &walk->table->words, word, length);
    if (number == NONE)
        return -1;
    if (number < walk->table->flagged) { /* what is known of any other word need not be looked at here */
        Key *key = walk->table->words.keys + number;
        walk->english += is_new(key, walk->now) && key->flags & ENGLISH;
    }
    return append_number(&walk->numbers, number);
}

/* Add the word that stands in the walk's place. */
static inline int add_placed(Walk *walk, size_t length)
{
    return add_bytes(walk, walk->place, length);
}

static int add_word(Walk *walk, Py_ssize_t start, Py_ssize_t stop)
{
    return add_placed(walk, put(walk->place, &walk->text, start, stop, 1));
}

/* Where a syllable ends, near enough: a vowel that is written before its consonant, the consonant, and what stands on it or follows it. */
static Py_ssize_t cluster_end(const Walk *walk, Py_ssize_t at, Py_ssize_t stop)
{
    if (class_of(walk->table, char_at(&walk->text, at)) & BEFORE && at + 1 < stop)
        at++;
    at++;
    while (at < stop && class_of(walk->table, char_at(&walk->text, at)) & AFTER)
        at++;
    return at;
}

/* The words of a run in which something is written without spaces: overlapping pairs, and the last character or syllable. */
static int add_pairs(Walk *walk, Py_ssize_t at, Py_ssize_t stop)
{
    while (at < stop) {
        Py_ssize_t from = at;
        int script = class_of(walk->table, char_at(&walk->text, at)) & UNSPACED;
        while (at < stop && (class_of(walk->table, char_at(&walk->text, at)) & UNSPACED) == script)
            at++;
        Py_ssize_t last = from;
        for (Py_ssize_t next, piece = from; script && piece < at; last = piece, piece = next) {
            next = script == TOGETHER ? piece + 1 : cluster_end(walk, piece, at);
            if (piece > from && add_word(walk, last, next) < 0)
                return -1;
        }
        if (add_word(walk, last, at) < 0)
            return -1;
    }
    return 0;
}

static int add_words_of_ascii(Walk *walk)
{
    const unsigned char *at = walk->text.data, *stop = at + walk->text.length;
    while (at < stop) {
        size_t length = 0;
        for (; at < stop && small[*at]; at++)
            walk->place[length++] = small[*at];
        if (length && add_placed(walk, length) < 0)
            return -1;
        while (at < stop && !small[*at])
            at++;
    }
    return 0;
}

static int add_words(Walk *walk)
{
    for (Py_ssize_t at = 0; at < walk->text.length; at++) {
        Py_ssize_t start = at;
        int all = 0;
        for (Py_UCS4 c; at < walk->text.length && is_word(walk->table, c = char_at(&walk->text, at), 0); at++)
            all |= c < 128 ? 0 : class_of(walk->table, c);
        if (at > start && (all & UNSPACED ? add_pairs(walk, start, at) : add_word(walk, start, at)) < 0)
            return -1;
    }
    return 0;
}

static PyObject *table_words(Table *self, PyObject *text)
{
    Walk walk;
    if (begin(&walk, self, text) < 0)
        return NULL;
    int told = walk.text.is_ascii ? add_words_of_ascii(&walk) : add_words(&walk);
    PyObject *found = told < 0 ? NULL : Py_BuildValue("(NI)", as_bytes(&walk.numbers), walk.english);
    end(&walk);
    return found;
}

/* The words of a run of letters, digits and underscores, of these kinds. */
static inline int add_run(Walk *walk, const unsigned char *at, const unsigned char *stop, int kinds)
{
    if (!(kinds & (UPPER | UNDERSCORE))) /* as most are: it is written as it is kept */
        return add_bytes(walk, at, (size_t)(stop - at));
    for (; at < stop; at++) {
        size_t length = 0;
        for (; at < stop && small[*at]; at++)
            walk->place[length++] = small[*at];
        if (length && add_placed(walk, length) < 0)
            return -1;
    }
    return 0;
}

/* Words and tokens of a text in ASCII at once, each as `add_words_of_ascii` and `add_tokens` have them. Python need tell nothing of such tokens. */
static int add_both(Walk *words, Walk *tokens)
{
    const unsigned char *text = words->text.data;
    Py_ssize_t at = 0, stop = words->text.length, start = 0, next;
    for (int parts = 0, all = 0; at < stop;) {
        Py_ssize_t from = at;
        int first = ascii[text[at++]], rest = 0;
        if (!first)
            continue;
        for (unsigned char kind; at < stop && (kind = ascii[text[at]]); at++)
            rest |= kind;
        if (add_run(words, text + from, text + at, first | rest) < 0)
            return -1;
        if (!parts)
            start = from;
        all |= first | rest;
        if (++parts < MOST_PARTS && (next = joined(tokens, at))) {
            at = next;
            continue;
        }
        /* A plain word, as most are: of one kind, or small letters behind a capital. */
        int is_plain = parts == 1 && (all == LOWER || all == UPPER || all == DIGIT || (first == UPPER && rest == LOWER));
        if (!is_plain && says_more(tokens, start, at) && add_token(tokens, start, at, NULL) < 0)
            return -1;
        parts = all = 0;
    }
    return 0;
}

static PyObject *table_both(Table *self, PyObject *text)
{
    Walk words, tokens;
    PyObject *found = NULL;
    if (begin(&words, self, text) < 0)
        return NULL;
    if (begin(&tokens, self, text) < 0) {
        end(&words);
        return NULL;
    }
    if (!words.text.is_ascii)
        PyErr_SetString(PyExc_ValueError, "a text in ASCII is expected");
    else if (add_options(&tokens, text, NULL) == 0 && add_both(&words, &tokens) == 0)
        found = Py_BuildValue("(NIN)", as_bytes(&words.numbers), words.english, as_bytes(&tokens.numbers));
    end(&words);
    end(&tokens);
    return found;
}

/* ---- what is known of words ---- */

static inline const Record *record_of(const Table *table, uint32_t word, int language)
{
    const Key *key = table->words.keys + word;
    if (!key->data)
        return NULL;
    const Record *record = &key->first;
    while (record->language != language && record->next)
        record = table->records + record->next - 1;
    return record->language == language ? record : NULL;
}

typedef struct {
    const unsigned char *data;
    size_t length;
} Slice;

/* A word's forms, each cut to the longest term: as it is written, its stem, the stem of how it is written without accents. */
typedef struct {
    Slice plain, stem, other, tag;
    int is_empty, keeps_whole, language;
} Told;

static int is_same(Slice a, Slice b)
{
    return a.length == b.length && !memcmp(a.data, b.data, a.length);
}

static uint32_t code_of(Slice term, Slice tag)
{
    return crc32_of(tag.data, tag.length, crc32_of(term.data, term.length, 0)) & CODE;
}

/* Keep a record of a word: with its key, or behind those it has. */
static int keep_record(Table *table, Key *key, Record record)
{
    if (!key->data++) {
        key->first = record;
        return 0;
    }
    if (table->record_count == table->record_room) {
        uint32_t room = table->record_room ? table->record_room * 2 : 1024;
        Record *records = room > 1u << 26 ? NULL : PyMem_Realloc(table->records, sizeof(Record) * room);
        if (!records) {
            PyErr_NoMemory();
            return -1;
        }
        table->records = records;
        table->record_room = room;
    }
    record.next = key->first.next;
    table->records[table->record_count++] = record;
    key->first.next = table->record_count;
    return 0;
}

static int add_record(Table *table, uint32_t word, const Told *told)
{
    Buffer *arena = &table->arena;
    int has_other = !is_same(told->other, told->stem), is_written = is_same(told->plain, told->stem);
    int has_whole = told->keeps_whole && !is_written && !is_same(told->plain, told->other);
    Record record = {0, (uint32_t)arena->length, code_of(told->stem, told->tag)};
    record.term_length = (uint16_t)(told->stem.length + told->tag.length);
    record.language = (uint8_t)told->language;
    record.is_empty = (uint8_t)told->is_empty;
    record.is_there = told->is_empty || !is_written;
    record.there = (uint16_t)(told->is_empty ? record.code : crc32_of(told->plain.data, told->plain.length, crc32_of((const unsigned char *)"=", 1, 0)));
    if (!record.is_there)
        record.code |= AS_WRITTEN;
    /* Nothing of `told` lies in the arena: it may move. */
    if (append(arena, told->stem.data, told->stem.length) < 0 || append(arena, told->tag.data, told->tag.length) < 0 || append(arena, " ", 1) < 0)
        return -1;
    if (has_other && (append(arena, told->other.data, told->other.length) < 0 || append(arena, told->tag.data, told->tag.length) < 0 || append(arena, " ", 1) < 0))
        return -1;
    if (has_whole && (append(arena, told->plain.data, told->plain.length) < 0 || append(arena, " ", 1) < 0))
        return -1;
    record.more_length = (uint16_t)(arena->length - record.term - record.term_length - 1);
    if ((has_other && append_code(arena, code_of(told->other, told->tag)) < 0) || (has_whole && append_code(arena, code_of(told->plain, (Slice){told->tag.data, 0})) < 0))
        return -1;
    record.codes_length = (uint8_t)(3 * (has_other + has_whole));
    return keep_record(table, table->words.keys + word, record);
}

static int is_alpha(const unsigned char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (!(ascii[text[at]] & LETTER))
            return 0;
    return 1;
}

/* Whether a word is of characters that are words by themselves: three or four bytes each. */
static int is_together(const Table *table, const unsigned char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = text[at] >= 0xF0 ? 4 : 3;
        if (text[at] < 0xE0 || length - at < size)
            return 0;
        Py_UCS4 c = text[at] & (size == 4 ? 0x07 : 0x0F);
        for (size_t byte = 1; byte < size; byte++)
            c = c << 6 | (text[at + byte] & 0x3F);
        if (!(class_of(table, c) & TOGETHER))
            return 0;
    }
    return 1;
}

typedef struct {
    Table *table;
    int language;
    uint32_t now;
    Buffer numbers[2], texts[2]; /* of words of ASCII, and of others */
    Buffer place;
} Asked;

/* Put a word among those that are not known. What holds a digit, and a pair of characters, is its own stem in every language: it is known. */
static int ask(Asked *asked, uint32_t word)
{
    Table *table = asked->table;
    Key *key = table->words.keys + word;
    if (record_of(table, word, asked->language) || !is_new(key, asked->now))
        return 0;
    const unsigned char *text = table->arena.data + key->start;
    int other = !is_ascii(text, key->length);
    if (other ? is_together(table, text, key->length) : !is_alpha(text, key->length)) {
        asked->place.length = 0;
        size_t length = cut(text, key->length, MAX_TERM);
        if (append(&asked->place, text, length) < 0)
            return -1;
        Slice same = {asked->place.data, length};
        return add_record(table, word, &(Told){same, same, same, {asked->place.data, 0}, 0, 0, asked->language});
    }
    return append_number(asked->numbers + other, word) < 0 || append(asked->texts + other, text, key->length) < 0 ? -1 : append(asked->texts + other, " ", 1);
}

static int check(const Table *table, PyObject *words, PyObject *tokens, int language)
{
    const Map *maps[2] = {&table->words, &table->tokens};
    PyObject *numbers[2] = {words, tokens};
    int is_wrong = language < 0 || language > 255;
    for (int which = 0; which < 2; which++)
        for (Py_ssize_t at = 0; numbers[which] && at < PyBytes_GET_SIZE(numbers[which]) / 4; at++)
            is_wrong |= number_at(PyBytes_AS_STRING(numbers[which]), (size_t)at) >= maps[which]->count;
    if (is_wrong)
        PyErr_SetString(PyExc_ValueError, "numbers that this table has not given");
    return is_wrong ? -1 : 0;
}

/* A token's forms: `*wholes` is where they begin, `*parts` how many words it has as its parts; how many wholes there are, or NONE. */
static uint32_t forms_of(const Table *table, uint32_t token, size_t *wholes, uint32_t *parts)
{
    uint32_t at = table->tokens.keys[token].data;
    if (!at) {
        PyErr_SetString(PyExc_KeyError, "a token of which nothing was told");
        return NONE;
    }
    *wholes = at - 1 + 2 * sizeof at;
    *parts = number_at(table->arena.data + at - 1, 1);
    return number_at(table->arena.data + at - 1, 0);
}

static size_t after_wholes(const Table *table, size_t at, uint32_t wholes)
{
    while (wholes--)
        at += 2 * sizeof(uint32_t) + number_at(table->arena.data + at, 0);
    return at;
}

static int ask_parts(Asked *asked, uint32_t token)
{
    size_t at;
    uint32_t parts, wholes = forms_of(asked->table, token, &at, &parts);
    if (wholes == NONE)
        return -1;
    at = after_wholes(asked->table, at, wholes);
    for (uint32_t part = 0; part < parts; part++)
        if (ask(asked, number_at(asked->table->arena.data + at, part)) < 0)
            return -1;
    return 0;
}

static PyObject *table_unknown(Table *self, PyObject *arguments)
{
    PyObject *words, *tokens, *found = NULL;
    Asked asked = {.table = self};
    if (!PyArg_ParseTuple(arguments, "iSS", &asked.language, &words, &tokens) || check(self, words, tokens, asked.language) < 0)
        return NULL;
    asked.now = next_call(self);
    for (Py_ssize_t at = 0; at < PyBytes_GET_SIZE(words) / 4; at++)
        if (ask(&asked, number_at(PyBytes_AS_STRING(words), (size_t)at)) < 0)
            goto done;
    for (Py_ssize_t at = 0; at < PyBytes_GET_SIZE(tokens) / 4; at++)
        if (ask_parts(&asked, number_at(PyBytes_AS_STRING(tokens), (size_t)at)) < 0)
            goto done;
    found = Py_BuildValue("(NNNN)", as_bytes(asked.numbers), as_text(asked.texts), as_bytes(asked.numbers + 1), as_text(asked.texts + 1));
done:
    for (int which = 0; which < 2; which++) {
        PyMem_Free(asked.numbers[which].data);
        PyMem_Free(asked.texts[which].data);
    }
    PyMem_Free(asked.place.data);
    return found;
}

static int slice_of(PyObject *texts, Py_ssize_t at, Slice *slice)
{
    Py_ssize_t length;
    slice->data = (const unsigned char *)PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, at), &length);
    if (!slice->data)
        return -1;
    slice->length = cut(slice->data, (size_t)length, MAX_TERM);
    return 0;
}

static PyObject *table_learn(Table *self, PyObject *arguments)
{
    PyObject *words, *plains, *stems, *others;
    Told told = {0};
    unsigned int flag;
    const char *tag;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "is#IpSO!O!O!", &told.language, &tag, &length, &flag, &told.keeps_whole, &words, &PyList_Type, &plains,
                          &PyList_Type, &stems, &PyList_Type, &others) || check(self, words, NULL, told.language) < 0)
        return NULL;
    Py_ssize_t count = PyBytes_GET_SIZE(words) / 4;
    if (length > LONGEST_TAG || PyList_GET_SIZE(plains) != count || PyList_GET_SIZE(stems) != count || PyList_GET_SIZE(others) != count) {
        PyErr_SetString(PyExc_ValueError, "each word has one form of each kind");
        return NULL;
    }
    told.tag = (Slice){(const unsigned char *)tag, (size_t)length};
    for (Py_ssize_t at = 0; at < count; at++) {
        uint32_t word = number_at(PyBytes_AS_STRING(words), (size_t)at);
        if (record_of(self, word, told.language))
            continue;
        told.is_empty = (self->words.keys[word].flags & flag) != 0;
        if (slice_of(plains, at, &told.plain) < 0 || slice_of(stems, at, &told.stem) < 0 || slice_of(others, at, &told.other) < 0 ||
            add_record(self, word, &told) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

#include "_passage_terms.h"

/* ---- the words themselves ---- */

static int append_word(PyObject *list, const Table *table, const Key *key)
{
    PyObject *word = PyUnicode_DecodeUTF8((const char *)table->arena.data + key->start, key->length, NULL);
    int told = word ? PyList_Append(list, word) : -1;
    Py_XDECREF(word);
    return told;
}

/* The different words with a flag, or those that are long enough where there is none; `*different` is how many words there are. */
static PyObject *chosen(Table *table, PyObject *words, uint32_t flag, size_t shortest, uint32_t *different)
{
    PyObject *list = PyList_New(0);
    uint32_t now = next_call(table);
    *different = 0;
    for (Py_ssize_t at = 0; list && at < PyBytes_GET_SIZE(words) / 4; at++) {
        Key *key = table->words.keys + number_at(PyBytes_AS_STRING(words), (size_t)at);
        if (!is_new(key, now))
            continue;
        ++*different;
        if (flag ? !(key->flags & flag) : cut(table->arena.data + key->start, key->length, shortest - 1) == key->length)
            continue;
        if (append_word(list, table, key) < 0)
            Py_CLEAR(list);
    }
    return list;
}

#include "_passage_votes.h"

static PyObject *table_evidence(Table *self, PyObject *arguments)
{
    PyObject *words;
    Py_ssize_t most;
    uint32_t different;
    Buffer letters = {0};
    if (!PyArg_ParseTuple(arguments, "Sn", &words, &most) || check(self, words, NULL, 0) < 0)
        return NULL;
    for (Py_ssize_t at = 0; at < PyBytes_GET_SIZE(words) / 4 && at < most; at++) {
        const Key *key = self->words.keys + number_at(PyBytes_AS_STRING(words), (size_t)at);
        if (append(&letters, self->arena.data + key->start, key->length) < 0) {
            PyMem_Free(letters.data);
            return NULL;
        }
    }
    PyObject *voting = chosen(self, words, VOTES, 0, &different);
    PyObject *found = voting ? Py_BuildValue("(NIN)", voting, different, PyUnicode_DecodeUTF8((const char *)letters.data, (Py_ssize_t)letters.length, NULL)) : NULL;
    PyMem_Free(letters.data);
    return found;
}

static PyObject *table_long(Table *self, PyObject *arguments)
{
    PyObject *words;
    Py_ssize_t shortest;
    uint32_t different;
    if (!PyArg_ParseTuple(arguments, "Sn", &words, &shortest) || check(self, words, NULL, 0) < 0)
        return NULL;
    return chosen(self, words, 0, shortest > 1 ? (size_t)shortest : 1, &different);
}

static PyObject *table_size(Table *self, PyObject *unused)
{
    size_t keys = (size_t)self->words.count + self->tokens.count;
    return PyLong_FromSize_t(self->arena.length + keys * (sizeof(Key) + 2 * sizeof(uint64_t)) + self->record_count * sizeof(Record));
}

/* ---- the table ---- */

static int set_classes(Table *table, PyObject *ranges)
{
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(ranges); at++) {
        unsigned int first, last, bit;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(ranges, at), "III", &first, &last, &bit))
            return -1;
        if (first > last || last >= CLASSES || bit > 255) {
            PyErr_SetString(PyExc_ValueError, "no range of characters");
            return -1;
        }
        for (unsigned int c = first; c <= last; c++)
            table->classes[c] |= (unsigned char)bit;
    }
    return 0;
}

static int set_flags(Table *table, PyObject *flags)
{
    PyObject *word, *bits;
    for (Py_ssize_t at = 0; PyDict_Next(flags, &at, &word, &bits);) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(word, &length);
        unsigned long mask = text ? PyLong_AsUnsignedLong(bits) : 0;
        if (!text || PyErr_Occurred())
            return -1;
        uint32_t number = number_of(table, &table->words, (const unsigned char *)text, (size_t)length);
        if (number == NONE)
            return -1;
        table->words.keys[number].flags = (uint32_t)mask;
    }
    table->flagged = table->words.count;
    return 0;
}

static void table_free(Table *self)
{
    PyMem_Free(self->words.keys);
    PyMem_Free(self->words.slots);
    PyMem_Free(self->tokens.keys);
    PyMem_Free(self->tokens.slots);
    PyMem_Free(self->records);
    PyMem_Free(self->arena.data);
    PyMem_Free(self->classes);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *table_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    PyObject *ranges, *flags;
    Py_ssize_t seed, factor;
    if (!PyArg_ParseTuple(arguments, "nnO!O!", &seed, &factor, &PyList_Type, &ranges, &PyDict_Type, &flags))
        return NULL;
    Table *table = (Table *)type->tp_alloc(type, 0);
    if (!table)
        return NULL;
    table->secret = (Secret){(uint64_t)seed, (uint64_t)factor | 1};
    table->classes = PyMem_Calloc(CLASSES, 1);
    if (!table->classes)
        PyErr_NoMemory();
    if (!table->classes || set_classes(table, ranges) < 0 || set_flags(table, flags) < 0 || append(&table->arena, "", 1) < 0)
        Py_CLEAR(table);
    return (PyObject *)table;
}

static PyMethodDef table_methods[] = {
    {"words", (PyCFunction)table_words, METH_O, "The numbers of a lower-case text's words, and how many different ones are English alone."},
    {"tokens", (PyCFunction)table_tokens, METH_O, "The numbers of a text's tokens that say more than their words, and those of which Python must tell."},
    {"both", (PyCFunction)table_both, METH_O, "What `words` and `tokens` say of a text in ASCII, of which Python need tell nothing."},
    {"tell", (PyCFunction)table_tell, METH_VARARGS, "Tell a token's wholes and parts."},
    {"unknown", (PyCFunction)table_unknown, METH_VARARGS, "The words to learn of a text in a language: numbers and words of ASCII, and of others."},
    {"learn", (PyCFunction)table_learn, METH_VARARGS, "Tell words' forms in a language: as written, their stems, their stems without accents."},
    {"terms", (PyCFunction)table_terms, METH_VARARGS, "A text's line, its other terms, and the codes of these and of what is there."},
    {"head", (PyCFunction)table_head, METH_VARARGS, "A head: its terms, each once, other terms, the codes of either, and of what is there; None where a word is unknown."},
    {"written", (PyCFunction)table_written, METH_VARARGS, "The entry of a text below its heads; None where a word is unknown."},
    {"votes", (PyCFunction)table_votes, METH_VARARGS, "The language that most words speak for, how much, by how many words, of how many; None where letters speak too."},
    {"evidence", (PyCFunction)table_evidence, METH_VARARGS, "Words that speak for languages, how many different words there are, and the first words' letters."},
    {"long", (PyCFunction)table_long, METH_VARARGS, "The different long words."},
    {"size", (PyCFunction)table_size, METH_NOARGS, "In how many bytes what is known is kept, about."},
    {NULL},
};

static PyTypeObject table_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "smart_context.text._passage.Table",
    .tp_basicsize = sizeof(Table),
    .tp_dealloc = (destructor)table_free,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Words and tokens that were met.",
    .tp_methods = table_methods,
    .tp_new = table_new,
};

static PyMethodDef methods[] = {
    {"is_wide", is_wide, METH_O, "Whether a text may have characters beyond the first plane: it is kept with room for them."},
    {"plain", plain, METH_O, "A text with plain characters; whether NFKC changes nothing more of it; whether it has capitals of ASCII alone."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_passage", "What `passage` does for each word.", -1, methods};

PyMODINIT_FUNC PyInit__passage(void)
{
    fill_kept();
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        crc_table[byte] = crc;
    }
    for (int c = 0; c < 128; c++)
        small[c] = c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : 0,
        ascii[c] = c >= 'a' && c <= 'z' ? LOWER : c >= 'A' && c <= 'Z' ? UPPER : c >= '0' && c <= '9' ? DIGIT : c == '_' ? UNDERSCORE : 0;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddType(made, &table_type) < 0)
        Py_CLEAR(made);
    return made;
}
