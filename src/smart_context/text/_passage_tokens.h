/* The tokens of a text, and what they are found by beside their words: as `words._tokens`, `identifiers.wholes` and `identifiers.parts` have them.

   In: a text; a token of ASCII.  Out: numbers of tokens that say more than their words; a token's forms, in the table.
   Always: a token with other characters is left to Python, which tells its forms. */

/* ---- what a token is found by ---- */

typedef struct {
    Buffer wholes, parts;
    uint32_t whole_count, part_count;
} Forms;

static int has_whole(const Forms *forms, const unsigned char *text, size_t length)
{
    const unsigned char *at = forms->wholes.data;
    for (uint32_t number = 0, own; number < forms->whole_count; number++, at += 2 * sizeof own + own) {
        memcpy(&own, at, sizeof own);
        if (own == length && memcmp(at + 2 * sizeof own, text, length) == 0)
            return 1;
    }
    return 0;
}

static int add_whole(Forms *forms, const unsigned char *text, size_t length)
{
    uint32_t code = crc32_of(text, length, 0) & CODE;
    if (has_whole(forms, text, length))
        return 0;
    forms->whole_count++;
    return append_number(&forms->wholes, (uint32_t)length) < 0 || append_number(&forms->wholes, code) < 0 ? -1 : append(&forms->wholes, text, length);
}

static int add_part(Table *table, Forms *forms, const unsigned char *text, size_t length)
{
    uint32_t number = number_of(table, &table->words, text, length);
    forms->part_count++;
    return number == NONE ? -1 : append_number(&forms->parts, number);
}

static int keep_forms(Table *table, uint32_t token, const Forms *forms)
{
    size_t start = table->arena.length;
    if (append_number(&table->arena, forms->whole_count) < 0 || append_number(&table->arena, forms->part_count) < 0 ||
        append(&table->arena, forms->wholes.data, forms->wholes.length) < 0 || append(&table->arena, forms->parts.data, forms->parts.length) < 0)
        return -1;
    table->tokens.keys[token].data = (uint32_t)start + 1;
    return 0;
}

static int kind_of(unsigned char c)
{
    return c < 128 ? ascii[c] : 0;
}

/* Whether a token of ASCII is written in several cases, or with digits, as `identifiers._MIXED` says. */
static int is_mixed(const unsigned char *text, size_t length)
{
    for (size_t at = 0; at + 1 < length; at++) {
        int a = kind_of(text[at]), b = kind_of(text[at + 1]);
        if (a == LOWER && b == UPPER)
            return 1;
        if (at + 3 >= length || !(a & (LETTER | DIGIT)) || !(b & (LETTER | DIGIT)))
            continue;
        int c = kind_of(text[at + 2]), d = kind_of(text[at + 3]);
        if ((a == UPPER && b == UPPER && c == LOWER && d == LOWER) || (a & LETTER && b & LETTER && c == DIGIT && d == DIGIT) ||
            (a == DIGIT && b == DIGIT && c & LETTER && d & LETTER))
            return 1;
    }
    return 0;
}

/* Where a piece of a word ends: capitals, a capital with small letters after it, small letters, or digits. */
static size_t piece_end(const unsigned char *word, size_t at, size_t length)
{
    size_t start = at;
    int kind = ascii[word[at]];
    while (at < length && ascii[word[at]] == kind)
        at++;
    if (kind != UPPER || at == length || ascii[word[at]] != LOWER)
        return at;
    if (at - 1 > start)
        return at - 1;
    while (at < length && ascii[word[at]] == LOWER)
        at++;
    return at;
}

static int add_pieces(Table *table, Forms *forms, const unsigned char *word, size_t length)
{
    unsigned char piece[MAX_TERM];
    if (!is_mixed(word, length) || piece_end(word, 0, length) == length)
        return 0;
    for (size_t start = 0, stop; start < length; start = stop) {
        stop = piece_end(word, start, length);
        for (size_t at = start; at < stop; at++)
            piece[at - start] = lower(word[at]);
        if (stop - start > 1 && add_part(table, forms, piece, stop - start) < 0)
            return -1;
    }
    return 0;
}

/* As `identifiers.parts`. */
static int add_parts(Table *table, Forms *forms, const unsigned char *token, size_t length)
{
    if (length > MAX_TERM)
        length = MAX_TERM;
    if (!is_mixed(token, length))
        return 0;
    for (size_t at = 0; at < length; at++) {
        size_t start = at;
        while (at < length && ascii[token[at]] & (LETTER | DIGIT))
            at++;
        if (at > start && add_pieces(table, forms, token + start, at - start) < 0)
            return -1;
    }
    return 0;
}

static int add_decimal(Forms *forms, unsigned char *number, size_t whole, const unsigned char *fraction, size_t length)
{
    size_t zeros = 0;
    if (length >= MANY && whole <= GROUP)
        return 0;
    while (zeros < whole && number[zeros] == '0')
        zeros++;
    while (length && fraction[length - 1] == '0')
        length--;
    if (zeros == whole)
        number[--zeros] = '0';
    if (length) {
        number[whole++] = '.'; /* it stands where a mark stood, or before: the fraction moves to the front, if at all */
        memmove(number + whole, fraction, length);
        whole += length;
    }
    whole -= zeros;
    return add_whole(forms, number + zeros, whole < MAX_TERM ? whole : MAX_TERM);
}

static int add_values(Forms *forms, unsigned char *token, size_t length);

/* As `identifiers._each`. */
static int add_each(Forms *forms, unsigned char *token, size_t length)
{
    if (!memchr(token, ',', length))
        return add_whole(forms, token, length);
    for (size_t start = 0, stop; start < length; start = stop + 1) {
        for (stop = start; stop < length && token[stop] != ',';)
            stop++;
        if (add_values(forms, token + start, stop - start) < 0) /* digits alone are no number with marks, and add nothing */
            return -1;
    }
    return 0;
}

/* As `identifiers.values`, of digits with marks between them; 1 where it is no such number. It is changed. */
static int add_values(Forms *forms, unsigned char *token, size_t length)
{
    size_t starts[MOST_PARTS + 1], ends[MOST_PARTS + 1];
    int groups = 0, thousands, same = 1, exact = 1, again = 0; /* groups after the first */
    starts[0] = 0;
    for (size_t at = 0; at < length; at++) {
        if (ascii[token[at]] == DIGIT)
            continue;
        if (!strchr(".,'", token[at]) || groups == MOST_PARTS)
            return 1;
        ends[groups++] = at;
        starts[groups] = at + 1;
    }
    ends[groups] = length;
    if (!groups)
        return 1;
    for (int group = 0; group <= groups; group++)
        if (starts[group] == ends[group])
            return 1;
    unsigned char first = token[ends[0]], last = token[ends[groups - 1]];
    for (int group = 1; group <= groups; group++) {
        same &= token[ends[group - 1]] == first;
        again |= group < groups && token[ends[group - 1]] == last;
        exact &= group == groups || ends[group] - starts[group] == GROUP;
    }
    thousands = exact && ends[groups] - starts[groups] == GROUP && ends[0] <= GROUP && token[0] != '0';
    if (same ? groups > 1 && !thousands : again || !exact)
        return add_each(forms, token, length);
    size_t fraction = starts[groups], rest = length - fraction, whole = ends[0];
    for (int group = 1; group < groups; group++, whole += GROUP)
        memmove(token + whole, token + starts[group], GROUP);
    if (!same)
        return add_decimal(forms, token, whole, token + fraction, rest);
    if (thousands) { /* at most eight groups of three, after three */
        unsigned char joined[GROUP * (MOST_PARTS + 1)];
        memcpy(joined, token, whole);
        memcpy(joined + whole, token + fraction, rest);
        if (add_whole(forms, joined, whole + rest) < 0)
            return -1;
    }
    return groups == 1 && first != '\'' ? add_decimal(forms, token, whole, token + fraction, rest) : 0;
}

/* As `identifiers.wholes`. What it is given is changed. */
static int add_wholes(Forms *forms, unsigned char *token, size_t length)
{
    int is_option = length > 2 && token[0] == '-' && token[1] == '-', words = 0, before = 0;
    if (ascii[token[0]] == DIGIT) {
        int told = add_values(forms, token, length);
        if (told <= 0)
            return told;
    }
    size_t kept = is_option ? 2 : 0, most = kept + MAX_TERM;
    for (size_t at = kept; at < length; at++) {
        int inside = ascii[token[at]] & (LETTER | DIGIT);
        words += inside && !before;
        before = inside;
        if (inside && kept < most)
            token[kept++] = lower(token[at]);
    }
    return is_option || words > 1 ? add_whole(forms, token, kept) : 0;
}

static int learn_token(Table *table, uint32_t number, unsigned char *token, size_t length)
{
    Forms forms = {0};
    int told = add_parts(table, &forms, token, length);
    if (told == 0)
        told = add_wholes(&forms, token, length);
    if (told == 0)
        told = keep_forms(table, number, &forms);
    PyMem_Free(forms.wholes.data);
    PyMem_Free(forms.parts.data);
    return told;
}

/* ---- the tokens of a text ---- */

/* Where a word ends; `*kinds` is what it has: an underscore, and anything that is not ASCII, count as one more kind. */
static inline Py_ssize_t word_end(const Walk *walk, Py_ssize_t at, int *kinds)
{
    if (walk->text.is_ascii) {
        const unsigned char *bytes = walk->text.data;
        int all = 0;
        for (unsigned char kind; at < walk->text.length && (kind = ascii[bytes[at]]); at++)
            all |= kind;
        *kinds |= all;
        return at;
    }
    for (Py_UCS4 c; at < walk->text.length && is_word(walk->table, c = char_at(&walk->text, at), UNDERSCORE); at++)
        *kinds |= c < 128 ? ascii[c] : UNDERSCORE;
    return at;
}

static int is_digit_at(const Walk *walk, Py_ssize_t at)
{
    Py_UCS4 c = char_at(&walk->text, at);
    return c >= '0' && c <= '9';
}

/* Where the next word begins, if something joins it to the one that ends here; else 0. */
static inline Py_ssize_t joined(const Walk *walk, Py_ssize_t at)
{
    Py_ssize_t next = at + 1;
    if (next >= walk->text.length)
        return 0;
    switch (char_at(&walk->text, at)) {
    case '-': case '.': case '/': case '+': case '&': case '\'': case '@': case 0x2019:
        break;
    case ':':
        next += char_at(&walk->text, next) == ':';
        break;
    case ',':
        if (!is_digit_at(walk, at - 1) || !is_digit_at(walk, next))
            return 0;
        break;
    default:
        return 0;
    }
    return next < walk->text.length && is_word(walk->table, char_at(&walk->text, next), UNDERSCORE) ? next : 0;
}

/* Whether a token is found by anything but its words: it has several and spaces between words are usual in it, or it is mixed. */
static int says_more(const Walk *walk, Py_ssize_t start, Py_ssize_t stop)
{
    unsigned char first[MAX_TERM];
    int words = 0, before = 0, unspaced = 0, kinds = 0;
    for (Py_ssize_t at = start; at < stop; at++) {
        Py_UCS4 c = char_at(&walk->text, at);
        int inside = is_alnum(c);
        words += inside && !before;
        before = inside;
        kinds |= c < 128 ? ascii[c] : 0;
        unspaced |= c < 128 ? 0 : class_of(walk->table, c) & UNSPACED;
        if (at - start < MAX_TERM)
            first[at - start] = c < 128 ? (unsigned char)c : 0x80;
    }
    if (words > 1 && !unspaced)
        return 1;
    if (!(kinds & LETTER) || kinds == LOWER || kinds == UPPER)
        return 0;
    return is_mixed(first, (size_t)(stop - start < MAX_TERM ? stop - start : MAX_TERM));
}

/* Add a token; `untold` gets it if Python must tell of it, which is never so in ASCII. */
static int add_token(Walk *walk, Py_ssize_t start, Py_ssize_t stop, PyObject *untold)
{
    Table *table = walk->table;
    size_t length = put(walk->place, &walk->text, start, stop, 0);
    uint32_t number = number_of(table, &table->tokens, walk->place, length);
    if (number == NONE)
        return -1;
    if (!is_new(table->tokens.keys + number, walk->now))
        return 0;
    if (append_number(&walk->numbers, number) < 0)
        return -1;
    if (table->tokens.keys[number].data)
        return 0;
    if (is_ascii(walk->place, length))
        return learn_token(table, number, walk->place, length);
    PyObject *token = PyUnicode_DecodeUTF8((const char *)walk->place, (Py_ssize_t)length, NULL);
    int told = token ? PyList_Append(untold, token) : -1;
    Py_XDECREF(token);
    return told;
}

/* Options of programs. */
static int add_options(Walk *walk, PyObject *text, PyObject *untold)
{
    Py_ssize_t at = 0, length = walk->text.length;
    while ((at = PyUnicode_FindChar(text, '-', at, length, 1)) >= 0 && at + 2 < length) {
        Py_UCS4 before = at ? char_at(&walk->text, at - 1) : ' ', after = char_at(&walk->text, at + 2);
        Py_ssize_t start = at++;
        if (char_at(&walk->text, at) != '-' || is_alnum(before) || before == '_' || before == '-' || after >= 128 || !(ascii[after] & LETTER))
            continue;
        for (Py_UCS4 c; at < length && (is_alnum(c = char_at(&walk->text, at)) || c == '_' || c == '-');)
            at++;
        if (add_token(walk, start, at, untold) < 0)
            return -1;
    }
    return 0;
}

static int add_tokens(Walk *walk, PyObject *untold)
{
    for (Py_ssize_t at = 0; at < walk->text.length; at++) {
        Py_ssize_t start = at, next;
        int kinds = 0, parts = 1;
        at = word_end(walk, at, &kinds);
        if (at == start)
            continue;
        for (; parts < MOST_PARTS && (next = joined(walk, at)); parts++)
            at = word_end(walk, next, &kinds);
        if (parts == 1 && (kinds == LOWER || kinds == UPPER || kinds == DIGIT)) /* a plain word, as most are */
            continue;
        if (says_more(walk, start, at) && add_token(walk, start, at, untold) < 0)
            return -1;
    }
    return 0;
}

static PyObject *table_tokens(Table *self, PyObject *text)
{
    Walk walk;
    if (begin(&walk, self, text) < 0)
        return NULL;
    PyObject *found = NULL, *untold = PyList_New(0);
    if (untold && add_options(&walk, text, untold) == 0 && add_tokens(&walk, untold) == 0)
        found = Py_BuildValue("(NO)", as_bytes(&walk.numbers), untold);
    Py_XDECREF(untold);
    end(&walk);
    return found;
}

static int each_text(PyObject *texts, Table *table, Forms *forms, int is_part)
{
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(texts); at++) {
        Py_ssize_t length;
        const unsigned char *text = (const unsigned char *)PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, at), &length);
        if (!text || (is_part ? add_part(table, forms, text, (size_t)length) : add_whole(forms, text, (size_t)length)) < 0)
            return -1;
    }
    return 0;
}

static PyObject *table_tell(Table *self, PyObject *arguments)
{
    const char *token;
    Py_ssize_t length;
    PyObject *wholes, *parts;
    if (!PyArg_ParseTuple(arguments, "s#O!O!", &token, &length, &PyList_Type, &wholes, &PyList_Type, &parts))
        return NULL;
    uint32_t number = number_of(self, &self->tokens, (const unsigned char *)token, (size_t)length);
    if (number == NONE)
        return NULL;
    Forms forms = {0};
    int told = each_text(wholes, self, &forms, 0) < 0 || each_text(parts, self, &forms, 1) < 0 ? -1 : keep_forms(self, number, &forms);
    PyMem_Free(forms.wholes.data);
    PyMem_Free(forms.parts.data);
    if (told < 0)
        return NULL;
    Py_RETURN_NONE;
}
