/* What `view` does for each character of a text beyond ASCII: tell which there are, replace some, write all in lower case.

   In: a text.  Out: another, character by character, or places in it.
   Always: the answer is that of `view.py`, which does the same where this could not be compiled. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { ASCII = 0x80, LATIN = 0x100, BASIC = 0x10000, ALL = 0x110000, DOTTED_I = 0x130, SIGMA = 0x3A3, SCRIPTS = 0x600 };

static unsigned char low_latin[LATIN];

/* `kind` is told apart once for each walk, so that the compiler makes three of it. */
#define FOR_ITS_KIND(string, walk, ...)                                                                  \
    (PyUnicode_KIND(string) == PyUnicode_1BYTE_KIND   ? walk(PyUnicode_1BYTE_KIND, __VA_ARGS__)          \
     : PyUnicode_KIND(string) == PyUnicode_2BYTE_KIND ? walk(PyUnicode_2BYTE_KIND, __VA_ARGS__)          \
                                                      : walk(PyUnicode_4BYTE_KIND, __VA_ARGS__))

/* Put each character beyond ASCII into `out` once; how many there are. `met` has a bit for each character. */
ALWAYS_INLINE Py_ssize_t collect(int kind, PyObject *string, uint64_t *met, Py_UCS4 *out)
{
    const void *data = PyUnicode_DATA(string);
    Py_ssize_t count = 0, length = PyUnicode_GET_LENGTH(string);
    for (Py_ssize_t i = 0; i < length; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c < ASCII || met[c >> 6] >> (c & 63) & 1)
            continue;
        met[c >> 6] |= (uint64_t)1 << (c & 63);
        out[count++] = c;
    }
    return count;
}

static PyObject *others(PyObject *self, PyObject *string)
{
    if (!PyUnicode_Check(string)) {
        PyErr_SetString(PyExc_TypeError, "a text is looked at");
        return NULL;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(string);
    size_t characters = PyUnicode_KIND(string) == PyUnicode_1BYTE_KIND ? LATIN : PyUnicode_KIND(string) == PyUnicode_2BYTE_KIND ? BASIC : ALL;
    uint64_t *met = PyMem_Calloc(characters / 64, sizeof(uint64_t));
    Py_UCS4 *out = PyMem_Malloc(((size_t)length < characters ? (size_t)length + 1 : characters) * sizeof(Py_UCS4));
    PyObject *found = NULL;
    if (met && out)
        found = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, out, FOR_ITS_KIND(string, collect, string, met, out));
    else
        PyErr_NoMemory();
    PyMem_Free(met);
    PyMem_Free(out);
    return found;
}

/* A text of as many characters as another, with room for those of the same kind. */
static PyObject *like(PyObject *string)
{
    return PyUnicode_New(PyUnicode_GET_LENGTH(string), PyUnicode_MAX_CHAR_VALUE(string));
}

/* The text itself, or, where its greatest character asks for less room than it has, one that takes no more. Takes over the reference. */
static PyObject *fitted(PyObject *made, Py_UCS4 greatest)
{
    Py_UCS4 room = PyUnicode_MAX_CHAR_VALUE(made);
    int fits = room < ASCII || (room < LATIN && greatest >= ASCII) || (room >= LATIN && room < BASIC && greatest >= LATIN) || greatest >= BASIC;
    if (fits)
        return made;
    PyObject *small = PyUnicode_FromKindAndData(PyUnicode_KIND(made), PyUnicode_DATA(made), PyUnicode_GET_LENGTH(made));
    Py_DECREF(made);
    return small;
}

/* Write a text in lower case; its greatest character, or 0 for one with a letter whose lower case depends on what stands beside it. */
ALWAYS_INLINE Py_UCS4 lower(int kind, PyObject *string, PyObject *made)
{
    const void *data = PyUnicode_DATA(string);
    void *to = PyUnicode_DATA(made);
    Py_ssize_t length = PyUnicode_GET_LENGTH(string);
    Py_UCS4 greatest = 1;
    for (Py_ssize_t i = 0; i < length; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c < LATIN)
            c = low_latin[c];
        else if (c == SIGMA)
            return 0;
        else if (c != DOTTED_I) /* which would be two characters */
            c = Py_UNICODE_TOLOWER(c);
        greatest = c > greatest ? c : greatest;
        PyUnicode_WRITE(kind, to, i, c);
    }
    return greatest;
}

static PyObject *lowered(PyObject *self, PyObject *string)
{
    if (!PyUnicode_Check(string)) {
        PyErr_SetString(PyExc_TypeError, "a text is written in lower case");
        return NULL;
    }
    PyObject *made = like(string);
    if (!made || !PyUnicode_GET_LENGTH(string))
        return made;
    Py_UCS4 greatest = FOR_ITS_KIND(string, lower, string, made);
    if (!greatest) {
        Py_DECREF(made);
        Py_RETURN_NONE;
    }
    return fitted(made, greatest);
}

/* Where a character stands among others, in their order; -1 where it does not. */
static Py_ssize_t place_of(Py_UCS4 c, PyObject *others)
{
    Py_ssize_t low = 0, high = PyUnicode_GET_LENGTH(others);
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        Py_UCS4 one = PyUnicode_READ_CHAR(others, middle);
        if (one == c)
            return middle;
        *(one < c ? &low : &high) = one < c ? middle + 1 : middle;
    }
    return -1;
}

enum { SLOTS = 4096 };

/* Replace characters; the greatest one of what comes out. `may` has a byte for those of each slot that may be among them. */
ALWAYS_INLINE Py_UCS4 replace(int kind, PyObject *string, PyObject *made, PyObject *old, PyObject *new, const char *may)
{
    const void *data = PyUnicode_DATA(string);
    void *to = PyUnicode_DATA(made);
    Py_ssize_t length = PyUnicode_GET_LENGTH(string);
    Py_UCS4 greatest = 1;
    for (Py_ssize_t i = 0; i < length; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        Py_ssize_t place = c >= ASCII && may[c % SLOTS] ? place_of(c, old) : -1;
        if (place >= 0)
            c = PyUnicode_READ_CHAR(new, place);
        greatest = c > greatest ? c : greatest;
        PyUnicode_WRITE(kind, to, i, c);
    }
    return greatest;
}

static PyObject *replaced(PyObject *self, PyObject *args)
{
    PyObject *string, *old, *new;
    if (!PyArg_ParseTuple(args, "UUU", &string, &old, &new))
        return NULL;
    if (PyUnicode_GET_LENGTH(old) != PyUnicode_GET_LENGTH(new) || PyUnicode_MAX_CHAR_VALUE(new) >= ASCII) {
        PyErr_SetString(PyExc_ValueError, "each character is replaced by one of ASCII");
        return NULL;
    }
    PyObject *made = like(string);
    if (!made || !PyUnicode_GET_LENGTH(string))
        return made;
    char may[SLOTS] = {0};
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(old); i++)
        may[PyUnicode_READ_CHAR(old, i) % SLOTS] = 1;
    return fitted(made, FOR_ITS_KIND(string, replace, string, made, old, new, may));
}

enum { LATIN_LETTER = 1, ALIKE = 2 };

/* Keep where letters stand together that are Latin and others. */
ALWAYS_INLINE int keep_mixed(int kind, PyObject *string, const unsigned char *letters, PyObject *found)
{
    const void *data = PyUnicode_DATA(string);
    Py_ssize_t length = PyUnicode_GET_LENGTH(string), start = 0;
    int held = 0; /* by the letters from `start` on */
    for (Py_ssize_t i = 0; i <= length; i++) {
        Py_UCS4 c = i < length ? PyUnicode_READ(kind, data, i) : 0;
        int now = c < SCRIPTS ? letters[c] : 0;
        if (now) {
            start = held ? start : i;
            held |= now;
            continue;
        }
        if (held == (LATIN_LETTER | ALIKE)) {
            PyObject *place = Py_BuildValue("nn", start, i);
            int failed = !place || PyList_Append(found, place) < 0;
            Py_XDECREF(place);
            if (failed)
                return -1;
        }
        held = 0;
    }
    return 0;
}

static PyObject *mixed(PyObject *self, PyObject *args)
{
    PyObject *string, *alike;
    if (!PyArg_ParseTuple(args, "UU", &string, &alike))
        return NULL;
    unsigned char letters[SCRIPTS] = {0};
    for (int c = 0; c < 26; c++)
        letters['a' + c] = letters['A' + c] = LATIN_LETTER;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(alike); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(alike, i);
        if (c < ASCII || c >= SCRIPTS) {
            PyErr_SetString(PyExc_ValueError, "only letters of Greek, Cyrillic and the like are drawn like Latin ones");
            return NULL;
        }
        letters[c] = ALIKE;
    }
    PyObject *found = PyList_New(0);
    if (found && FOR_ITS_KIND(string, keep_mixed, string, letters, found) < 0)
        Py_CLEAR(found);
    return found;
}

static PyMethodDef methods[] = {
    {"others", others, METH_O, "The characters of a text beyond ASCII, each once."},
    {"lowered", lowered, METH_O, "A text in lower case, character by character; None where a letter depends on what stands beside it."},
    {"replaced", replaced, METH_VARARGS, "A text with some characters replaced; those in the order of their numbers, and what each becomes."},
    {"mixed", mixed, METH_VARARGS, "Where Latin letters and some others stand together."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_view", "What `view` does for each character.", -1, methods};

PyMODINIT_FUNC PyInit__view(void)
{
    for (Py_UCS4 c = 0; c < LATIN; c++)
        low_latin[c] = (unsigned char)Py_UNICODE_TOLOWER(c);
    return PyModule_Create(&module);
}
