/* What `snippet` does for each character of a text, and for each word that stands in it: find where those that tell most stand together.

   In: a text; or hits in the order of the text, the sentence of each, what each word tells, what of that a word loses that every sentence has, and how many characters are looked at.
   Out: the text with one space between its words; where its sentences begin; or where the first of the hits begins and the last ends. None for what is not so: hits and sentences out of order, words without a number.
   Always: the answer of `snippet.py`: worths are rounded to whole numbers by the same operations, and added up as such. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { OF_A_HIT = 7, OF_A_WORD = 5 };
enum { MOST = 1000000 }; /* hits, and words */
static const double LARGEST = 1e12; /* what a word may tell: no sum of these is too large */

/* Columns in one block of memory: of hits, then of their sentences and of their pairs of a word and a sentence, of which there are no more; then of words. */
typedef struct {
    Py_ssize_t hits, words, sentences, count; /* how many there are; `count`: of the last sentence, its number in the text */
    int64_t *start, *end, *number, *sentence, *pair;
    int64_t *own, *times;                            /* of a sentence: what its words are worth; how often a pair stands */
    int64_t *having, *worth, *met, *latest, *inside; /* of a word: sentences that have it, what it tells, the last of these and its pair, how often it stands */
    int64_t cap;
} Text;

/* Read a hit; 0 where it is none, -1 with an error. */
static int read_hit(Text *text, Py_ssize_t at, PyObject *hit, PyObject *sentence)
{
    Py_ssize_t values[4];
    if (!PyTuple_Check(hit) || PyTuple_GET_SIZE(hit) < 3)
        return 0;
    for (int column = 0; column < 4; column++) {
        values[column] = PyLong_AsSsize_t(column < 3 ? PyTuple_GET_ITEM(hit, column) : sentence);
        if (values[column] == -1 && PyErr_Occurred())
            return -1;
    }
    Py_ssize_t start = values[0], end = values[1], number = values[2], last = at ? text->count : 0;
    if (start < (at ? text->start[at - 1] : 0) || end < start || end > PY_SSIZE_T_MAX / 2 || number < 0 || number >= text->words)
        return 0;
    if (values[3] < 1 || values[3] < last || values[3] > INT_MAX)
        return 0;
    text->sentences += values[3] > last;
    text->start[at] = start;
    text->end[at] = end;
    text->number[at] = number;
    text->sentence[at] = text->sentences - 1;
    text->count = values[3];
    return 1;
}

/* Number the pairs of a word and a sentence, and count the sentences that have each word. */
static void number_pairs(Text *text)
{
    int64_t pairs = 0;
    for (Py_ssize_t at = 0; at < text->hits; at++) {
        int64_t number = text->number[at], sentence = text->sentence[at];
        if (!text->having[number] || text->met[number] != sentence) {
            text->having[number]++;
            text->met[number] = sentence;
            text->latest[number] = pairs++;
        }
        text->pair[at] = text->latest[number];
    }
}

/* What each word tells here: less, the more sentences have it. 0 where it is not told in numbers, -1 with an error. */
static int weigh(Text *text, PyObject *telling, double everywhere)
{
    for (Py_ssize_t number = 0; number < text->words; number++) {
        if (!text->having[number])
            continue;
        double tells = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(telling, number)), count = (double)text->count;
        if (tells == -1.0 && PyErr_Occurred())
            return -1;
        if (!(tells >= 0 && tells <= LARGEST))
            return 0;
        double part = 1 - everywhere + everywhere * log(1 + count / (double)text->having[number]) / log(1 + count);
        text->worth[number] = (int64_t)rint(tells * part);
    }
    return 1;
}

/* What the sentence that tells most does, each of its words counted once. */
static void weigh_sentences(Text *text)
{
    for (Py_ssize_t at = 0; at < text->hits; at++) {
        int64_t *own = text->own + text->sentence[at];
        if (!text->times[text->pair[at]]++)
            *own += text->worth[text->number[at]];
        text->cap = *own > text->cap ? *own : text->cap;
    }
    for (Py_ssize_t at = 0; at < text->hits; at++)
        text->times[text->pair[at]] = text->own[text->sentence[at]] = 0;
}

static PyObject *best_of(Text *text, Py_ssize_t reach)
{
    int64_t most = -1, many = 0, first = 0, last = 0, upto = 0, told = 0;
    for (Py_ssize_t at = 0; at < text->hits; at++) {
        int64_t start = text->start[at], number = text->number[at];
        for (; upto < text->hits && text->end[upto] <= start + reach; upto++) {
            int64_t met = text->number[upto];
            if (!text->inside[met]++)
                told += text->worth[met];
            if (!text->times[text->pair[upto]]++)
                text->own[text->sentence[upto]] += text->worth[met];
        }
        if (upto == at) { /* longer than what is looked at */
            upto = at + 1;
            continue;
        }
        if (told + (told < text->cap ? told : text->cap) >= most) { /* else its best sentence cannot make up for it */
            int64_t value = 0;
            for (int64_t i = text->sentence[at]; i <= text->sentence[upto - 1]; i++)
                value = text->own[i] > value ? text->own[i] : value;
            value += told;
            if (value > most || (value == most && upto - at > many)) {
                most = value;
                many = upto - at;
                first = start;
                last = text->end[upto - 1];
            }
        }
        if (!--text->inside[number])
            told -= text->worth[number];
        if (!--text->times[text->pair[at]])
            text->own[text->sentence[at]] -= text->worth[number];
    }
    return Py_BuildValue("(nn)", (Py_ssize_t)first, (Py_ssize_t)last);
}

/* The columns, each at its place in the block. */
static void lay_out(Text *text, int64_t *block)
{
    int64_t **of_hits[OF_A_HIT] = {&text->start, &text->end, &text->number, &text->sentence, &text->pair, &text->own, &text->times};
    int64_t **of_words[OF_A_WORD] = {&text->having, &text->worth, &text->met, &text->latest, &text->inside};
    for (int column = 0; column < OF_A_HIT; column++, block += text->hits)
        *of_hits[column] = block;
    for (int column = 0; column < OF_A_WORD; column++, block += text->words)
        *of_words[column] = block;
}

static PyObject *find_best(PyObject *hits, PyObject *sentences, PyObject *telling, double everywhere, Py_ssize_t reach)
{
    Text text = {.hits = PySequence_Fast_GET_SIZE(hits), .words = PySequence_Fast_GET_SIZE(telling)};
    if (PySequence_Fast_GET_SIZE(sentences) != text.hits || reach < 0 || reach > INT_MAX || !(everywhere >= 0 && everywhere <= 1))
        Py_RETURN_NONE;
    if (text.hits > MOST || text.words > MOST)
        Py_RETURN_NONE;
    int64_t *block = PyMem_Calloc((size_t)(OF_A_HIT * text.hits + OF_A_WORD * text.words) + 1, sizeof *block);
    if (!block)
        return PyErr_NoMemory();
    lay_out(&text, block);
    int is_so = 1;
    for (Py_ssize_t at = 0; is_so > 0 && at < text.hits; at++)
        is_so = read_hit(&text, at, PySequence_Fast_GET_ITEM(hits, at), PySequence_Fast_GET_ITEM(sentences, at));
    if (is_so > 0) {
        number_pairs(&text);
        is_so = weigh(&text, telling, everywhere);
    }
    PyObject *out = NULL;
    if (is_so > 0) {
        weigh_sentences(&text);
        out = best_of(&text, reach);
    } else if (is_so == 0) {
        out = Py_NewRef(Py_None);
    }
    PyMem_Free(block);
    return out;
}

static PyObject *best(PyObject *module, PyObject *args)
{
    PyObject *given[3], *columns[3] = {NULL, NULL, NULL}, *out = NULL;
    double everywhere;
    Py_ssize_t reach;
    if (!PyArg_ParseTuple(args, "OOOdn", &given[0], &given[1], &given[2], &everywhere, &reach))
        return NULL;
    int is_read = 1;
    for (int column = 0; is_read && column < 3; column++)
        is_read = (columns[column] = PySequence_Fast(given[column], "a sequence is wanted")) != NULL;
    if (is_read)
        out = find_best(columns[0], columns[1], columns[2], everywhere, reach);
    for (int column = 0; column < 3; column++)
        Py_XDECREF(columns[column]);
    return out;
}

/* Characters that end a sentence by themselves, and those that do before a space, alone or after a full stop. */
enum { WIDE_STOP = 0x3002, WIDE_WONDER = 0xFF01, WIDE_QUESTION = 0xFF1F, DOTS = 0x2026, CLOSING = 0x201D };

/* Whether a sentence ends before a space that stands at a place. */
static int is_end(int kind, const void *data, Py_ssize_t at)
{
    Py_UCS4 last = at > 0 ? PyUnicode_READ(kind, data, at - 1) : 0, before = at > 1 ? PyUnicode_READ(kind, data, at - 2) : 0;
    switch (last) {
    case '.':
    case '?':
    case '!':
    case DOTS:
        return 1;
    case '"':
    case ')':
    case CLOSING:
        return before == '.';
    case ':':
        return before == ':';
    default:
        return 0;
    }
}

static int keep_place(PyObject *places, Py_ssize_t at)
{
    PyObject *number = PyLong_FromSsize_t(at);
    int done = number ? PyList_Append(places, number) : -1;
    Py_XDECREF(number);
    return done;
}

static PyObject *begins(PyObject *module, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a text is wanted");
    int kind = (int)PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    PyObject *places = PyList_New(0);
    int failed = !places || keep_place(places, 0) < 0;
    for (Py_ssize_t at = 0; !failed && at < length; at++) {
        if (kind == PyUnicode_1BYTE_KIND) { /* most texts: nothing but spaces is looked at */
            const char *next = memchr((const char *)data + at, ' ', (size_t)(length - at));
            if (!next)
                break;
            at = next - (const char *)data;
        }
        Py_UCS4 here = PyUnicode_READ(kind, data, at);
        if (here == ' ' ? is_end(kind, data, at) : here == WIDE_STOP || here == WIDE_WONDER || here == WIDE_QUESTION)
            failed = keep_place(places, at + 1) < 0;
    }
    if (failed)
        Py_CLEAR(places);
    return places;
}

static PyObject *joined(PyObject *module, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a text is wanted");
    int kind = (int)PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), size = 0;
    void *out = PyMem_Malloc((size_t)length * (size_t)kind + 1);
    if (!out)
        return PyErr_NoMemory();
    int is_apart = 0; /* whether a space comes before what follows */
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 here = PyUnicode_READ(kind, data, at);
        if (Py_UNICODE_ISSPACE(here)) {
            is_apart = size > 0;
            continue;
        }
        if (is_apart) { /* it has the room of the one that was left out */
            PyUnicode_WRITE(kind, out, size, ' ');
            size++;
            is_apart = 0;
        }
        PyUnicode_WRITE(kind, out, size, here);
        size++;
    }
    PyObject *made = PyUnicode_FromKindAndData(kind, out, size);
    PyMem_Free(out);
    return made;
}

static PyMethodDef methods[] = {
    {"begins", begins, METH_O, "Where the sentences of a text begin."},
    {"joined", joined, METH_O, "A text with one space between its words."},
    {"best", best, METH_VARARGS, "Where the words that tell most stand together."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_snippet", "What `snippet` does for each character and word.", -1, methods};

PyMODINIT_FUNC PyInit__snippet(void)
{
    return PyModule_Create(&definition);
}
