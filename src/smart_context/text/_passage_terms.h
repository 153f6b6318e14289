/* The terms of a text by the numbers of its words and tokens, for `_passage.c`: as they are, or put together with what stands above the text.

   Always: a word of which nothing was told in a language is UNKNOWN; what is said of a text is complete, or nothing is said. */

enum { UNKNOWN = 1, WIDE = 3, SHORT = 2, MOST_CODES = 0xFFFF };

typedef struct {
    Table *table;
    int language;
    uint32_t now;
    Buffer line, also, line_codes, also_codes, there;
} Reading;

/* Append what lies in the arena with so many bytes behind it: most terms are short, and copied at once. */
static inline int append_term(Buffer *buffer, const unsigned char *data, size_t length)
{
    if (reserve(buffer, length + AHEAD) < 0)
        return -1;
    memcpy(buffer->data + buffer->length, data, AHEAD);
    if (length > AHEAD)
        memcpy(buffer->data + buffer->length + AHEAD, data + AHEAD, length - AHEAD);
    buffer->length += length;
    return 0;
}

static int read_word(Reading *reading, uint32_t word)
{
    const unsigned char *arena = reading->table->arena.data;
    const Record *record = record_of(reading->table, word, reading->language);
    if (!record)
        return UNKNOWN;
    if (append_term(&reading->line, arena + record->term, record->term_length + 1u) < 0)
        return -1;
    if (!record->is_empty && append_code(&reading->line_codes, record->code) < 0)
        return -1;
    if ((!record->is_there && !record->more_length) || !is_new(reading->table->words.keys + word, reading->now))
        return 0;
    unsigned char there[2] = {record->there & 0xFF, record->there >> 8};
    const unsigned char *more = arena + record->term + record->term_length + 1;
    return append(&reading->also, more, record->more_length) < 0 || append(&reading->also_codes, more + record->more_length, record->codes_length) < 0
               ? -1 : append(&reading->there, there, record->is_there ? 2 : 0);
}

/* Add a term of a token, unless it is one of those that begin at `first` among the other terms. */
static int add_term(Reading *reading, size_t first, Slice term, uint32_t code)
{
    const unsigned char *at = reading->also.data + first, *stop = reading->also.data + reading->also.length;
    while (first < reading->also.length && at < stop) {
        const unsigned char *space = memchr(at, ' ', (size_t)(stop - at));
        if ((size_t)(space - at) == term.length && !memcmp(at, term.data, term.length))
            return 0;
        at = space + 1;
    }
    return append(&reading->also, term.data, term.length) < 0 || append(&reading->also, " ", 1) < 0 ? -1 : append_code(&reading->also_codes, code & CODE);
}

static int read_token(Reading *reading, uint32_t token)
{
    const Table *table = reading->table;
    const unsigned char *arena = table->arena.data;
    size_t at, first = reading->also.length;
    uint32_t parts, wholes = forms_of(table, token, &at, &parts);
    if (wholes == NONE)
        return -1;
    for (; wholes; wholes--) {
        Slice whole = {arena + at + 2 * sizeof wholes, number_at(arena + at, 0)};
        if (add_term(reading, first, whole, number_at(arena + at, 1)) < 0)
            return -1;
        at += 2 * sizeof wholes + whole.length;
    }
    for (uint32_t part = 0; part < parts; part++) {
        const Record *record = record_of(table, number_at(arena + at, part), reading->language);
        if (!record)
            return UNKNOWN;
        if (add_term(reading, first, (Slice){arena + record->term, record->term_length}, record->code) < 0)
            return -1;
    }
    return 0;
}

static int read_all(Reading *reading, PyObject *words, PyObject *tokens)
{
    int told = check(reading->table, words, tokens, reading->language) < 0 ? -1 : reserve(&reading->table->arena, AHEAD);
    reading->now = next_call(reading->table);
    for (Py_ssize_t at = 0; told == 0 && at < PyBytes_GET_SIZE(words) / 4; at++)
        told = read_word(reading, number_at(PyBytes_AS_STRING(words), (size_t)at));
    for (Py_ssize_t at = 0; told == 0 && at < PyBytes_GET_SIZE(tokens) / 4; at++)
        told = read_token(reading, number_at(PyBytes_AS_STRING(tokens), (size_t)at));
    return told;
}

static void end_reading(Reading *reading)
{
    PyMem_Free(reading->line.data);
    PyMem_Free(reading->also.data);
    PyMem_Free(reading->line_codes.data);
    PyMem_Free(reading->also_codes.data);
    PyMem_Free(reading->there.data);
}

static PyObject *table_terms(Table *self, PyObject *arguments)
{
    PyObject *words, *tokens, *found = NULL;
    Reading reading = {.table = self};
    if (!PyArg_ParseTuple(arguments, "iSS", &reading.language, &words, &tokens))
        return NULL;
    int told = read_all(&reading, words, tokens);
    if (told == UNKNOWN)
        PyErr_SetString(PyExc_KeyError, "a word of which nothing was told");
    if (told == 0)
        found = Py_BuildValue("(NNNNN)", as_text(&reading.line), as_text(&reading.also), as_bytes(&reading.line_codes), as_bytes(&reading.also_codes),
                              as_bytes(&reading.there));
    end_reading(&reading);
    return found;
}

static PyObject *table_line(Table *self, PyObject *arguments)
{
    PyObject *text, *found = NULL;
    Reading reading = {.table = self};
    Walk walk;
    if (!PyArg_ParseTuple(arguments, "iU", &reading.language, &text) || begin(&walk, self, text) < 0)
        return NULL;
    int told = walk.text.is_ascii ? add_words_of_ascii(&walk) : add_words(&walk);
    if (told == 0)
        told = reserve(&self->arena, AHEAD);
    reading.now = next_call(self);
    for (size_t at = 0; told == 0 && at < walk.numbers.length / 4; at++)
        told = read_word(&reading, number_at(walk.numbers.data, at));
    if (told == 0)
        found = as_text(&reading.line);
    else if (told == UNKNOWN)
        found = Py_NewRef(Py_None);
    end_reading(&reading);
    end(&walk);
    return found;
}

/* ---- a text below its heads ---- */

typedef struct {
    const char *data;
    Py_ssize_t length;
} Given;

/* Terms, each with a space after it, without the last space. */
static Given without_last(const Buffer *buffer)
{
    return (Given){(const char *)buffer->data, buffer->length ? (Py_ssize_t)buffer->length - 1 : 0};
}

static char *put_bytes(char *to, const void *data, size_t length)
{
    if (length)
        memcpy(to, data, length);
    return to + length;
}

static PyObject *joined_by(Given first, const char *between, Given second)
{
    size_t more = strlen(between);
    PyObject *all = PyBytes_FromStringAndSize(NULL, first.length + (Py_ssize_t)more + second.length);
    if (all)
        put_bytes(put_bytes(put_bytes(PyBytes_AS_STRING(all), first.data, (size_t)first.length), between, more), second.data, (size_t)second.length);
    return all;
}

static size_t spaces_in(Given text)
{
    size_t count = 0;
    for (Py_ssize_t at = 0; at < text.length; at++)
        count += text.data[at] == ' ';
    return count;
}

/* The last terms of a line: `line.rsplit(None, most)[-most:]`, joined. */
static Given last_of(Given line, int most)
{
    if (!line.length)
        return (Given){"", 0};
    const char *start = line.data + line.length, *end = start;
    for (const char *at = start; most > 0; most--) {
        while (at > line.data && at[-1] == ' ')
            at--;
        if (start == end)
            end = at;
        if (at == line.data)
            break;
        while (at > line.data && at[-1] != ' ')
            at--;
        start = at;
    }
    return (Given){start, start < end ? end - start : 0};
}

/* Other terms, and their codes: those of heads and text, and what the text explains. */
static int add_explained(Reading *reading, PyObject *explained)
{
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(explained); at++) {
        Py_ssize_t length;
        const char *term = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(explained, at), &length);
        if (!term || append(&reading->also, term, (size_t)length) < 0 || append(&reading->also, " ", 1) < 0 ||
            append_code(&reading->also_codes, crc32_of((const unsigned char *)term, (size_t)length, 0) & CODE) < 0)
            return -1;
    }
    return 0;
}

static size_t at_most(size_t length, size_t width)
{
    return length < MOST_CODES * width ? length : MOST_CODES * width;
}

static char *put_short(char *to, size_t number)
{
    *to++ = (char)(number & 0xFF);
    *to++ = (char)(number >> 8 & 0xFF);
    return to;
}

/* What `codes.pack` gives of a text of so many words, and of its heads. */
static PyObject *packed(const Reading *reading, size_t words, Given heads, Given present)
{
    size_t line = at_most(reading->line_codes.length, WIDE), also = at_most(reading->also_codes.length, WIDE), above = at_most((size_t)heads.length, WIDE);
    size_t there = at_most(reading->there.length, SHORT), more = at_most(reading->there.length + (size_t)present.length, SHORT) - there;
    PyObject *all = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(5 * SHORT + line + also + above + there + more));
    if (!all)
        return NULL;
    char *to = put_short(PyBytes_AS_STRING(all), words < MOST_CODES ? words : MOST_CODES);
    to = put_short(put_short(put_short(put_short(to, line / WIDE), also / WIDE), above / WIDE), (there + more) / SHORT);
    to = put_bytes(to, reading->line_codes.data, line);
    to = put_bytes(to, reading->also_codes.data, also);
    to = put_bytes(to, heads.data, above);
    to = put_bytes(to, reading->there.data, there);
    put_bytes(to, present.data, more);
    return all;
}

static PyObject *table_written(Table *self, PyObject *arguments)
{
    PyObject *words, *tokens, *explained, *found = NULL;
    Given line, also, codes, present;
    Reading reading = {.table = self};
    int reach;
    if (!PyArg_ParseTuple(arguments, "iSSy#y#y#y#O!i", &reading.language, &words, &tokens, &line.data, &line.length, &also.data, &also.length, &codes.data,
                          &codes.length, &present.data, &present.length, &PyList_Type, &explained, &reach))
        return NULL;
    int told = read_all(&reading, words, tokens);
    /* A space stands where there are no other terms, too. */
    if (told == 0 && PyList_GET_SIZE(explained) && !reading.also.length)
        told = append(&reading.also, " ", 1);
    if (told == 0)
        told = add_explained(&reading, explained);
    if (told == 0) {
        Given own = without_last(&reading.line), last = last_of(own, reach);
        size_t length = spaces_in(own) + 1;
        found = Py_BuildValue("(nNNNN)", (Py_ssize_t)length, joined_by(line, "", own), joined_by(also, " ", without_last(&reading.also)),
                              PyBytes_FromStringAndSize(last.data, last.length), packed(&reading, length, codes, present));
    } else if (told == UNKNOWN) {
        found = Py_NewRef(Py_None);
    }
    end_reading(&reading);
    return found;
}
