/* What `copies` does for each word of a text: tell different words, number them, and keep the least of each bin; and for each bin of two sketches.

   In: a text's bytes in lower case; or sketches.  Out: the text without white space, and its sketch; None where it has no words;
       or which sketches are near others.
   Always: the answer is that of `copies.py`, which does the same where this could not be compiled. What is no sketch is near nothing. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "_hash.h"

enum { BINS = 128, ENOUGH = 8, UNBROKEN = 16 };

typedef struct {
    const unsigned char *start;
    uint32_t length, number;
} Word;

static const uint64_t SPREAD = 0x9E3779B1; /* the low forty bits of a product are those of Python */
static uint32_t crc_table[256];
static Secret secret;

static void fill_crc_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        crc_table[byte] = crc;
    }
}

static uint32_t crc32_of(const unsigned char *data, Py_ssize_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (Py_ssize_t at = 0; at < length; at++)
        crc = crc_table[(crc ^ data[at]) & 0xFF] ^ crc >> 8;
    return ~crc;
}

static int is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Put the different words of a text into `slots`, of which there are `mask` + 1, most of them empty; how many there are. */
static Py_ssize_t different(const unsigned char *data, Py_ssize_t length, Word *slots, size_t mask)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t at = 0; at < length;) {
        if (is_space(data[at])) {
            at++;
            continue;
        }
        Py_ssize_t start = at;
        while (at < length && !is_space(data[at]))
            at++;
        Word word = {data + start, (uint32_t)(at - start), crc32_of(data + start, at - start)};
        size_t slot = (size_t)(hash_of(secret, word.start, word.length) >> 16) & mask;
        while (slots[slot].start && !(slots[slot].number == word.number && slots[slot].length == word.length &&
                                      !memcmp(slots[slot].start, word.start, word.length)))
            slot = (slot + 1) & mask;
        if (!slots[slot].start) {
            slots[slot] = word;
            count++;
        }
    }
    return count;
}

typedef struct {
    uint32_t least[BINS], below;
    int filled[BINS];
} Bins;

/* For so many different numbers. */
static void begin_bins(Bins *bins, Py_ssize_t count)
{
    memset(bins, 0, sizeof *bins);
    bins->below = count > BINS * ENOUGH ? (uint32_t)(UINT32_MAX / (uint64_t)count * BINS * ENOUGH) : UINT32_MAX;
}

static void put_number(Bins *bins, uint32_t number)
{
    uint32_t bin = number % BINS;
    if (number > bins->below)
        return;
    if (!bins->filled[bin] || number < bins->least[bin])
        bins->least[bin] = number;
    bins->filled[bin] = 1;
}

static void end_bins(const Bins *bins, unsigned char *sketch)
{
    for (int bin = 0; bin < BINS; bin++)
        sketch[bin] = bins->filled[bin] ? (bins->least[bin] >> 7) % 255 + 1 : 0;
}

static int sketch_of_words(const unsigned char *data, Py_ssize_t length, Py_ssize_t words, unsigned char *sketch)
{
    size_t mask = 255;
    while ((Py_ssize_t)mask < 2 * words)
        mask = mask << 1 | 1;
    Word *slots = PyMem_Calloc(mask + 1, sizeof(Word));
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    Bins bins;
    begin_bins(&bins, different(data, length, slots, mask));
    for (size_t slot = 0; slot <= mask; slot++)
        if (slots[slot].start)
            put_number(&bins, slots[slot].number);
    end_bins(&bins, sketch);
    PyMem_Free(slots);
    return 0;
}

/* Different pairs of characters, each as one number that is not 0. */
typedef struct {
    uint64_t *slots;
    size_t mask;
    Py_ssize_t count;
} Pairs;

static uint64_t *slot_of(uint64_t *slots, size_t mask, uint64_t pair)
{
    size_t slot = (size_t)(mixed(secret.seed ^ pair, secret.factor) >> 16) & mask;
    while (slots[slot] && slots[slot] != pair)
        slot = (slot + 1) & mask;
    return slots + slot;
}

static int grow_pairs(Pairs *pairs)
{
    size_t mask = pairs->slots ? pairs->mask << 1 | 1 : 1023;
    uint64_t *slots = PyMem_Calloc(mask + 1, sizeof *slots);
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t slot = 0; pairs->slots && slot <= pairs->mask; slot++)
        if (pairs->slots[slot])
            *slot_of(slots, mask, pairs->slots[slot]) = pairs->slots[slot];
    PyMem_Free(pairs->slots);
    pairs->slots = slots;
    pairs->mask = mask;
    return 0;
}

static int add_pairs(Pairs *pairs, PyObject *text)
{
    int kind = (int)PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    for (Py_ssize_t at = 1; at < PyUnicode_GET_LENGTH(text); at++) {
        if ((!pairs->slots || (size_t)pairs->count > pairs->mask / 2) && grow_pairs(pairs) < 0)
            return -1;
        uint64_t pair = ((uint64_t)PyUnicode_READ(kind, data, at - 1) << 32 | PyUnicode_READ(kind, data, at)) + 1;
        uint64_t *slot = slot_of(pairs->slots, pairs->mask, pair);
        pairs->count += !*slot;
        *slot = pair;
    }
    return 0;
}

/* Of a text whose words have no spaces between them, by its neighbouring characters. */
static int sketch_of_pairs(const char *plain, Py_ssize_t length, unsigned char *sketch)
{
    PyObject *text = PyUnicode_DecodeUTF8(plain, length, NULL);
    Pairs pairs = {0};
    int told = text ? add_pairs(&pairs, text) : -1;
    Bins bins;
    begin_bins(&bins, pairs.count);
    for (size_t slot = 0; pairs.slots && slot <= pairs.mask; slot++) {
        uint64_t pair = pairs.slots[slot] - 1;
        if (pairs.slots[slot])
            put_number(&bins, (uint32_t)(((pair >> 32 << 16) ^ (pair & UINT32_MAX)) * SPREAD >> 8));
    }
    end_bins(&bins, sketch);
    PyMem_Free(pairs.slots);
    Py_XDECREF(text);
    return told;
}

static PyObject *sketched(PyObject *self, PyObject *argument)
{
    char *bytes;
    Py_ssize_t length, words = 0, kept = 0;
    if (PyBytes_AsStringAndSize(argument, &bytes, &length) < 0)
        return NULL;
    const unsigned char *data = (const unsigned char *)bytes;
    PyObject *plain = PyBytes_FromStringAndSize(NULL, length);
    if (!plain)
        return NULL;
    char *to = PyBytes_AS_STRING(plain);
    for (Py_ssize_t at = 0; at < length; at++) {
        if (is_space(data[at]))
            continue;
        words += at == 0 || is_space(data[at - 1]);
        to[kept++] = bytes[at];
    }
    /* A word of which the length does not fit its field cannot be told: no text that is indexed is as long. */
    if (!words || length > UINT32_MAX) {
        Py_DECREF(plain);
        Py_RETURN_NONE;
    }
    unsigned char sketch[BINS];
    if ((kept > UNBROKEN * words ? sketch_of_pairs(to, kept, sketch) : sketch_of_words(data, length, words, sketch)) < 0) {
        Py_DECREF(plain);
        return NULL;
    }
    if (_PyBytes_Resize(&plain, kept) < 0)
        return NULL;
    return Py_BuildValue("(Ny#)", plain, sketch, (Py_ssize_t)BINS);
}

/* Sketches */

static const double ALIKE = 0.9 / (2 - 0.9);
static const uint64_t LOW = 0x7F7F7F7F7F7F7F7Full, ONES = 0x0101010101010101ull;
enum { LEAST = 24, DIFFERING = 23, STRIDE = 8, PART = 32 };

/* Each byte of eight that is not 0, as 1. */
static uint64_t filled(uint64_t bytes)
{
    return (((bytes & LOW) + LOW) | bytes) >> 7 & ONES;
}

static uint64_t eight(const char *at)
{
    uint64_t out;
    memcpy(&out, at, sizeof out);
    return out;
}

/* What `are_near` says; most are told apart by the first of their bins. */
static int are_near(const char *one, const char *other)
{
    unsigned differing = 0, either = 0;
    for (int start = 0; start < BINS; start += PART) {
        uint64_t unlike = 0, both = 0;
        for (int at = start; at < start + PART; at += STRIDE) {
            uint64_t a = eight(one + at), b = eight(other + at);
            unlike += filled(a ^ b);
            both += filled(a | b);
        }
        differing += (unsigned)(unlike * ONES >> 56);
        either += (unsigned)(both * ONES >> 56);
        if (differing > DIFFERING)
            return 0;
    }
    return either >= LEAST && either - differing >= ALIKE * either;
}

/* The sketch in some bytes; none where they are not as many. */
static const char *sketch_in(PyObject *bytes)
{
    return PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == BINS ? PyBytes_AS_STRING(bytes) : NULL;
}

static PyObject *first_near(PyObject *self, PyObject *arguments)
{
    PyObject *one, *others;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyBytes_Type, &one, &PyList_Type, &others))
        return NULL;
    const char *own = sketch_in(one);
    for (Py_ssize_t at = 0; own && at < PyList_GET_SIZE(others); at++) {
        const char *other = sketch_in(PyList_GET_ITEM(others, at));
        if (other && are_near(own, other))
            return PyLong_FromSsize_t(at);
    }
    Py_RETURN_NONE;
}

static int are_equal(PyObject *one, PyObject *other)
{
    Py_ssize_t size = PyBytes_GET_SIZE(one);
    return size && size == PyBytes_GET_SIZE(other) && !memcmp(PyBytes_AS_STRING(one), PyBytes_AS_STRING(other), size);
}

static PyObject *standing(PyObject *self, PyObject *arguments)
{
    PyObject *same, *like;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &same, &PyList_Type, &like))
        return NULL;
    Py_ssize_t size = PyList_GET_SIZE(same), count = 0;
    for (Py_ssize_t at = 0; at < size; at++) {
        if (PyList_GET_SIZE(like) != size || !PyBytes_Check(PyList_GET_ITEM(same, at))) {
            PyErr_SetString(PyExc_TypeError, "each text has two marks");
            return NULL;
        }
    }
    Py_ssize_t *kept = PyMem_New(Py_ssize_t, size + 1);
    PyObject *out = kept ? PyList_New(size) : PyErr_NoMemory();
    for (Py_ssize_t at = 0; out && at < size; at++) {
        const char *own = sketch_in(PyList_GET_ITEM(like, at)), *other;
        int stands = 1;
        for (Py_ssize_t i = 0; stands && i < count; i++) {
            stands = !are_equal(PyList_GET_ITEM(same, at), PyList_GET_ITEM(same, kept[i]));
            if (stands && own && (other = sketch_in(PyList_GET_ITEM(like, kept[i]))))
                stands = !are_near(own, other);
        }
        if (stands)
            kept[count++] = at;
        PyList_SET_ITEM(out, at, PyBool_FromLong(stands));
    }
    PyMem_Free(kept);
    return out;
}

static PyMethodDef methods[] = {
    {"first_near", first_near, METH_VARARGS, "The place of the first of other sketches that one is near to; None where it is near none."},
    {"standing", standing, METH_VARARGS, "For each text, by its hash and its sketch, whether none that stands before it is the same or nearly."},
    {"sketched", sketched, METH_O, "The text without white space, and its sketch; None where its words have no spaces between them."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_copies", "What `copies` does for each word.", -1, methods};

PyMODINIT_FUNC PyInit__copies(void)
{
    fill_crc_table();
    /* Python's own secret, as its sets of words have it. */
    PyObject *words[2] = {PyUnicode_FromString("seed of copies"), PyUnicode_FromString("factor of copies")};
    if (words[0] && words[1])
        secret = (Secret){(uint64_t)PyObject_Hash(words[0]), (uint64_t)PyObject_Hash(words[1]) | 1};
    Py_XDECREF(words[0]);
    Py_XDECREF(words[1]);
    if (PyErr_Occurred())
        return NULL;
    return PyModule_Create(&module);
}
