/* The terms of a text by the numbers of its words and tokens, for `_passage.c`: as they are, or put together with what stands above the text.

   Always: a word of which nothing was told in a language is UNKNOWN; what is said of a text is complete, or nothing is said. */

enum { UNKNOWN = 1, WIDE = 3, SHORT = 2, MOST_CODES = 0xFFFF };

typedef struct {
    Table *table;
    int language;
    uint32_t now;
    Buffer line, also, line_codes, also_codes, there;
} Reading;

typedef struct {
    const char *data;
    Py_ssize_t length;
} Given;

/* Terms, each with a space after it, without the last space. */
static Given without_last(const Buffer *buffer)
{
    return (Given){(const char *)buffer->data, buffer->length ? (Py_ssize_t)buffer->length - 1 : 0};
}

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

/* Put a term behind others, each of which ends with a space, and its code behind theirs, unless it is there. */
static int add_once(Buffer *line, Buffer *codes, Slice term)
{
    for (size_t at = 0, length; at < line->length; at += length + 1) {
        length = (size_t)((unsigned char *)memchr(line->data + at, ' ', line->length - at) - line->data) - at;
        if (length == term.length && !memcmp(line->data + at, term.data, length))
            return 0;
    }
    return append(line, term.data, term.length) < 0 || append(line, " ", 1) < 0 ? -1 : append_code(codes, crc32_of(term.data, term.length, 0) & CODE);
}

/* What a head says: its terms, each once, with what ends it behind them. */
static PyObject *table_head(Table *self, PyObject *arguments)
{
    PyObject *words, *tokens, *found = NULL;
    Given end;
    Reading reading = {.table = self};
    Buffer line = {0}, codes = {0};
    if (!PyArg_ParseTuple(arguments, "iSSy#", &reading.language, &words, &tokens, &end.data, &end.length))
        return NULL;
    int told = read_all(&reading, words, tokens);
    for (size_t at = 0, stop; told == 0 && at < reading.line.length; at = stop + 1) {
        stop = (size_t)((unsigned char *)memchr(reading.line.data + at, ' ', reading.line.length - at) - reading.line.data);
        if (stop > at)
            told = add_once(&line, &codes, (Slice){reading.line.data + at, stop - at});
    }
    if (told == 0 && !line.length)
        told = append(&line, " ", 1);
    if (told == 0)
        told = append(&line, end.data, (size_t)end.length);
    Given also = without_last(&reading.also);
    if (told == 0)
        found = Py_BuildValue("(Ny#NNN)", as_bytes(&line), also.data ? also.data : "", also.length, as_bytes(&codes), as_bytes(&reading.also_codes),
                              as_bytes(&reading.there));
    else if (told == UNKNOWN)
        found = Py_NewRef(Py_None);
    end_reading(&reading);
    PyMem_Free(line.data);
    PyMem_Free(codes.data);
    return found;
}

/* ---- a text below its heads ---- */

static char *put_bytes(char *to, const void *data, size_t length)
{
    if (length)
        memcpy(to, data, length);
    return to + length;
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

/* The parts of an entry, as `passage._joined` has them. */
enum { NUMBERS = 6, HEAD = NUMBERS * 4 + 1 };

/* How many of each kind of codes `codes.pack` takes, in bytes; `there` and `more` are those of the text and of its heads. */
typedef struct {
    size_t line, also, above, there, more;
} Sizes;

static Sizes sizes_of(const Reading *reading, Given heads, Given present)
{
    size_t there = at_most(reading->there.length, SHORT);
    return (Sizes){at_most(reading->line_codes.length, WIDE), at_most(reading->also_codes.length, WIDE), at_most((size_t)heads.length, WIDE), there,
                   at_most(reading->there.length + (size_t)present.length, SHORT) - there};
}

/* What `codes.pack` gives of a text of so many words, and of its heads. */
static void put_packed(char *to, const Reading *reading, const Sizes *sizes, size_t words, Given heads, Given present)
{
    to = put_short(to, words < MOST_CODES ? words : MOST_CODES);
    to = put_short(put_short(to, sizes->line / WIDE), sizes->also / WIDE);
    to = put_short(put_short(to, sizes->above / WIDE), (sizes->there + sizes->more) / SHORT);
    to = put_bytes(to, reading->line_codes.data, sizes->line);
    to = put_bytes(to, reading->also_codes.data, sizes->also);
    to = put_bytes(to, heads.data, sizes->above);
    to = put_bytes(to, reading->there.data, sizes->there);
    put_bytes(to, present.data, sizes->more);
}

/* Append terms that stand apart by spaces, at most so many, each with a space behind it. */
static int append_terms(Buffer *to, Given terms, int most)
{
    const char *at = terms.data, *stop = at + terms.length;
    while (at < stop && most > 0) {
        const char *space = memchr(at, ' ', (size_t)(stop - at)), *end = space ? space : stop;
        if (end > at && (append(to, at, (size_t)(end - at)) < 0 || append(to, " ", 1) < 0))
            return -1;
        most -= end > at;
        at = end + 1;
    }
    return 0;
}

/* The last terms of a text, what parts it from the next one, and the first terms of that, each with a space behind it; UNKNOWN as elsewhere. */
static int add_border(Reading *reading, Buffer *border, PyObject *begins, Given parting, int reach)
{
    Walk walk;
    Reading first = {.table = reading->table, .language = reading->language};
    if (begin(&walk, reading->table, begins) < 0)
        return -1;
    int told = walk.text.is_ascii ? add_words_of_ascii(&walk) : add_words(&walk);
    if (told == 0)
        told = reserve(&reading->table->arena, AHEAD);
    first.now = next_call(reading->table);
    for (size_t at = 0; told == 0 && at < walk.numbers.length / 4; at++)
        told = read_word(&first, number_at(walk.numbers.data, at));
    if (told == 0 && (append_terms(border, last_of(without_last(&reading->line), reach), reach) < 0 || append_terms(border, parting, 1) < 0 ||
                      append_terms(border, without_last(&first.line), reach) < 0))
        told = -1;
    end_reading(&first);
    end(&walk);
    return told;
}

typedef struct {
    Given line, also, codes, present, compounds, parting;
    PyObject *explained, *begins;
    int reach;
} Around;

static PyObject *entry_of(const Reading *reading, const Buffer *border, const Around *around)
{
    Given own = without_last(&reading->line), also = without_last(&reading->also), between = without_last(border);
    Sizes sizes = sizes_of(reading, around->codes, around->present);
    size_t words = spaces_in(own) + 1;
    size_t numbers[NUMBERS] = {words, (size_t)(around->line.length + own.length), (size_t)(around->also.length + 1 + also.length),
                               (size_t)around->compounds.length, (size_t)between.length,
                               5 * SHORT + sizes.line + sizes.also + sizes.above + sizes.there + sizes.more};
    size_t all = HEAD;
    for (int at = 1; at < NUMBERS; at++)
        all += numbers[at];
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)all);
    if (!made)
        return NULL;
    char *to = PyBytes_AS_STRING(made);
    for (int at = 0; at < NUMBERS; at++)
        to = put_short(put_short(to, numbers[at] & 0xFFFF), numbers[at] >> 16);
    *to++ = (char)reading->language;
    to = put_bytes(put_bytes(to, around->line.data, (size_t)around->line.length), own.data, (size_t)own.length);
    to = put_bytes(put_bytes(to, around->also.data, (size_t)around->also.length), " ", 1);
    to = put_bytes(to, also.data, (size_t)also.length);
    to = put_bytes(put_bytes(to, around->compounds.data, (size_t)around->compounds.length), between.data, (size_t)between.length);
    put_packed(to, reading, &sizes, words, around->codes, around->present);
    return made;
}

static PyObject *table_written(Table *self, PyObject *arguments)
{
    PyObject *words, *tokens, *found = NULL;
    Around around;
    Reading reading = {.table = self};
    Buffer border = {0};
    if (!PyArg_ParseTuple(arguments, "iSS(y#y#y#y#)O!y#Oy#i", &reading.language, &words, &tokens, &around.line.data, &around.line.length, &around.also.data,
                          &around.also.length, &around.codes.data, &around.codes.length, &around.present.data, &around.present.length, &PyList_Type,
                          &around.explained, &around.compounds.data, &around.compounds.length, &around.begins, &around.parting.data,
                          &around.parting.length, &around.reach))
        return NULL;
    int told = read_all(&reading, words, tokens);
    if (told == 0 && around.begins != Py_None)
        told = add_border(&reading, &border, around.begins, around.parting, around.reach);
    /* A space stands where there are no other terms, too. */
    if (told == 0 && PyList_GET_SIZE(around.explained) && !reading.also.length)
        told = append(&reading.also, " ", 1);
    if (told == 0)
        told = add_explained(&reading, around.explained);
    if (told == 0)
        found = entry_of(&reading, &border, &around);
    else if (told == UNKNOWN)
        found = Py_NewRef(Py_None);
    end_reading(&reading);
    PyMem_Free(border.data);
    return found;
}
