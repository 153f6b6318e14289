/* What `glance` does for each character of a text: tell which signs stand in it, and where a token or a number may be.

   In: a text; the strings that are looked for, as `automaton` takes them.  Out: those that are there, and places.
   Always: the answer is that of `glance.py`, which does the same where this could not be compiled. One walk for each question, each over
   all of the text once, whatever stands in it; nothing is kept between two texts. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* As `words`, `shape` and `wrap` have them. */
enum { MIN_TOKEN = 14, MIN_NO_DIGIT = 20, MANY_CAPITALS = 12, MANY_SMALL = 20, MIN_BARE = 32, MAX_BARE = 128, MOST_PLACES = 10000, MOST_GAP = 8 };
enum { INDENT = 40, BEFORE_DIGIT = 200, MAX_PIECE = 4096, DIFFERENT = 6, MOST_OF_LINE = 4096, MOST_BEFORE = 16 };
enum { MOST_STATES = 0x8000, FOUND = 0x8000 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What an ASCII character is. */
enum { DIGIT = 1, CAPITAL = 2, SMALL = 4, LETTER = CAPITAL | SMALL, RUN = 8, PIECE = 16, NUMBER = 32, LEAD = 64, ENDS_LINE = 128 };
static unsigned char kinds[128];

static void mark(const char *characters, unsigned char kind)
{
    for (; *characters; characters++)
        kinds[(unsigned char)*characters] |= kind;
}

static void fill_kinds(void)
{
    for (int c = 0; c < 26; c++) {
        kinds['a' + c] = SMALL | RUN | PIECE | ENDS_LINE;
        kinds['A' + c] = CAPITAL | RUN | PIECE | ENDS_LINE;
    }
    for (int c = '0'; c <= '9'; c++)
        kinds[c] = DIGIT | RUN | PIECE | NUMBER | ENDS_LINE;
    mark("+/_-", RUN);
    mark("_-+/.=~:%", PIECE);
    mark(" ()-./\t\r\n", NUMBER);
    mark(" \t>|*#", LEAD);
    mark("_-+/=.~%:\\\"' \t\r", ENDS_LINE);
}

/* A text; `kind` is told apart once for each walk, so that the compiler makes three of it. */
typedef struct {
    const void *data;
    Py_ssize_t length;
} Text;

ALWAYS_INLINE Py_UCS4 at(int kind, Text text, Py_ssize_t place)
{
    return PyUnicode_READ(kind, text.data, place);
}

ALWAYS_INLINE unsigned char kind_of(Py_UCS4 c)
{
    return c < 128 ? kinds[c] : 0;
}

#define FOR_ITS_KIND(string, walk, ...)                                                                  \
    (PyUnicode_KIND(string) == PyUnicode_1BYTE_KIND   ? walk(PyUnicode_1BYTE_KIND, __VA_ARGS__)          \
     : PyUnicode_KIND(string) == PyUnicode_2BYTE_KIND ? walk(PyUnicode_2BYTE_KIND, __VA_ARGS__)          \
                                                      : walk(PyUnicode_4BYTE_KIND, __VA_ARGS__))

/* Strings that are looked for all at once (Aho and Corasick): a state is the longest beginning of one of them that the text ends with.

   next: by state and class of the next character, the state after it, with FOUND where a string ends there. ends: the string that ends in a
   state, counted from 1. shorter: the state of the longest string that ends what a state has read, 0 for none. */
typedef struct {
    PyObject *strings;
    uint16_t *next, *ends, *shorter;
    unsigned char classes[256];
    int shift, folds;
} Automaton;

static const char CAPSULE[] = "smart_context.redact.automaton";

static void discard(Automaton *made)
{
    Py_XDECREF(made->strings);
    PyMem_Free(made->next);
    PyMem_Free(made->ends);
    PyMem_Free(made->shorter);
    PyMem_Free(made);
}

static void discard_capsule(PyObject *capsule)
{
    discard(PyCapsule_GetPointer(capsule, CAPSULE));
}

/* Give each character of the strings a class of its own, 0 to all others; how many states the strings need, or -1. */
static Py_ssize_t classify(Automaton *made)
{
    Py_ssize_t states = 1;
    int classes = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(made->strings); i++) {
        PyObject *string = PyTuple_GET_ITEM(made->strings, i);
        if (!PyUnicode_Check(string) || PyUnicode_KIND(string) != PyUnicode_1BYTE_KIND || !PyUnicode_GET_LENGTH(string)) {
            PyErr_SetString(PyExc_ValueError, "only strings of Latin-1 can be looked for");
            return -1;
        }
        states += PyUnicode_GET_LENGTH(string);
        if (states > MOST_STATES) {
            PyErr_SetString(PyExc_ValueError, "too many strings to look for");
            return -1;
        }
        for (Py_ssize_t j = 0; j < PyUnicode_GET_LENGTH(string); j++) {
            Py_UCS4 c = PyUnicode_READ_CHAR(string, j);
            if (classes > 255 || (made->folds && Py_UNICODE_TOLOWER(c) != c)) {
                PyErr_SetString(PyExc_ValueError, "too many characters to look for, or a capital where there is none");
                return -1;
            }
            if (!made->classes[c])
                made->classes[c] = (unsigned char)classes++;
        }
    }
    for (Py_UCS4 c = 0; made->folds && c < 256; c++) {
        Py_UCS4 low = Py_UNICODE_TOLOWER(c);
        if (low < 256)
            made->classes[c] = made->classes[low];
    }
    while (1 << made->shift < classes)
        made->shift++;
    return states;
}

static void plant(Automaton *made)
{
    uint16_t states = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(made->strings); i++) {
        PyObject *string = PyTuple_GET_ITEM(made->strings, i);
        size_t state = 0;
        for (Py_ssize_t j = 0; j < PyUnicode_GET_LENGTH(string); j++) {
            uint16_t *after = &made->next[state << made->shift | made->classes[PyUnicode_READ_CHAR(string, j)]];
            if (!*after)
                *after = states++;
            state = *after;
        }
        made->ends[state] = (uint16_t)(i + 1);
    }
}

/* Where no string goes on, one that begins later may: each state gets the ways of the longest shorter one. In the order of their lengths. */
static void connect(Automaton *made, uint16_t *queue, uint16_t *fallback)
{
    size_t width = (size_t)1 << made->shift, first = 0, last = 1;
    for (queue[0] = 0; first < last; first++) {
        size_t state = queue[first], back = fallback[state];
        for (size_t class = 0; class < width; class++) {
            uint16_t *after = &made->next[state << made->shift | class];
            uint16_t else_after = state ? made->next[back << made->shift | class] : 0;
            if (!*after) {
                *after = else_after;
                continue;
            }
            fallback[*after] = else_after;
            made->shorter[*after] = made->ends[else_after] ? else_after : made->shorter[else_after];
            queue[last++] = *after;
        }
    }
    for (size_t i = 0; i < last << made->shift; i++)
        if (made->ends[made->next[i]] || made->shorter[made->next[i]])
            made->next[i] |= FOUND;
}

static PyObject *automaton(PyObject *self, PyObject *args)
{
    PyObject *strings;
    int folds;
    if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &strings, &folds))
        return NULL;
    Automaton *made = PyMem_Calloc(1, sizeof(Automaton));
    if (!made)
        return PyErr_NoMemory();
    made->strings = Py_NewRef(strings);
    made->folds = folds;
    Py_ssize_t states = classify(made);
    if (states < 0) {
        discard(made);
        return NULL;
    }
    made->next = PyMem_Calloc((size_t)states << made->shift, sizeof(uint16_t));
    made->ends = PyMem_Calloc(states, sizeof(uint16_t));
    made->shorter = PyMem_Calloc(states, sizeof(uint16_t));
    uint16_t *queue = PyMem_Calloc(states, 2 * sizeof(uint16_t));
    if (!made->next || !made->ends || !made->shorter || !queue) {
        PyMem_Free(queue);
        discard(made);
        return PyErr_NoMemory();
    }
    plant(made);
    connect(made, queue, queue + states);
    PyMem_Free(queue);
    PyObject *capsule = PyCapsule_New(made, CAPSULE, discard_capsule);
    if (!capsule)
        discard(made);
    return capsule;
}

enum { DOTTED_I = 0x130, CAPITAL_Y = 0x178, SHARP_S = 0x1E9E, KELVIN = 0x212A, ANGSTROM = 0x212B };

/* Whether a character beyond Latin-1 is one of Latin-1 in lower case; the first of them is two, "i" and a dot. */
ALWAYS_INLINE int lowers_to_latin(Py_UCS4 c)
{
    return c == DOTTED_I || c == CAPITAL_Y || c == SHARP_S || c == KELVIN || c == ANGSTROM;
}

static int append(PyObject *list, PyObject *item)
{
    int failed = !item || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

/* Keep that a string stands before a place: where it begins, as far as that is not very often; then only that it does. */
static int keep_place(const Automaton *made, size_t string, Py_ssize_t end, PyObject **places)
{
    if (!places[string] && !(places[string] = PyList_New(0)))
        return -1;
    if (places[string] == Py_None)
        return 0;
    if (PyList_GET_SIZE(places[string]) >= MOST_PLACES) {
        Py_SETREF(places[string], Py_NewRef(Py_None));
        return 0;
    }
    return append(places[string], PyLong_FromSsize_t(end - PyUnicode_GET_LENGTH(PyTuple_GET_ITEM(made->strings, string))));
}

/* Note in `seen`, which has a byte for each string, those that stand between two places of a text; or in `places`, with where. */
ALWAYS_INLINE int look_for(int kind, const Automaton *made, Text text, Py_ssize_t start, Py_ssize_t end, char *seen, PyObject **places)
{
    const uint16_t *next = made->next;
    int shift = made->shift;
    size_t state = 0;
    for (Py_ssize_t i = start; i < end; i++) {
        Py_UCS4 c = at(kind, text, i);
        unsigned class = 0;
        if (kind == PyUnicode_1BYTE_KIND || c < 256)
            class = made->classes[c];
        else if (made->folds && lowers_to_latin(c))
            class = made->classes[Py_UNICODE_TOLOWER(c) & 0xFF];
        state = next[state << shift | class];
        if (state & FOUND) {
            state &= ~(size_t)FOUND;
            for (size_t s = made->ends[state] ? state : made->shorter[state]; s; s = made->shorter[s]) {
                if (!places)
                    seen[made->ends[s] - 1] = 1;
                else if (keep_place(made, made->ends[s] - 1, i + 1, places) < 0)
                    return -1;
            }
        }
        if (kind != PyUnicode_1BYTE_KIND && c == DOTTED_I)
            state = 0;
    }
    return 0;
}

/* The strings that were noted, as a set. */
static PyObject *noted(const Automaton *made, const char *seen)
{
    PyObject *found = PyFrozenSet_New(NULL);
    for (Py_ssize_t i = 0; found && i < PyTuple_GET_SIZE(made->strings); i++)
        if (seen[i] && PySet_Add(found, PyTuple_GET_ITEM(made->strings, i)) < 0)
            Py_CLEAR(found);
    return found;
}

/* The strings that were met, each with its places. */
static PyObject *placed(const Automaton *made, PyObject **places)
{
    PyObject *found = PyDict_New();
    for (Py_ssize_t i = 0; found && i < PyTuple_GET_SIZE(made->strings); i++)
        if (places[i] && PyDict_SetItem(found, PyTuple_GET_ITEM(made->strings, i), places[i]) < 0)
            Py_CLEAR(found);
    return found;
}

ALWAYS_INLINE int may_be_token(int kind, Text text, Py_ssize_t start, Py_ssize_t end)
{
    int has_digit = 0, has_letters = 0, has_hump = 0, before = 0;
    Py_ssize_t capitals = 0, small = 0; /* in a row */
    for (Py_ssize_t i = start; i < end; i++) {
        int now = kind_of(at(kind, text, i));
        has_digit |= now & DIGIT;
        has_letters |= (now & LETTER) && (before & LETTER);
        capitals = now & CAPITAL ? capitals + 1 : 0;
        small = now & SMALL ? small + 1 : 0;
        has_hump |= ((before & SMALL) && (now & CAPITAL)) || capitals >= MANY_CAPITALS || small >= MANY_SMALL;
        before = now;
    }
    return has_digit ? has_letters : has_hump && end - start >= MIN_NO_DIGIT;
}

/* Whether a word holds a run that may be a token of no known issuer: as long, and with capitals, small letters and digits. */
ALWAYS_INLINE int may_be_bare(int kind, Text text, Py_ssize_t start, Py_ssize_t end)
{
    for (Py_ssize_t i = start; end - i >= MIN_BARE; i++) {
        Py_ssize_t first = i;
        int capitals = 0, small = 0, digits = 0;
        for (int now; i < end && (now = kind_of(at(kind, text, i))) & RUN; i++) {
            capitals += now & CAPITAL && capitals < 2;
            small += now & SMALL && small < 2;
            digits |= now & DIGIT;
        }
        if (i - first >= MIN_BARE && i - first <= MAX_BARE && capitals >= 2 && small >= 2 && digits)
            return 1;
    }
    return 0;
}

/* Find the first word of at least `least` characters that begins at `*start` or later, where a word may begin; whether there is one. */
ALWAYS_INLINE int next_word(int kind, Text text, Py_ssize_t least, Py_ssize_t *start, Py_ssize_t *end)
{
    while (least <= text.length - *start) {
        /* From behind: the space after a short word tells that no long one begins before it. */
        Py_ssize_t i = *start + least - 1;
        while (i >= *start && !Py_UNICODE_ISSPACE(at(kind, text, i)))
            i--;
        if (i >= *start) {
            *start = i + 1;
            continue;
        }
        for (*end = *start + least; *end < text.length && !Py_UNICODE_ISSPACE(at(kind, text, *end)); ++*end)
            ;
        return 1;
    }
    return 0;
}

/* Note the marks of tokens in the end of the word before a place, beyond spaces, tabs and bars: there a token may begin that they cut. */
ALWAYS_INLINE void look_before(int kind, Text text, Py_ssize_t start, const Automaton *marks, char *seen)
{
    Py_ssize_t end = start, least = start < MOST_GAP ? 0 : start - MOST_GAP;
    for (Py_UCS4 c; end > least && ((c = at(kind, text, end - 1)) == ' ' || c == '\t' || c == '|'); end--)
        ;
    Py_ssize_t first = end;
    least = end < MIN_TOKEN ? 0 : end - MIN_TOKEN + 1;
    while (first > least && !Py_UNICODE_ISSPACE(at(kind, text, first - 1)))
        first--;
    look_for(kind, marks, text, first, end, seen, NULL);
}

/* Note the marks of tokens in the words that may be tokens, and keep the words that may be bare ones in `bare`, a dictionary: each once. */
ALWAYS_INLINE int look_at_words(int kind, PyObject *string, Text text, const Automaton *marks, char *seen, PyObject *bare)
{
    for (Py_ssize_t start = 0, end; next_word(kind, text, MIN_TOKEN, &start, &end); start = end) {
        if (may_be_token(kind, text, start, end)) {
            look_for(kind, marks, text, start, end, seen, NULL);
            look_before(kind, text, start, marks, seen);
            if (may_be_bare(kind, text, start, end)) {
                PyObject *word = PyUnicode_Substring(string, start, end);
                int failed = !word || PyDict_SetItem(bare, word, Py_None) < 0;
                Py_XDECREF(word);
                if (failed)
                    return -1;
            }
        }
    }
    return 0;
}

ALWAYS_INLINE int is_digit(int kind, Text text, Py_ssize_t place)
{
    return place < text.length && at(kind, text, place) - '0' <= 9u;
}

ALWAYS_INLINE int is_alnum(int kind, Text text, Py_ssize_t place)
{
    return place >= 0 && place < text.length && (kind_of(at(kind, text, place)) & (DIGIT | LETTER));
}

/* Whether something stands at a place that may be the rest of an account, perhaps after a sign or in the next line. */
ALWAYS_INLINE int goes_on(int kind, Text text, Py_ssize_t i)
{
    if (is_alnum(kind, text, i))
        return 1;
    Py_UCS4 c = i < text.length ? at(kind, text, i) : 0;
    if ((c == ' ' || c == '-' || c == '.' || c == '/') && is_alnum(kind, text, i + 1))
        return 1;
    i += c == ' ' || c == '\t';
    i += i < text.length && at(kind, text, i) == '\r';
    return i < text.length && at(kind, text, i) == '\n' && is_alnum(kind, text, i + 1);
}

/* Where an account begins whose two digits stand at a place: with two letters, alone; -1 where none does. */
ALWAYS_INLINE Py_ssize_t account(int kind, Text text, Py_ssize_t i)
{
    Py_ssize_t start = i && at(kind, text, i - 1) == ' ' ? i - 3 : i - 2;
    int is_one = start >= 0 && is_digit(kind, text, i + 1) && (kind_of(at(kind, text, start)) & LETTER) &&
                 (kind_of(at(kind, text, start + 1)) & LETTER) && !is_alnum(kind, text, start - 1) && goes_on(kind, text, i + 2);
    return is_one ? start : -1;
}

/* Keep where the stretches of digits, spaces, hyphens and brackets stand that hold at least `least` digits, and where two letters stand before
   the two digits of an account: such digits always begin a stretch. */
ALWAYS_INLINE int look_for_numbers(int kind, Text text, Py_ssize_t least, PyObject *numbers, PyObject *accounts)
{
    for (Py_ssize_t i = 0; i < text.length; i++) {
        if (!is_digit(kind, text, i))
            continue;
        Py_ssize_t start = i, digits = 0, begin = account(kind, text, i);
        if (begin >= 0 && append(accounts, PyLong_FromSsize_t(begin)) < 0)
            return -1;
        for (int now; i < text.length && (now = kind_of(at(kind, text, i))) & NUMBER; i++)
            digits += now & DIGIT;
        if (i - start > 4 && digits >= least && append(numbers, Py_BuildValue("nn", start, i)) < 0)
            return -1;
    }
    return 0;
}

/* Where the piece ends with which a line begins, if it may be the rest of a token: mixed, with a digit soon; else -1. */
ALWAYS_INLINE Py_ssize_t end_of_piece(int kind, Text text, Py_ssize_t i)
{
    Py_ssize_t stop = i + INDENT < text.length ? i + INDENT : text.length;
    while (i < stop && (kind_of(at(kind, text, i)) & LEAD))
        i++;
    if (i < text.length && (at(kind, text, i) == '"' || at(kind, text, i) == '\''))
        i++;
    Py_ssize_t start = i, digit = -1;
    uint64_t met[2] = {0, 0};
    int is_lettered = 0;
    for (Py_UCS4 c; i < text.length && i - start < MAX_PIECE && (kind_of(c = at(kind, text, i)) & PIECE); i++) {
        if (digit < 0 && (kinds[c] & DIGIT))
            digit = i - start;
        is_lettered |= kinds[c] & LETTER;
        met[c >> 6] |= (uint64_t)1 << (c & 63);
    }
    int different = __builtin_popcountll(met[0]) + __builtin_popcountll(met[1]);
    int may_be = i - start >= 2 && digit >= 0 && digit <= BEFORE_DIGIT && is_lettered &&
                 different >= (i - start < DIFFERENT ? (int)(i - start) : DIFFERENT);
    return may_be ? i : -1;
}

/* Where the last words of a line begin that ends at a place: as many as a token before a line break may be followed by. */
ALWAYS_INLINE Py_ssize_t last_words(int kind, Text text, Py_ssize_t end)
{
    Py_ssize_t line = end, least = end < MOST_OF_LINE ? 0 : end - MOST_OF_LINE + 1;
    while (line > least && at(kind, text, line - 1) != '\n')
        line--;
    for (Py_ssize_t i = end - MOST_BEFORE; i > line; i--)
        if (at(kind, text, i - 1) == ' ')
            return i;
    return line;
}

/* Whether words are plain: small letters, a capital at most before the last one, and a dot or a colon after each. */
ALWAYS_INLINE int are_plain(int kind, Text text, Py_ssize_t i, Py_ssize_t end)
{
    for (;; i++) {
        int has_capital = i < end && (kind_of(at(kind, text, i)) & CAPITAL);
        Py_ssize_t first = i += has_capital ? 1 : 0;
        while (i < end && (kind_of(at(kind, text, i)) & SMALL))
            i++;
        if (i == first)
            return 0;
        i += i < end && (at(kind, text, i) == '.' || at(kind, text, i) == ':');
        if (i == end || (i == end - 1 && at(kind, text, i) == '\r'))
            return 1;
        if (has_capital || !Py_UNICODE_ISSPACE(at(kind, text, i)))
            return 0;
    }
}

/* Keep the line breaks in the middle of what may be a token: from the end of a line to that of the piece in the next one. */
ALWAYS_INLINE int look_for_breaks(int kind, Text text, PyObject *breaks)
{
    for (Py_ssize_t i = 0; i < text.length; i++) {
        if (kind == PyUnicode_1BYTE_KIND) {
            const char *found = memchr((const char *)text.data + i, '\n', text.length - i);
            if (!found)
                break;
            i = found - (const char *)text.data;
        } else if (at(kind, text, i) != '\n') {
            continue;
        }
        Py_UCS4 before = at(kind, text, i ? i - 1 : text.length - 1);
        Py_ssize_t end = kind_of(before) & ENDS_LINE ? end_of_piece(kind, text, i + 1) : -1;
        if (end < 0)
            continue;
        Py_ssize_t start = last_words(kind, text, i);
        if (!are_plain(kind, text, start, i) && append(breaks, Py_BuildValue("nn", start, end)) < 0)
            return -1;
    }
    return 0;
}

static Automaton *given(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

static char *unseen(const Automaton *made)
{
    char *seen = PyMem_Calloc(PyTuple_GET_SIZE(made->strings) + 1, 1);
    if (!seen)
        PyErr_NoMemory();
    return seen;
}

static PyObject *seen_in(PyObject *self, PyObject *args)
{
    PyObject *capsule, *string;
    if (!PyArg_ParseTuple(args, "OU", &capsule, &string))
        return NULL;
    const Automaton *made = given(capsule);
    char *seen = made ? unseen(made) : NULL;
    if (!seen)
        return NULL;
    Text text = {PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)};
    FOR_ITS_KIND(string, look_for, made, text, 0, text.length, seen, NULL);
    PyObject *found = noted(made, seen);
    PyMem_Free(seen);
    return found;
}

ALWAYS_INLINE int keep_words(int kind, PyObject *string, Text text, Py_ssize_t least, PyObject *words)
{
    for (Py_ssize_t start = 0, end; next_word(kind, text, least, &start, &end); start = end)
        if (append(words, PyUnicode_Substring(string, start, end)) < 0)
            return -1;
    return 0;
}

static PyObject *long_words(PyObject *self, PyObject *args)
{
    PyObject *string;
    Py_ssize_t least;
    if (!PyArg_ParseTuple(args, "Un", &string, &least))
        return NULL;
    Text text = {PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)};
    PyObject *words = PyList_New(0);
    if (words && FOR_ITS_KIND(string, keep_words, string, text, least < 1 ? 1 : least, words) < 0)
        Py_CLEAR(words);
    return words;
}

typedef struct {
    PyObject *bare, *numbers, *accounts, *breaks;
} Places;

static int look(PyObject *string, const Automaton *signs, const Automaton *marks, Py_ssize_t least, PyObject **places, char *marked, Places *to)
{
    Text text = {PyUnicode_DATA(string), PyUnicode_GET_LENGTH(string)};
    return FOR_ITS_KIND(string, look_for, signs, text, 0, text.length, NULL, places) < 0 ||
                   FOR_ITS_KIND(string, look_at_words, string, text, marks, marked, to->bare) < 0 ||
                   FOR_ITS_KIND(string, look_for_numbers, text, least, to->numbers, to->accounts) < 0 ||
                   FOR_ITS_KIND(string, look_for_breaks, text, to->breaks) < 0
               ? -1
               : 0;
}

static PyObject *glance(PyObject *self, PyObject *args)
{
    PyObject *string, *first, *second, *found = NULL;
    Py_ssize_t least;
    if (!PyArg_ParseTuple(args, "UOOn", &string, &first, &second, &least))
        return NULL;
    const Automaton *signs = given(first), *marks = signs ? given(second) : NULL;
    char *marked = marks ? unseen(marks) : NULL;
    Py_ssize_t count = marks ? PyTuple_GET_SIZE(signs->strings) : 0;
    PyObject **places = marked ? PyMem_Calloc(count + 1, sizeof(PyObject *)) : NULL;
    if (marked && !places)
        PyErr_NoMemory();
    Places to = {NULL};
    if (places && (to.bare = PyDict_New()) && (to.numbers = PyList_New(0)) && (to.accounts = PyList_New(0)) &&
        (to.breaks = PyList_New(0)) && look(string, signs, marks, least, places, marked, &to) == 0)
        found = Py_BuildValue("NNNOOO", placed(signs, places), noted(marks, marked), PyDict_Keys(to.bare), to.numbers, to.accounts, to.breaks);
    for (Py_ssize_t i = 0; places && i < count; i++)
        Py_XDECREF(places[i]);
    PyMem_Free(places);
    PyMem_Free(marked);
    Py_XDECREF(to.bare);
    Py_XDECREF(to.numbers);
    Py_XDECREF(to.accounts);
    Py_XDECREF(to.breaks);
    return found;
}

static PyMethodDef methods[] = {
    {"automaton", automaton, METH_VARARGS, "What finds strings in a text all at once; whether capitals are as small letters."},
    {"seen", seen_in, METH_VARARGS, "Which of its strings an automaton finds in a text."},
    {"long_words", long_words, METH_VARARGS, "The words of a text that have at least so many characters."},
    {"glance", glance, METH_VARARGS, "The signs in a text, the marks in its words, words that may be bare tokens, numbers, accounts, line breaks."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_glance", "What `glance` does for each character.", -1, methods};

PyMODINIT_FUNC PyInit__glance(void)
{
    fill_kinds();
    return PyModule_Create(&module);
}
