/* What `copies` does for each word of a text: tell different words, number them, and keep the least of each bin; and for each bin of two sketches.

   In: the pieces of a text; or sketches.  Out: the text's bytes in lower case without white space, and its sketch; None where it has no words;
       or which sketches are near others.
   Always: the answer is that of `copies.py`, which does the same where this could not be compiled. What is no sketch is near nothing. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "_hash.h"

enum { BINS = 128, ENOUGH = 8, UNBROKEN = 16, SPACE = 0xFF };

/* A word: where it stands in the text without white space, its length, which is never 0, and a hash of it. */
typedef struct {
    uint32_t start, length, hash;
} Word;

typedef struct {
    Word *slots;
    size_t mask, count;
} Words;

static const uint64_t SPREAD = 0x9E3779B1; /* the low forty bits of a product are those of Python */
static uint32_t crc_table[256];
static unsigned char small[256]; /* a byte in lower case, as `bytes.lower` has it; SPACE, which no text in UTF-8 has, for white space */
static Secret secret;

static void fill_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        small[byte] = (unsigned char)(byte >= 'A' && byte <= 'Z' ? byte + 'a' - 'A' : byte);
        if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
            small[byte] = SPACE;
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

static int grow_words(Words *words)
{
    size_t mask = words->slots ? words->mask << 1 | 1 : 255;
    Word *slots = PyMem_Calloc(mask + 1, sizeof *slots);
    if (!slots) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t old = 0; words->slots && old <= words->mask; old++) {
        size_t slot = words->slots[old].hash & mask;
        while (slots[slot].length)
            slot = (slot + 1) & mask;
        if (words->slots[old].length)
            slots[slot] = words->slots[old];
    }
    PyMem_Free(words->slots);
    words->slots = slots;
    words->mask = mask;
    return 0;
}

/* Add a word of the text without white space, unless it is there. */
static inline int add_word(Words *words, const unsigned char *plain, size_t start, size_t length)
{
    if ((!words->slots || words->count > words->mask / 2) && grow_words(words) < 0)
        return -1;
    Word word = {(uint32_t)start, (uint32_t)length, (uint32_t)(hash_of(secret, plain + start, length) >> 16)};
    size_t slot = word.hash & words->mask;
    for (; words->slots[slot].length; slot = (slot + 1) & words->mask) {
        const Word *known = words->slots + slot;
        if (known->hash == word.hash && known->length == word.length && is_equal(plain + known->start, plain + start, length))
            return 0;
    }
    words->slots[slot] = word;
    words->count++;
    return 0;
}

/* Write a piece behind what was kept of a text, in lower case and without its white space, and put its different words into `words`; how many words
   it has, or -1. */
static Py_ssize_t read_words(const unsigned char *data, Py_ssize_t length, unsigned char *plain, Py_ssize_t *kept, Words *words)
{
    unsigned char *to = plain + *kept, c;
    Py_ssize_t count = 0;
    for (const unsigned char *at = data, *stop = data + length; at < stop;) {
        unsigned char *start = to;
        for (; at < stop && (c = small[*at]) != SPACE; at++)
            *to++ = c;
        if (to > start) {
            count++;
            if (add_word(words, plain, (size_t)(start - plain), (size_t)(to - start)) < 0)
                return -1;
        }
        while (at < stop && small[*at] == SPACE)
            at++;
    }
    *kept = to - plain;
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

static void sketch_of_words(const unsigned char *plain, const Words *words, unsigned char *sketch)
{
    Bins bins;
    begin_bins(&bins, (Py_ssize_t)words->count);
    for (size_t slot = 0; slot <= words->mask; slot++)
        if (words->slots[slot].length)
            put_number(&bins, crc32_of(plain + words->slots[slot].start, words->slots[slot].length));
    end_bins(&bins, sketch);
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

/* How many bytes the pieces of a text have; -1 where one is no text, or cannot be written. */
static Py_ssize_t length_of(PyObject *pieces)
{
    Py_ssize_t all = 0, length;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(pieces); at++) {
        if (!PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(pieces, at), &length))
            return -1;
        all += length;
    }
    return all;
}

static Py_ssize_t read_pieces(PyObject *pieces, unsigned char *plain, Py_ssize_t *kept, Words *words)
{
    Py_ssize_t all = 0, length;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(pieces); at++) {
        const char *data = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(pieces, at), &length);
        Py_ssize_t count = data ? read_words((const unsigned char *)data, length, plain, kept, words) : -1;
        if (count < 0)
            return -1;
        all += count;
    }
    return all;
}

static PyObject *sketched(PyObject *self, PyObject *pieces)
{
    Py_ssize_t kept = 0;
    if (!PyList_Check(pieces))
        return PyErr_Format(PyExc_TypeError, "a list of texts is needed");
    Py_ssize_t length = length_of(pieces);
    if (length < 0)
        return NULL;
    /* Places of words would not fit their fields: no text that is indexed is as long. */
    if (length > UINT32_MAX)
        Py_RETURN_NONE;
    PyObject *plain = PyBytes_FromStringAndSize(NULL, length);
    if (!plain)
        return NULL;
    unsigned char *to = (unsigned char *)PyBytes_AS_STRING(plain), sketch[BINS];
    Words words = {0};
    Py_ssize_t count = read_pieces(pieces, to, &kept, &words);
    int told = count < 0 ? -1 : 0;
    if (count > 0 && kept > UNBROKEN * count)
        told = sketch_of_pairs((const char *)to, kept, sketch);
    else if (count > 0)
        sketch_of_words(to, &words, sketch);
    PyMem_Free(words.slots);
    if (told < 0 || count == 0) {
        Py_DECREF(plain);
        return told < 0 ? NULL : Py_NewRef(Py_None);
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

/* How many of so many bytes differ; the loop is one that compilers do several bytes at a time. */
static inline unsigned unlike(const char *one, const char *other)
{
    unsigned char sum = 0;
    for (int at = 0; at < PART; at++)
        sum += (unsigned char)(one[at] != other[at]);
    return sum;
}

/* Whether nine tenths of two texts agree, by their sketches; most are told apart by the first of their bins. */
static inline int are_near(const char *one, const char *other)
{
    unsigned differing = 0, either = 0;
    for (int start = 0; start < BINS; start += PART) {
        differing += unlike(one + start, other + start);
        if (differing > DIFFERING)
            return 0;
    }
    for (int at = 0; at < BINS; at += STRIDE)
        either += (unsigned)(filled(eight(one + at) | eight(other + at)) * ONES >> 56);
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

static inline int are_equal(PyObject *one, PyObject *other)
{
    Py_ssize_t size = PyBytes_GET_SIZE(one);
    const char *a = PyBytes_AS_STRING(one), *b = PyBytes_AS_STRING(other);
    return size && size == PyBytes_GET_SIZE(other) && *a == *b && !memcmp(a, b, size); /* most hashes differ in their first byte */
}

/* What tells copies of a text; `like` is none where it has no sketch. */
typedef struct {
    PyObject *same;
    const char *like;
} Marks;

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
    Marks *kept = PyMem_New(Marks, size + 1);
    PyObject *out = kept ? PyList_New(size) : PyErr_NoMemory();
    for (Py_ssize_t at = 0; out && at < size; at++) {
        Marks own = {PyList_GET_ITEM(same, at), sketch_in(PyList_GET_ITEM(like, at))};
        int stands = 1;
        for (const Marks *other = kept, *end = kept + count; stands && other < end; other++)
            stands = !are_equal(own.same, other->same) && !(own.like && other->like && are_near(own.like, other->like));
        if (stands)
            kept[count++] = own;
        PyList_SET_ITEM(out, at, PyBool_FromLong(stands));
    }
    PyMem_Free(kept);
    return out;
}

/* A sketch with its empty bins; what is not without them is returned as it is. */
static PyObject *dense(PyObject *self, PyObject *kept)
{
    if (!PyBytes_Check(kept)) {
        PyErr_SetString(PyExc_TypeError, "bytes are wanted");
        return NULL;
    }
    const unsigned char *map = (const unsigned char *)PyBytes_AS_STRING(kept), *from = map + BINS / 8;
    Py_ssize_t filled = PyBytes_GET_SIZE(kept) - BINS / 8;
    unsigned char out[BINS] = {0};
    for (int byte = 0; byte < BINS / 8; byte++)
        for (unsigned bits = map[byte]; bits && --filled >= 0; bits &= bits - 1)
            out[8 * byte + __builtin_ctz(bits)] = *from++;
    return filled ? Py_NewRef(kept) : PyBytes_FromStringAndSize((const char *)out, BINS); /* there are as many bytes as bits */
}

static PyMethodDef methods[] = {
    {"dense", dense, METH_O, "A sketch that was stored without its empty bins."},
    {"first_near", first_near, METH_VARARGS, "The place of the first of other sketches that one is near to; None where it is near none."},
    {"standing", standing, METH_VARARGS, "For each text, by its hash and its sketch, whether none that stands before it is the same or nearly."},
    {"sketched", sketched, METH_O, "The bytes of a text in pieces without white space, and its sketch; None where it has no words."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_copies", "What `copies` does for each word.", -1, methods};

PyMODINIT_FUNC PyInit__copies(void)
{
    fill_tables();
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
