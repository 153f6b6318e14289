/* What `feedback` does for each word of each segment: find those that the best have in common, and add up how much each segment says of them.

   In: packed segments, best first; how far each is trusted, and what room it leaves to repetition; what a word is worth that so many of them have.
   Out: how much each segment says of what is in common, as doubles.
   Always: the numbers of `feedback`, to the last bit: sums go by word, then by segment. Words that fewer than two of the best have add nothing, and are not counted. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 10, COUNT = 2, WIDTH = 3, MASK = 0x7FFFFF, LOW = 0xFFFF };

typedef struct {
    uint32_t word, owner, times;
} Found;

typedef struct {
    PyObject *packed; /* a tuple */
    Py_buffer trust, room, rare;
    Py_ssize_t segments, terms, words, in_common, found;
    uint32_t may_be[(LOW + 1) / 32]; /* whether a word that is in common ends in these two bytes: most others are told apart by it */
    uint32_t *common, *having, *latest, *first; /* of the words in common: their codes, ascending; how many have each, and where the last and the first of these is */
    Found *each, *sorted;
    double *weights, *ranked;
} All;

static const unsigned char *codes_of(const All *all, Py_ssize_t segment, Py_ssize_t *count)
{
    PyObject *one = PyTuple_GET_ITEM(all->packed, segment);
    const unsigned char *data = (const unsigned char *)PyBytes_AS_STRING(one);
    *count = data[COUNT] | data[COUNT + 1] << 8;
    return data + HEADER;
}

static uint32_t code(const unsigned char *at)
{
    return (at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16) & MASK;
}

static double number(const Py_buffer *of, Py_ssize_t at)
{
    double found;
    memcpy(&found, (const char *)of->buf + at * (Py_ssize_t)sizeof found, sizeof found);
    return found;
}

/* Whether every segment is as long as it says, and there is a number for each. */
static int is_whole(All *all)
{
    Py_ssize_t wide = sizeof(double);
    all->segments = PyTuple_GET_SIZE(all->packed);
    if (all->trust.len != all->segments * wide || all->room.len != all->segments * wide || all->rare.len != (all->segments + 1) * wide || all->terms < 1)
        return 0;
    for (Py_ssize_t at = 0; at < all->segments; at++) {
        PyObject *one = PyTuple_GET_ITEM(all->packed, at);
        Py_ssize_t count;
        if (!PyBytes_Check(one) || PyBytes_GET_SIZE(one) < HEADER)
            return 0;
        codes_of(all, at, &count);
        if (PyBytes_GET_SIZE(one) < HEADER + WIDTH * count)
            return 0;
        all->words += count;
    }
    return all->words < UINT32_MAX && all->segments < UINT32_MAX;
}

/* Put in order by word; those of one word stay in the order of their segments. */
static Found *by_word(Found *from, Found *to, Py_ssize_t count)
{
    for (int shift = 0; shift < 24; shift += 8) {
        Py_ssize_t starts[257] = {0};
        for (Py_ssize_t at = 0; at < count; at++)
            starts[(from[at].word >> shift & 0xFF) + 1]++;
        for (int byte = 0; byte < 256; byte++)
            starts[byte + 1] += starts[byte];
        for (Py_ssize_t at = 0; at < count; at++)
            to[starts[from[at].word >> shift & 0xFF]++] = from[at];
        Found *other = from;
        from = to, to = other;
    }
    return from;
}

/* The words that at least two of those that are trusted have. */
static void find_common(All *all)
{
    Py_ssize_t count = 0, size;
    for (Py_ssize_t segment = 0; segment < all->segments; segment++) {
        if (!(number(&all->trust, segment) > 0))
            continue;
        const unsigned char *at = codes_of(all, segment, &size);
        for (Py_ssize_t word = 0; word < size; word++)
            all->each[count++] = (Found){code(at + WIDTH * word), (uint32_t)segment, 1};
    }
    const Found *sorted = by_word(all->each, all->sorted, count);
    for (Py_ssize_t at = 0; at < count;) {
        Py_ssize_t end = at + 1;
        int several = 0;
        for (; end < count && sorted[end].word == sorted[at].word; end++)
            several |= sorted[end].owner != sorted[at].owner;
        if (several) {
            uint32_t word = sorted[at].word;
            all->common[all->in_common++] = word;
            all->may_be[(word & LOW) / 32] |= 1u << word % 32;
        }
        at = end;
    }
}

static Py_ssize_t place_of(const All *all, uint32_t word)
{
    Py_ssize_t low = 0, high = all->in_common;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (all->common[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->in_common && all->common[low] == word ? low : -1;
}

/* Each word in common that each segment has, once, with how often it stands there: by word, then by segment. */
static void count_common(All *all)
{
    Py_ssize_t size;
    memset(all->having, 0, (size_t)all->in_common * sizeof *all->having);
    for (Py_ssize_t segment = 0; segment < all->segments; segment++) {
        const unsigned char *at = codes_of(all, segment, &size);
        for (Py_ssize_t word = 0; word < size; word++, at += WIDTH) {
            uint32_t low = at[0] | (uint32_t)at[1] << 8;
            Py_ssize_t place = all->may_be[low / 32] >> low % 32 & 1 ? place_of(all, code(at)) : -1;
            if (place < 0)
                continue;
            if (all->having[place] && all->each[all->latest[place]].owner == segment) {
                all->each[all->latest[place]].times++;
                continue;
            }
            all->having[place]++;
            all->latest[place] = (uint32_t)all->found;
            all->each[all->found++] = (Found){(uint32_t)place, (uint32_t)segment, 1};
        }
    }
    uint32_t start = 0;
    for (Py_ssize_t place = 0; place < all->in_common; place++) {
        all->first[place] = start;
        start += all->having[place];
    }
    for (Py_ssize_t at = 0; at < all->found; at++)
        all->sorted[all->first[all->each[at].word]++] = all->each[at];
}

static double counts(const All *all, const Found *one)
{
    return one->times / (one->times + number(&all->room, one->owner));
}

static int larger_first(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* What each word tells; nothing but those that tell most do. */
static void weigh(All *all)
{
    const Found *one = all->sorted;
    for (Py_ssize_t place = 0; place < all->in_common; place++) {
        double sum = 0.0;
        for (uint32_t left = all->having[place]; left; left--, one++) {
            double trust = number(&all->trust, one->owner);
            if (trust > 0)
                sum += trust * counts(all, one);
        }
        all->weights[place] = sum * number(&all->rare, all->having[place]);
    }
    if (all->in_common <= all->terms)
        return;
    memcpy(all->ranked, all->weights, (size_t)all->in_common * sizeof *all->ranked);
    qsort(all->ranked, (size_t)all->in_common, sizeof *all->ranked, larger_first);
    for (Py_ssize_t place = 0; place < all->in_common; place++)
        if (all->weights[place] < all->ranked[all->terms - 1])
            all->weights[place] = 0.0;
}

static void add_up(const All *all, double *says)
{
    const Found *one = all->sorted;
    for (Py_ssize_t place = 0; place < all->in_common; place++) {
        double worth = all->weights[place] * number(&all->rare, all->having[place]);
        for (uint32_t left = all->having[place]; left; left--, one++)
            if (all->weights[place] > 0)
                says[one->owner] += counts(all, one) * worth;
    }
}

static PyObject *said_by(All *all)
{
    if (!is_whole(all)) {
        PyErr_SetString(PyExc_ValueError, "not packed segments, or not a number for each");
        return NULL;
    }
    size_t words = (size_t)all->words + 1;
    PyObject *out = PyBytes_FromStringAndSize(NULL, all->segments * (Py_ssize_t)sizeof(double));
    all->each = PyMem_New(Found, words), all->sorted = PyMem_New(Found, words);
    all->common = PyMem_New(uint32_t, words), all->having = PyMem_New(uint32_t, words);
    all->latest = PyMem_New(uint32_t, words), all->first = PyMem_New(uint32_t, words);
    all->weights = PyMem_New(double, words), all->ranked = PyMem_New(double, words);
    if (out && all->each && all->sorted && all->common && all->having && all->latest && all->first && all->weights && all->ranked) {
        double *says = (double *)(void *)PyBytes_AS_STRING(out);
        memset(says, 0, (size_t)all->segments * sizeof *says);
        find_common(all);
        count_common(all);
        weigh(all);
        add_up(all, says);
    } else {
        Py_CLEAR(out);
        PyErr_NoMemory();
    }
    void *rooms[] = {all->each, all->sorted, all->common, all->having, all->latest, all->first, all->weights, all->ranked};
    for (size_t at = 0; at < sizeof rooms / sizeof *rooms; at++)
        PyMem_Free(rooms[at]);
    return out;
}

static PyObject *said(PyObject *self, PyObject *arguments)
{
    All all = {0};
    PyObject *packed, *out = NULL;
    if (!PyArg_ParseTuple(arguments, "Oy*y*y*n", &packed, &all.trust, &all.room, &all.rare, &all.terms))
        return NULL;
    if ((all.packed = PySequence_Tuple(packed)))
        out = said_by(&all);
    Py_XDECREF(all.packed);
    PyBuffer_Release(&all.trust);
    PyBuffer_Release(&all.room);
    PyBuffer_Release(&all.rare);
    return out;
}

static PyMethodDef methods[] = {
    {"said", said, METH_VARARGS, "How much each segment says of what the best have in common."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_feedback", "What `feedback` does for each word.", -1, methods};

PyMODINIT_FUNC PyInit__feedback(void)
{
    return PyModule_Create(&module);
}
