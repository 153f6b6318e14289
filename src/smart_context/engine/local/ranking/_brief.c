/* What `brief` does for each code of a segment: write its number, and read it.

   In: segments, or the files of `packed` and numbers of segments; and the table of numbered words, three bytes each.  Out: the segments in fewer bytes, or as
       they were.
   Always: the answer is that of `brief.py`, and of `packed.py`, which do the same where this could not be compiled; what is not what it should be raises ValueError,
   and nothing is read or written beyond the lengths that were checked. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 10, WIDTH = 3, SHORT = 2, ONE = 128, BARE = 255, MOST = ONE + (BARE - ONE) * 256 };
enum { PLACE = 8, LENGTH = 24 }; /* bytes of where a segment lies, and bits of these that are its length */
enum { SAMPLE = 1 << 18, OFTEN = 2, SHARE = 4, LEAST = 256 };
enum { OF_A_TABLE = 17, OF_A_SAMPLE = 19 }; /* bits of the number of a slot: at least half of all are empty */

typedef struct {
    uint32_t word, number; /* the number is one more than it is, or how often a word was met: 0 where nothing is */
} Slot;

typedef struct {
    Slot *all;
    int bits;
} Slots;

typedef struct {
    const unsigned char *data;
    Py_ssize_t length, count, rest; /* all its bytes; how many codes it has, and how many bytes after them */
} Segment;

static uint64_t secret; /* odd; nobody who writes a text knows it: they cannot choose words whose codes fall together */

static uint32_t word_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* The slot of a word, or the empty one that it may have. */
static Slot *slot_of(const Slots *slots, uint32_t word)
{
    size_t at = (size_t)(word * secret >> (64 - slots->bits));
    while (slots->all[at].number && slots->all[at].word != word)
        at = (at + 1) & (((size_t)1 << slots->bits) - 1);
    return slots->all + at;
}

/* Read the header of a segment; 0 where it is too short to have one. */
static int begin(const unsigned char *data, Py_ssize_t length, Segment *segment)
{
    segment->data = data;
    segment->length = length;
    if (length < HEADER)
        return 0;
    segment->count = 0;
    for (int field = 1; field < 4; field++)
        segment->count += data[2 * field] | data[2 * field + 1] << 8;
    segment->rest = SHORT * (data[8] | data[9] << 8);
    return 1;
}

static int begin_object(PyObject *object, Segment *segment)
{
    return PyBytes_Check(object) && begin((const unsigned char *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), segment);
}

static int begin_packed(PyObject *object, Segment *segment)
{
    if (begin_object(object, segment) && segment->length == HEADER + WIDTH * segment->count + segment->rest)
        return 1;
    PyErr_SetString(PyExc_ValueError, "not a packed segment");
    return 0;
}

static PyObject *shorten(PyObject *object, void *known)
{
    const Slots *slots = known;
    Segment segment;
    if (!begin_packed(object, &segment))
        return NULL;
    /* A code becomes four bytes at most. */
    unsigned char *made = PyMem_Malloc(HEADER + (WIDTH + 1) * (size_t)segment.count + segment.rest);
    if (!made)
        return PyErr_NoMemory();
    memcpy(made, segment.data, HEADER);
    const unsigned char *wide = segment.data + HEADER;
    unsigned char *first = made + HEADER, *more = first + segment.count;
    for (Py_ssize_t at = 0; at < segment.count; at++, wide += WIDTH) {
        uint32_t found = slot_of(slots, word_at(wide))->number, number = found - 1;
        if (!found) {
            first[at] = BARE;
            memcpy(more, wide, WIDTH);
            more += WIDTH;
        } else if (number < ONE) {
            first[at] = (unsigned char)number;
        } else {
            first[at] = (unsigned char)(ONE + (number - ONE) / 256);
            *more++ = (unsigned char)((number - ONE) % 256);
        }
    }
    memcpy(more, wide, segment.rest);
    more += segment.rest;
    PyObject *out = PyBytes_FromStringAndSize((char *)made, more - made);
    PyMem_Free(made);
    return out;
}

typedef struct {
    const unsigned char *words;
    Py_ssize_t count;
} Table;

/* Write the codes of a segment; where what follows them begins, NULL with an error where they are not as they should be. What is read may lie in a file, and
   be changed while it is: each byte is read once, and nothing beyond the end. Four bytes are copied at once: that behind a code is overwritten by what comes
   next, and nothing is behind the last byte of an object but a NUL, which it has for itself. Which kind of code comes next cannot be guessed, so that it
   is told by numbers, and not by where to go on. */
static const unsigned char *write_codes(const Segment *segment, const Table *table, unsigned char *to)
{
    const unsigned char *first = segment->data + HEADER, *more = first + segment->count;
    const unsigned char *end = segment->data + segment->length - segment->rest;
    int is_known = 1;
    for (Py_ssize_t at = 0; at < segment->count; at++, to += WIDTH) {
        unsigned byte = first[at], is_long = byte >= ONE, is_bare = byte == BARE, width = is_long + (WIDTH - 1) * is_bare;
        uint32_t next = 0, word = 0; /* four bytes each, as they stand */
        if (end - more > WIDTH)
            memcpy(&next, more, sizeof next);
        else if (end - more >= (Py_ssize_t)width)
            memcpy(&next, more, end - more);
        else {
            more = NULL;
            break;
        }
        more += width;
        Py_ssize_t number = byte + (-is_long & ((byte - ONE) * 255 + *(const unsigned char *)&next));
        number = is_bare ? 0 : number;
        if (number < table->count)
            memcpy(&word, table->words + WIDTH * number, sizeof word);
        else
            is_known &= is_bare;
        word = is_bare ? next : word;
        memcpy(to, &word, sizeof word);
    }
    if (more == end && is_known)
        return end;
    PyErr_SetString(PyExc_ValueError, more == end ? "a word has a number that is not in the table" : "not a shortened segment");
    return NULL;
}

static PyObject *restore_bytes(const unsigned char *data, Py_ssize_t length, const Table *table)
{
    Segment segment;
    if (!begin(data, length, &segment) || length < HEADER + segment.count + segment.rest) {
        PyErr_SetString(PyExc_ValueError, "not a shortened segment");
        return NULL;
    }
    PyObject *out = PyBytes_FromStringAndSize(NULL, HEADER + WIDTH * segment.count + segment.rest);
    if (!out)
        return NULL;
    unsigned char *to = (unsigned char *)PyBytes_AS_STRING(out);
    memcpy(to, data, HEADER);
    const unsigned char *rest = write_codes(&segment, table, to + HEADER);
    if (!rest) {
        Py_DECREF(out);
        return NULL;
    }
    to += HEADER + WIDTH * segment.count;
    memcpy(to, rest, segment.rest);
    to[segment.rest] = 0;
    return out;
}

static PyObject *restore(PyObject *object, void *known)
{
    if (PyBytes_Check(object))
        return restore_bytes((const unsigned char *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), known);
    PyErr_SetString(PyExc_ValueError, "not a shortened segment");
    return NULL;
}

/* Two files as they lie in memory, and the table. */
typedef struct {
    Table table;
    Py_buffer data, places;
} Files;

/* The segment of a number, restored from where it lies; an empty one for a number that is not there. */
static PyObject *restore_at(PyObject *number, void *known)
{
    static const unsigned char nothing[HEADER];
    const Files *files = known;
    int is_beyond;
    long long which = PyLong_AsLongLongAndOverflow(number, &is_beyond);
    if (which == -1 && PyErr_Occurred())
        return NULL;
    uint64_t place = 0;
    if (!is_beyond && which >= 0 && which < files->places.len / PLACE)
        for (int byte = PLACE - 1; byte >= 0; byte--)
            place = place << 8 | ((const unsigned char *)files->places.buf)[PLACE * which + byte];
    uint64_t at = place >> LENGTH, length = place & ((1u << LENGTH) - 1), size = (uint64_t)files->data.len;
    if (!length)
        return restore_bytes(nothing, HEADER, &files->table);
    at = at < size ? at : size;
    length = length < size - at ? length : size - at; /* of a file that was cut off, what is left */
    return restore_bytes((const unsigned char *)files->data.buf + at, (Py_ssize_t)length, &files->table);
}

static PyObject *each(PyObject *segments, PyObject *(*work)(PyObject *, void *), void *known)
{
    PyObject *items = PySequence_Fast(segments, "not a sequence of segments");
    PyObject *out = items ? PyList_New(PySequence_Fast_GET_SIZE(items)) : NULL;
    for (Py_ssize_t at = 0; out && at < PyList_GET_SIZE(out); at++) {
        PyObject *made = work(PySequence_Fast_GET_ITEM(items, at), known);
        if (!made) {
            Py_CLEAR(out);
            break;
        }
        PyList_SET_ITEM(out, at, made);
    }
    Py_XDECREF(items);
    return out;
}

/* Empty slots for the words of a table, or of a sample; 0 with an error where it is no table, or there is no room. */
static int empty_slots(Slots *slots, int bits, Py_ssize_t length)
{
    slots->all = NULL;
    slots->bits = bits;
    if (length > WIDTH * MOST || length % WIDTH) {
        PyErr_SetString(PyExc_ValueError, "not a table of words");
        return 0;
    }
    slots->all = PyMem_Calloc((size_t)1 << bits, sizeof(Slot));
    if (!slots->all)
        PyErr_NoMemory();
    return slots->all != NULL;
}

static PyObject *shortened(PyObject *module, PyObject *args)
{
    PyObject *segments;
    const unsigned char *words;
    Py_ssize_t length;
    Slots slots;
    if (!PyArg_ParseTuple(args, "Oy#", &segments, &words, &length) || !empty_slots(&slots, OF_A_TABLE, length))
        return NULL;
    for (uint32_t number = 1; number <= length / WIDTH; number++, words += WIDTH)
        *slot_of(&slots, word_at(words)) = (Slot){word_at(words), number};
    PyObject *out = each(segments, shorten, &slots);
    PyMem_Free(slots.all);
    return out;
}

/* Count each of so many codes of segments once; 0 with an error where something is no segment. */
static int counted(PyObject *items, const Slots *slots)
{
    Segment segment = {0};
    Py_ssize_t codes = 0, next = 0, before = 0;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(items); at++, codes += segment.count)
        if (!begin_packed(PySequence_Fast_GET_ITEM(items, at), &segment))
            return 0;
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(items); at++, before += segment.count) {
        begin_object(PySequence_Fast_GET_ITEM(items, at), &segment);
        for (; next < before + segment.count; next += codes / SAMPLE + 1) {
            uint32_t word = word_at(segment.data + HEADER + WIDTH * (next - before));
            Slot *slot = slot_of(slots, word);
            *slot = (Slot){word, slot->number + 1};
        }
    }
    return 1;
}

static int by_times(const void *left, const void *right)
{
    const Slot *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? 1 : -1;
    return a->word < b->word ? -1 : a->word > b->word;
}

/* Of words that were counted, those that stand often and are not in a table, the commonest first. */
static PyObject *common(const Slots *slots, const unsigned char *words, Py_ssize_t length)
{
    for (Py_ssize_t at = 0; at < length; at += WIDTH) {
        Slot *slot = slot_of(slots, word_at(words + at));
        slot->number = slot->number ? 1 : 0; /* kept, as others may lie behind it, and not often enough */
    }
    Py_ssize_t count = 0, room = MOST - length / WIDTH;
    for (size_t at = 0; at < (size_t)1 << slots->bits; at++)
        if (slots->all[at].number >= OFTEN)
            slots->all[count++] = slots->all[at];
    qsort(slots->all, count, sizeof(Slot), by_times);
    Py_ssize_t most = room / SHARE > LEAST ? room / SHARE : room < LEAST ? room : LEAST;
    count = count < most ? count : most;
    PyObject *out = PyBytes_FromStringAndSize(NULL, WIDTH * count);
    unsigned char *to = out ? (unsigned char *)PyBytes_AS_STRING(out) : NULL;
    for (Py_ssize_t at = 0; out && at < count; at++)
        for (int byte = 0; byte < WIDTH; byte++)
            *to++ = (unsigned char)(slots->all[at].word >> 8 * byte);
    return out;
}

static PyObject *learnt(PyObject *module, PyObject *args)
{
    PyObject *segments;
    const unsigned char *words;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "Oy#", &segments, &words, &length))
        return NULL;
    Slots slots;
    PyObject *items = PySequence_Fast(segments, "not a sequence of segments"), *out = NULL;
    if (items && empty_slots(&slots, OF_A_SAMPLE, length)) {
        out = counted(items, &slots) ? common(&slots, words, length) : NULL;
        PyMem_Free(slots.all);
    }
    Py_XDECREF(items);
    return out;
}

static PyObject *restored(PyObject *module, PyObject *args)
{
    PyObject *segments, *words;
    if (!PyArg_ParseTuple(args, "OS", &segments, &words))
        return NULL;
    Table table = {(const unsigned char *)PyBytes_AS_STRING(words), PyBytes_GET_SIZE(words) / WIDTH};
    return each(segments, restore, &table);
}

static PyObject *read_all(PyObject *module, PyObject *args)
{
    PyObject *numbers, *words;
    Files files;
    if (!PyArg_ParseTuple(args, "y*y*OS", &files.data, &files.places, &numbers, &words))
        return NULL;
    files.table = (Table){(const unsigned char *)PyBytes_AS_STRING(words), PyBytes_GET_SIZE(words) / WIDTH};
    PyObject *out = each(numbers, restore_at, &files);
    PyBuffer_Release(&files.data);
    PyBuffer_Release(&files.places);
    return out;
}

static PyMethodDef methods[] = {
    {"shortened", shortened, METH_VARARGS, "Segments in fewer bytes."},
    {"learnt", learnt, METH_VARARGS, "The words to append to a table."},
    {"restored", restored, METH_VARARGS, "Segments as they were packed."},
    {"read", read_all, METH_VARARGS, "Segments as they were packed, by their numbers."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_brief", "What `brief` does for each code.", -1, methods};

PyMODINIT_FUNC PyInit__brief(void)
{
    /* Python's own secret, as its sets of words have it. */
    PyObject *word = PyUnicode_FromString("secret of brief");
    if (!word)
        return NULL;
    secret = (uint64_t)PyObject_Hash(word) * 0x9E3779B97F4A7C15u | 1;
    Py_DECREF(word);
    return PyModule_Create(&definition);
}
